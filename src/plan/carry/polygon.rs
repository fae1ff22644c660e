//! Polygons cut to rectangles, by Sutherland and Hodgman: one edge of the rectangle after the other.

use super::edges;
use crate::geometry::Rect;

/// Keeps the part inside `rect`; false where there is none that has an area.
///
/// Parts that hang together only outside stay joined along the rectangle's edge, which changes no area.
pub(super) fn clip(polygon: &mut Vec<[f64; 2]>, rect: Rect) -> bool {
    let (low, high) = edges(rect);
    let mut is_cut = false;
    for axis in 0..2 {
        for (limit, side) in [(low[axis], 1.0), (high[axis], -1.0)] {
            // How far a point is on the right side of the edge.
            let depth = |point: &[f64; 2]| (point[axis] - limit) * side;
            if polygon.iter().all(|point| depth(point) >= 0.0) {
                continue;
            }
            *polygon = cut(polygon, axis, limit, depth);
            is_cut = true;
        }
    }
    !is_cut || area(polygon) > 0.0
}

fn cut(polygon: &[[f64; 2]], axis: usize, limit: f64, depth: impl Fn(&[f64; 2]) -> f64) -> Vec<[f64; 2]> {
    let mut kept = Vec::with_capacity(polygon.len() + 4);
    let Some(mut last) = polygon.last() else { return kept };
    for point in polygon {
        let (from, to) = (depth(last), depth(point));
        if (from >= 0.0) != (to >= 0.0) {
            let part = from / (from - to);
            let mut crossing = [0, 1].map(|i| last[i] + (point[i] - last[i]) * part);
            // Exactly on the edge, whatever the rounding.
            crossing[axis] = limit;
            kept.push(crossing);
        }
        if to >= 0.0 {
            kept.push(*point);
        }
        last = point;
    }
    kept
}

/// By the shoelace formula, counted from the first point, so that what lies on a line has exactly none.
fn area(polygon: &[[f64; 2]]) -> f64 {
    let Some(&[x, y]) = polygon.first() else { return 0.0 };
    let cross = |pair: &[[f64; 2]]| (pair[0][0] - x) * (pair[1][1] - y) - (pair[1][0] - x) * (pair[0][1] - y);
    (polygon.windows(2).map(cross).sum::<f64>() / 2.0).abs()
}
