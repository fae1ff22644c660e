//! Where the pixels of a layer with Pillow's arithmetic lie in its source: for decoding, rendering and every device.
//!
//! All of it is f64, and nothing is fused, as in Pillow's own build for x86: a kernel can give the same bits.

use crate::device::roi::scale::{self, Visible};
use crate::geometry::Rect;
use crate::plan::{PillowFilter, PillowMap, Sampled};

/// The position in the clip, in pixels from its left top corner, of a pixel of the mapped image.
#[inline(always)]
pub(crate) fn place(matrix: &[f64; 6], column: f64, row: f64) -> [f64; 2] {
    let (x, y) = (column + 0.5, row + 0.5);
    let [a, b, c, d, e, f] = matrix;
    [a * x + b * y + c, d * x + e * y + f]
}

/// The part of its oriented source that a mapped layer's taps may read: empty if the map leaves the clip everywhere.
///
/// An affine map has its extremes at the corners of the window; what is rounded away is less than the pixel that is added.
pub(crate) fn taps_of(window: Rect, sampled: &Sampled, map: &PillowMap) -> Rect {
    let (columns, rows) = scale::visible(window, sampled);
    let ends = |visible: Visible| {
        let first = f64::from(visible.offset);
        [first, first + f64::from(visible.count) - 1.0]
    };
    let (xs, ys) = (ends(columns), ends(rows));
    let corners = [0, 1, 2, 3].map(|corner| place(&map.matrix, xs[corner % 2], ys[corner / 2]));
    let reach = match map.filter {
        PillowFilter::Bilinear => 2.0,
        PillowFilter::Bicubic => 3.0,
    };
    let clip = sampled.clip;
    let part = |axis: usize, edge: u32| {
        let at = corners.map(|corner| corner[axis]);
        let low = at.iter().copied().fold(f64::INFINITY, f64::min) - reach;
        let high = at.iter().copied().fold(f64::NEG_INFINITY, f64::max) + reach;
        let edge = f64::from(edge);
        // Where there is no number all of the clip is read.
        let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, edge) };
        (low.floor().clamp(0.0, edge) as u32, high.ceil().clamp(0.0, edge) as u32)
    };
    let ((left, right), (top, bottom)) = (part(0, clip.width), part(1, clip.height));
    if left >= right || top >= bottom {
        return Rect::default();
    }
    Rect::new(clip.x + left as i32, clip.y + top as i32, right - left, bottom - top)
}
