//! What a warped layer may read of its source.

use super::{MAX_RADIUS, Warp};
use crate::device::reach;
use crate::geometry::Rect;
use crate::plan::{Layer, filter};

/// Twice what one rounding to f32 changes at most, in parts of the number.
const ROUNDING: f64 = f32::EPSILON as f64;

/// The part of its oriented source that a warped layer's taps may read: empty if the map leaves the clip everywhere.
///
/// Never too small: the hull of where the window's corners fall, widened by what f32 may have rounded away and by
/// what the filter reaches.
pub(crate) fn taps_of(layer: &Layer) -> Rect {
    let clip = layer.clip;
    let corners = corners(layer);
    let [Some(columns), Some(rows)] = [bounds(layer, &corners, 0), bounds(layer, &corners, 1)] else {
        return clip;
    };
    let inside = |[low, high]: [f64; 2], edge: u32| {
        let edge = f64::from(edge);
        (low.floor().clamp(0.0, edge) as u32, (high.ceil() + 1.0).clamp(0.0, edge) as u32)
    };
    let ((left, right), (top, bottom)) = (inside(columns, clip.width), inside(rows, clip.height));
    if left >= right || top >= bottom {
        return Rect::default();
    }
    Rect::new(clip.x + left as i32, clip.y + top as i32, right - left, bottom - top)
}

/// The centres of the window's corner pixels, as the map takes them.
fn corners(layer: &Layer) -> [[f64; 2]; 4] {
    let origin = Warp::of(layer).origin.map(f64::from);
    let (columns, rows) = reach::scales(layer);
    let ends = |scale: reach::Scale, origin: f64| {
        let first = f64::from(scale.offset) + 0.5 - origin;
        [first, first + f64::from(scale.count) - 1.0]
    };
    let (xs, ys) = (ends(columns, origin[0]), ends(rows, origin[1]));
    [[xs[0], ys[0]], [xs[1], ys[0]], [xs[0], ys[1]], [xs[1], ys[1]]]
}

/// Least and greatest position that a tap may have along one axis; `None` where there is no bound.
///
/// A linear fractional map has its extremes at the corners of an area where its divisor keeps its sign.
fn bounds(layer: &Layer, corners: &[[f64; 2]; 4], axis: usize) -> Option<[f64; 2]> {
    let warp = Warp::of(layer);
    let row = |first: usize| [0, 1, 2].map(|i| f64::from(warp.map[first + i]));
    let (above, below, half) = (row(3 * axis), row(6), f64::from(warp.half[axis]));
    let [numerators, divisors] = [above, below].map(|[a, b, c]| corners.map(|[x, y]| a * x + b * y + c));
    // Three roundings each, of terms no larger than at some corner.
    let [rounded_above, rounded_below] = [above, below].map(|[a, b, c]| {
        2.0 * ROUNDING * largest(corners.map(|[x, y]| (a * x).abs() + (b * y).abs() + c.abs()))
    });
    let smallest = divisors.iter().fold(f64::INFINITY, |least, d| least.min(d.abs())) - 2.0 * rounded_below;
    let one_sign = divisors.iter().all(|d| *d > 0.0) || divisors.iter().all(|d| *d < 0.0);
    if !one_sign || smallest <= 0.0 {
        return None;
    }
    let ratios: [f64; 4] = std::array::from_fn(|i| numerators[i] / divisors[i]);
    let furthest = largest(ratios.map(f64::abs));
    // The quotient's error, and one rounding each of the quotient, the two sums and the place.
    let error = (rounded_above + furthest * rounded_below) / smallest + 2.0 * ROUNDING * (furthest + 2.0);
    let slope = |i: usize| (above[i].abs() + furthest * below[i].abs()) / smallest;
    let radius = match layer.filter {
        filter::NEAREST => 0.5,
        filter::BILINEAR_PLAIN => 1.0,
        _ => (1.001 * half * slope(0).hypot(slope(1))).clamp(1.0, f64::from(MAX_RADIUS)),
    };
    let edge = if warp.divides { 0.0 } else { 1.0 };
    let place = |ratio: f64| (ratio + edge) * half - 0.5;
    let low = place(ratios.iter().copied().fold(f64::INFINITY, f64::min)) - half * error - radius;
    let high = place(largest(ratios)) + half * error + radius;
    (low.is_finite() && high.is_finite()).then_some([low, high])
}

fn largest(values: [f64; 4]) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max)
}
