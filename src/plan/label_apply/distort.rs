//! Objects under distortions: points are looked up, and lines get points between their ends where they become curves.

use super::{TransformedObject, around};
use crate::plan::distortion::Lookup;

/// Most points that a line becomes.
const MOST_PARTS: f64 = 64.0;

impl TransformedObject {
    pub(super) fn distort(&mut self, lookup: &Lookup) {
        for bbox in [&mut self.bbox, &mut self.uncut] {
            let [left, top, right, bottom] = *bbox;
            let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
            *bbox = around(distorted(&corners, lookup).into_iter());
        }
        for polygon in &mut self.polygons {
            *polygon = distorted(polygon, lookup);
        }
        for [x, y, _] in &mut self.keypoints {
            [*x, *y] = lookup.moved([*x, *y]);
        }
    }
}

/// A closed outline, each of its lines in parts that stay about straight.
fn distorted(outline: &[[f64; 2]], lookup: &Lookup) -> Vec<[f64; 2]> {
    let ends = outline.iter().cycle().skip(1);
    let line = |([x, y], [to_x, to_y]): (&[f64; 2], &[f64; 2])| {
        let (x, y, across, down) = (*x, *y, to_x - x, to_y - y);
        let parts = (across.hypot(down) / lookup.straight()).ceil().clamp(1.0, MOST_PARTS) as u32;
        let part = f64::from(parts).recip();
        (0..parts).map(move |at| f64::from(at) * part).map(move |at| [x + across * at, y + down * at])
    };
    outline.iter().zip(ends).flat_map(line).map(|point| lookup.moved(point)).collect()
}
