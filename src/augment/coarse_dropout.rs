//! CoarseDropout: covers random rectangles.

use super::limit::between;
use super::prelude::*;

/// Covers random rectangles with one colour, with probability `p` (Albumentations' `CoarseDropout`).
///
/// Objects below the rectangles stay as they are, and so do masks. Unlike an erase, this comes ahead of normalise, and
/// anything may follow it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CoarseDropout {
    /// Minimum and maximum number of rectangles, from 1 to 64.
    pub num_holes_range: [u32; 2],
    /// Minimum and maximum height: fractions of the image's where the maximum is below 1, else pixels; at least 0.
    pub hole_height_range: [f64; 2],
    /// Minimum and maximum width, in the unit that `hole_height_range` has; at least 0.
    pub hole_width_range: [f64; 2],
    /// Fill colour: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for CoarseDropout {
    fn default() -> Self {
        Self {
            num_holes_range: [1, 2],
            hole_height_range: [0.1, 0.2],
            hole_width_range: [0.1, 0.2],
            fill: Fill::default(),
            p: check::half(),
        }
    }
}

impl CoarseDropout {
    /// Covers from the first to the second number of rectangles.
    pub fn new(num_holes_range: [u32; 2]) -> Self {
        Self { num_holes_range, ..Self::default() }
    }

    setters! {
        /// Sets the minimum and maximum height.
        hole_height_range: [f64; 2];
        /// Sets the minimum and maximum width.
        hole_width_range: [f64; 2];
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets the probability of a change.
        p: f32;
    }

    /// The rectangles, `[left, top, right, bottom]` each: their number, then heights, widths, tops and lefts.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Vec<[u32; 4]> {
        let [fewest, most] = self.num_holes_range;
        let count = fewest + rng.below(most.saturating_sub(fewest) + 1);
        let in_pixels = self.hole_height_range[1] >= 1.0;
        let mut lengths = |range: [f64; 2], edge: u32| -> Vec<u32> {
            (0..count).map(|_| length(range, edge, in_pixels, rng)).collect()
        };
        let heights = lengths(self.hole_height_range, of.height);
        let widths = lengths(self.hole_width_range, of.width);
        let mut starts = |lengths: &[u32], edge: u32| -> Vec<u32> {
            lengths.iter().map(|length| rng.below(edge - length + 1)).collect()
        };
        let (tops, lefts) = (starts(&heights, of.height), starts(&widths, of.width));
        let corners = lefts.into_iter().zip(tops).zip(widths.into_iter().zip(heights));
        corners.map(|((left, top), (width, height))| [left, top, left + width, top + height]).collect()
    }
}

/// An edge of a rectangle in pixels, at most the image's.
fn length(range: [f64; 2], edge: u32, in_pixels: bool, rng: &mut dyn Draws) -> u32 {
    if in_pixels {
        let [low, high] = range.map(|end| end.min(f64::from(edge)) as u32);
        return low + rng.below(high - low + 1);
    }
    ((f64::from(edge) * between(range, rng)) as u32).min(edge)
}

by_own_chance! {
    CoarseDropout,
    check: |this, name| {
        let [fewest, most] = this.num_holes_range;
        check::range(name, "num_holes_range", [fewest, most].map(f64::from), 1.0, 64.0)?;
        check::range(name, "hole_height_range", this.hole_height_range, 0.0, 65_535.0)?;
        check::range(name, "hole_width_range", this.hole_width_range, 0.0, 65_535.0)
    },
    plan: |this, draft, rng| {
        let rectangles = this.make_params(draft.size(), rng);
        draft.apply(Op::FillRectangles { rectangles, fill: this.fill });
    },
}
