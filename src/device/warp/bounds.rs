//! What a warped layer may read of its source.

use super::{MAX_RADIUS, Warp};
use crate::device::roi::scale::{self, Visible};
use crate::geometry::Rect;
use crate::plan::{Sampled, WarpFilter, WarpMap};

/// Twice what one rounding to f32 changes at most, in parts of the number.
const ROUNDING: f64 = f32::EPSILON as f64;

/// The part of its oriented source that a warped layer's taps may read: empty if the map leaves the clip everywhere.
///
/// Never too small: the hull of where the window's corners fall, widened by what f32 may have rounded away and by
/// what the filter reaches.
pub(crate) fn taps_of(window: Rect, sampled: &Sampled, map: &WarpMap) -> Rect {
    let (clip, warp) = (sampled.clip, Warp::of(sampled, map));
    let corners = corners(window, sampled, &warp);
    let bounds = |axis| bounds(&warp, map.filter, &corners, axis);
    let [Some(columns), Some(rows)] = [bounds(0), bounds(1)] else {
        return clip;
    };
    let inside = |[low, high]: [f64; 2], edge: u32| {
        let edge = f64::from(edge);
        (low.ceil().clamp(0.0, edge) as u32, (high.floor() + 1.0).clamp(0.0, edge) as u32)
    };
    let ((left, right), (top, bottom)) = (inside(columns, clip.width), inside(rows, clip.height));
    if left >= right || top >= bottom {
        return Rect::default();
    }
    Rect::new(clip.x + left as i32, clip.y + top as i32, right - left, bottom - top)
}

/// The centres of the window's corner pixels, as the map takes them.
fn corners(window: Rect, sampled: &Sampled, warp: &Warp) -> [[f64; 2]; 4] {
    let origin = warp.origin.map(f64::from);
    let (columns, rows) = scale::visible(window, sampled);
    let ends = |visible: Visible, origin: f64| {
        let first = f64::from(visible.offset) + 0.5 - origin;
        [first, first + f64::from(visible.count) - 1.0]
    };
    let (xs, ys) = (ends(columns, origin[0]), ends(rows, origin[1]));
    [[xs[0], ys[0]], [xs[1], ys[0]], [xs[0], ys[1]], [xs[1], ys[1]]]
}

/// Least and greatest position that a tap may have along one axis; `None` where there is no bound.
///
/// A linear fractional map has its extremes at the corners of an area where its divisor keeps its sign.
fn bounds(warp: &Warp, filter: WarpFilter, corners: &[[f64; 2]; 4], axis: usize) -> Option<[f64; 2]> {
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
    let radius = match filter {
        WarpFilter::Nearest => 0.5,
        WarpFilter::Bilinear => 1.0,
        WarpFilter::Widened => (1.001 * half * slope(0).hypot(slope(1))).clamp(1.0, f64::from(MAX_RADIUS)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Orientation, Size};
    use crate::plan::{LayerSource, Method, Outside, Span};
    use crate::rng::{Draws, Rng};

    /// A warp with any map, clip and window; every other one is a perspective.
    fn any_warp(rng: &mut Rng) -> (Rect, Sampled, WarpMap) {
        let mut between = |low, high| rng.uniform_between(low, high);
        let mut map = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let reach = between(0.001, 0.1);
        map[..6].fill_with(|| between(-reach, reach));
        (map[2], map[5]) = (between(-1.5, 1.5), between(-1.5, 1.5));
        let divides = between(0.0, 1.0) < 0.5;
        if divides {
            (map[2], map[5]) = (map[2] + 1.0, map[5] + 1.0);
            (map[6], map[7]) = (between(-0.08, 0.08), between(-0.08, 0.08));
        }
        let clip =
            Rect::new(rng.below(9) as i32, rng.below(9) as i32, 1 + rng.below(300), 1 + rng.below(200));
        let scaled = Size::new(1 + rng.below(60), 1 + rng.below(60));
        let window = Rect::new(3, 4, 1 + rng.below(scaled.width), 1 + rng.below(scaled.height));
        let free = [scaled.width - window.width, scaled.height - window.height];
        let offset = free.map(|free| rng.below(free + 1) as i32);
        let filters = [WarpFilter::Nearest, WarpFilter::Bilinear, WarpFilter::Widened];
        let warp = WarpMap { map, filter: filters[rng.below(3) as usize], outside: Outside::Transparent };
        let mirror = [rng.below(2) == 1, rng.below(2) == 1];
        let sampled = Sampled {
            from: LayerSource::Image(0),
            orientation: Orientation::UPRIGHT,
            clip,
            scaled,
            offset,
            mirror,
            steps: Span::default(),
            method: Method::Warp(warp),
        };
        (window, sampled, warp)
    }

    /// First and last position along one axis that a pixel reads, taps without weight left out.
    fn read(filter: WarpFilter, place: f32, radius: f32) -> (f32, f32) {
        match filter {
            WarpFilter::Nearest => (place.round_ties_even(), place.round_ties_even()),
            WarpFilter::Bilinear => (place.floor(), place.floor() + 1.0),
            WarpFilter::Widened => ((place - radius).ceil(), (place + radius).floor()),
        }
    }

    #[test]
    fn no_tap_lies_outside_the_bounds_and_most_bounds_are_smaller_than_the_clip() {
        let (mut layers, mut taps, mut area, mut of) = (0, 0u32, 0, 0);
        for case in 0..3000 {
            let (window, sampled, map) = any_warp(&mut Rng::new(5, 0, case, 0));
            let (warp, clip) = (Warp::of(&sampled, &map), sampled.clip);
            let bounds = taps_of(window, &sampled, &map);
            assert!(clip.contains(bounds));
            let (columns, rows) = scale::visible(window, &sampled);
            let inside = |(first, last): (f32, f32), edge: u32| {
                let (first, last) = (first.max(0.0), last.min(edge as f32 - 1.0));
                (first <= last).then_some((first as i32, last as i32))
            };
            for (row, column) in
                (0..rows.count).flat_map(|row| (0..columns.count).map(move |column| (row, column)))
            {
                let (column, row) = (columns.shown(column as usize) as f32, rows.shown(row as usize) as f32);
                let ([x, y], [across, down]) = (warp.place(column, row), warp.radius(column, row));
                let xs = inside(read(map.filter, x, across), clip.width);
                let ys = inside(read(map.filter, y, down), clip.height);
                if let (Some((left, right)), Some((top, bottom))) = (xs, ys) {
                    let (width, height) = ((right - left + 1) as u32, (bottom - top + 1) as u32);
                    let tap = Rect::new(clip.x + left, clip.y + top, width, height);
                    assert!(bounds.contains(tap), "case {case}: {tap:?} outside {bounds:?} of {sampled:?}");
                    taps += 1;
                }
            }
            layers += u32::from(bounds != clip);
            (area, of) = (area + bounds.size().pixels(), of + clip.size().pixels());
        }
        assert!(taps > 200_000 && layers > 1500, "{taps} pixels of {layers} layers");
        assert!(area * 3 < of * 2, "{area} of {of} source pixels");
    }
}
