//! MotionBlur: the mean of the pixels along a line.

use super::limit::between;
use super::prelude::*;
use super::window_range::WindowRange;
use crate::plan::MAX_WINDOW;

/// Blurs along a line of random length and direction, with probability `p` (Albumentations' `MotionBlur`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MotionBlur {
    /// Edge of the window that holds the line: odd numbers up to this one, or `[min, max]`; from 3 to 31.
    pub blur_limit: WindowRange,
    /// Whether the line may lie beside the middle of its window.
    pub allow_shifted: bool,
    /// Minimum and maximum direction of the line in degrees, from 0 to 360.
    pub angle_range: [f64; 2],
    /// Minimum and maximum of how far it is on one side: 0 is both, -1 and 1 are one alone; from -1 to 1.
    pub direction_range: [f64; 2],
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for MotionBlur {
    fn default() -> Self {
        Self::new([3, 7])
    }
}

impl MotionBlur {
    /// Draws the edge of the window from these odd numbers.
    pub fn new(blur_limit: impl Into<WindowRange>) -> Self {
        Self {
            blur_limit: blur_limit.into(),
            allow_shifted: true,
            angle_range: [0.0, 360.0],
            direction_range: [-1.0, 1.0],
            p: check::half(),
        }
    }

    setters! {
        /// Sets whether the line may lie beside the middle.
        allow_shifted: bool;
        /// Sets the minimum and maximum direction in degrees.
        angle_range: [f64; 2];
        /// Sets the minimum and maximum of how far the line is on one side.
        direction_range: [f64; 2];
        /// Sets the probability of a change.
        p: f32;
    }

    /// The kernel, row by row: the edge, the angle, the side and, where it may be, the shift along x and y are drawn.
    pub fn make_params(&self, rng: &mut dyn Draws) -> Vec<Vec<f64>> {
        let edge = self.blur_limit.draw(rng) as usize;
        let angle = between(self.angle_range, rng);
        let side = between(self.direction_range, rng);
        let reach = (edge / 2) as f64;
        let shift = match self.allow_shifted {
            true => [0; 2].map(|_| between([-1.0, 1.0], rng) * reach / 2.0),
            false => [0.0; 2],
        };
        line(edge, angle, side, shift)
    }
}

/// As many points as the window has columns, from end to end of the line, each rounded to a pixel of the window; all pixels
/// that are met weigh the same.
fn line(edge: usize, angle: f64, side: f64, shift: [f64; 2]) -> Vec<Vec<f64>> {
    let reach = (edge / 2) as f64;
    let start = if side > 0.0 { -reach * (1.0 - side) } else { -reach };
    let end = if side < 0.0 { reach * (1.0 + side) } else { reach };
    let (sin, cos) = angle.to_radians().sin_cos();
    let mut met = vec![vec![false; edge]; edge];
    for at in 0..edge {
        let t = start + at as f64 * ((end - start) / (edge - 1) as f64);
        let t = if at + 1 == edge { end } else { t };
        let place = |along: f64, shift: f64| {
            (reach + along * t + shift).round_ties_even().clamp(0.0, (edge - 1) as f64) as usize
        };
        met[place(sin, shift[1])][place(cos, shift[0])] = true;
    }
    let count = met.iter().flatten().filter(|met| **met).count();
    let weight = |met: bool| if met { f64::from(1.0 / count as f32) } else { 0.0 };
    met.into_iter().map(|row| row.into_iter().map(weight).collect()).collect()
}

by_own_chance! {
    MotionBlur,
    check: |this, name| {
        this.blur_limit.check(name, MAX_WINDOW)?;
        check::range(name, "angle_range", this.angle_range, 0.0, 360.0)?;
        check::range(name, "direction_range", this.direction_range, -1.0, 1.0)
    },
    plan: |this, draft, rng| draft.apply(Op::Convolve { kernel: this.make_params(rng) }),
}
