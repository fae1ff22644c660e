//! The turns and mirrors of a square, drawn at random.

use super::prelude::*;

/// Turns by a random number of quarters, with probability `p` (Albumentations' `RandomRotate90`).
///
/// An odd number of quarters swaps width and height: where images are not square, a crop or a resize must follow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomRotate90 {
    /// Probability of a draw, from 0 to 1; one of four turns changes nothing.
    pub p: f32,
}

/// Does one of the eight turns and mirrors of a square, with probability `p` (Albumentations' `D4`).
///
/// Half of them swap width and height: where images are not square, a crop or a resize must follow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct D4 {
    /// Probability of a draw, from 0 to 1; one of the eight changes nothing.
    pub p: f32,
}

impl Default for RandomRotate90 {
    fn default() -> Self {
        Self::new(check::one())
    }
}

impl RandomRotate90 {
    /// Works with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

impl Default for D4 {
    fn default() -> Self {
        Self::new(check::one())
    }
}

impl D4 {
    /// Works with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

/// A turn counterclockwise, with the canvas.
fn turn(draft: &mut Draft, quarters: u32) {
    if quarters > 0 {
        let (angle, interpolation) = (90.0 * f64::from(quarters), Interpolation::Nearest);
        draft.apply(Op::Rotate { angle, interpolation, expand: true, center: None, fill: None });
    }
}

by_own_chance! {
    RandomRotate90,
    check: |_this, _name| Ok(()),
    plan: |_this, draft, rng| turn(draft, rng.below(4)),
}

by_own_chance! {
    D4,
    check: |_this, _name| Ok(()),
    plan: |_this, draft, rng| match rng.below(8) {
        quarters @ 0..=3 => turn(draft, quarters),
        4 => draft.apply(Op::Vflip {}),
        // At the other diagonal.
        5 => {
            turn(draft, 2);
            draft.apply(Op::Transpose {});
        }
        6 => draft.apply(Op::Hflip {}),
        _ => draft.apply(Op::Transpose {}),
    },
}
