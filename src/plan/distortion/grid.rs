//! One axis of a grid whose cells are wider or narrower than their pixels.

use super::{MAX_CELLS, MAX_STEP};

/// The pixels of a cell; the last of `steps` is for what is left over.
fn cell(steps: &[f64], edge: u32) -> u32 {
    edge / (steps.len() as u32 - 1)
}

pub(super) fn is_sound(steps: &[f64], edge: u32) -> bool {
    (2..=MAX_CELLS + 1).contains(&steps.len())
        && steps.len() as u64 <= u64::from(edge) + 1
        && steps.iter().all(|step| (0.0..=MAX_STEP).contains(step))
}

/// The position of each pixel: evenly spaced in a cell, from its first edge to its last, with the arithmetic of numpy's
/// `linspace`. What lies behind the last cell shows its end.
pub(super) fn positions(steps: &[f64], edge: u32) -> Vec<f32> {
    let cell = cell(steps, edge);
    let mut positions = Vec::with_capacity(edge as usize);
    let mut start = 0.0;
    for step in steps {
        let end = start + f64::from(cell) * step;
        let count = cell.min(edge - positions.len() as u32);
        let between = (end - start) / f64::from(count.saturating_sub(1).max(1));
        let place = |i: u32| match i {
            0 => start,
            _ if i + 1 == count => end,
            _ => f64::from(i) * between + start,
        };
        positions.extend((0..count).map(|i| place(i) as f32));
        start = end;
    }
    positions.resize(edge as usize, start as f32);
    positions
}

/// Where what is at a place is seen afterwards, both counted from the first edge: between the pixels around it, in the middle
/// of those that show the same, and beyond the last one as far as that cell goes on.
pub(super) fn found(positions: &[f32], place: f64) -> f64 {
    let of = |at: usize| f64::from(positions[at]);
    let (target, last) = (place - 0.5, positions.len() - 1);
    let first = positions.partition_point(|&position| f64::from(position) < target);
    let behind = positions.partition_point(|&position| f64::from(position) <= target);
    let pixel = if behind > first {
        0.5 * (first + behind - 1) as f64
    } else if first == 0 {
        (target - of(0)) / slope(of(0), of(last.min(1)))
    } else if first > last {
        last as f64 + (target - of(last)) / slope(of(last.saturating_sub(1)), of(last))
    } else {
        (first - 1) as f64 + (target - of(first - 1)) / (of(first) - of(first - 1))
    };
    pixel + 0.5
}

/// How far two pixels are apart; 1 where they show the same.
fn slope(from: f64, to: f64) -> f64 {
    if to > from { to - from } else { 1.0 }
}

/// A quarter of the narrowest cell, about: cells begin where two pixels show the same.
pub(super) fn straight(positions: &[f32]) -> f64 {
    let borders = positions.windows(2).filter(|pair| pair[0] == pair[1]).count();
    (0.25 * positions.len() as f64 / (borders + 1) as f64).max(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_as_many_pixels_as_their_steps_say() {
        // numpy.linspace(0, 3, 4), then (3, 9, 4), and what is left over from 9 on.
        assert_eq!(positions(&[0.75, 1.5, 1.0], 8), [0.0, 1.0, 2.0, 3.0, 3.0, 5.0, 7.0, 9.0]);
        assert_eq!(positions(&[1.0, 1.0, 0.5], 5), [0.0, 2.0, 2.0, 4.0, 4.0]);
        // Cells of one pixel, and more left over than a cell has.
        assert_eq!(positions(&[2.0, 1.0, 1.0, 1.0], 5), [0.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(positions(&[1.0; 2], 1), [0.0]);
    }

    #[test]
    fn what_a_pixel_shows_is_found_at_that_pixel() {
        let positions = positions(&[0.4, 1.9, 0.7, 1.1, 0.6], 90);
        for (at, &position) in positions.iter().enumerate() {
            let found = found(&positions, f64::from(position) + 0.5) - 0.5;
            // Neighbours that show the same have it between them.
            assert!((found - at as f64).abs() <= 0.5 + 1e-9, "{at}: {found}");
        }
        let beyond = [-3.0, 200.0].map(|place| found(&positions, place));
        assert!(beyond[0] < 0.0 && beyond[1] > 90.0, "{beyond:?}");
    }
}
