//! Which objects stay.

use super::{TransformedObject, edges};
use crate::plan::label_ops::ObjectFilter;

/// What a box that was cut at the edge of a canvas may lie beyond it, in pixels, once the canvas was resized.
const ROUNDED: f64 = 1e-6;

impl TransformedObject {
    pub(super) fn is_kept(&self, keep: &ObjectFilter) -> bool {
        let [width, height] = lengths(self.bbox);
        match *keep {
            ObjectFilter::Sane { canvas, min_size, min_area } => {
                let ([left, top], [right, bottom]) = edges(canvas);
                let [x0, y0, x1, y1] = self.bbox;
                let inside = x0 >= left - ROUNDED
                    && y0 >= top - ROUNDED
                    && x1 <= right + ROUNDED
                    && y1 <= bottom + ROUNDED;
                inside && width >= min_size && height >= min_size && width * height >= min_area
            }
            ObjectFilter::Beside { window, part } => {
                let ([left, top], [right, bottom]) = edges(window);
                let [x0, y0, x1, y1] = self.bbox;
                let under = area_of([x0.max(left), y0.max(top), x1.min(right), y1.min(bottom)]);
                area_of(self.bbox) - under > part * area_of(self.bbox)
            }
            ObjectFilter::Centred(rect) => {
                let ([left, top], [right, bottom]) = edges(rect);
                let [x0, y0, x1, y1] = self.bbox;
                let (x, y) = (0.5 * (x0 + x1), 0.5 * (y0 + y1));
                left < x && x < right && top < y && y < bottom
            }
            ObjectFilter::Candidates { size, aspect, area, area_of_polygons, scale } => {
                let least = if self.outlined { area_of_polygons } else { area };
                let left = width * height / (area_of(self.marked) * scale * scale);
                width > size && height > size && left > least && (width / height).max(height / width) < aspect
            }
            ObjectFilter::Visible { min_area, min_visibility } => {
                let area = area_of(self.bbox);
                area > 0.0 && area >= min_area && area >= min_visibility * area_of(self.uncut)
            }
        }
    }
}

fn lengths([left, top, right, bottom]: [f64; 4]) -> [f64; 2] {
    [right - left, bottom - top]
}

/// 0 for a box that is inside out.
fn area_of(bbox: [f64; 4]) -> f64 {
    let [width, height] = lengths(bbox);
    width.max(0.0) * height.max(0.0)
}
