//! Sharpen and Emboss: kernels of nine weights, laid over the image by a random share.

use super::limit::between;
use super::prelude::*;

/// Sharpens by a kernel of nine weights, with probability `p` (Albumentations' `Sharpen` with its method `kernel`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Sharpen {
    /// Minimum and maximum share of the sharpened image, from 0 to 1.
    pub alpha: [f64; 2],
    /// Minimum and maximum that the own pixel weighs beyond what its neighbours take away, from 0 to 1000.
    pub lightness: [f64; 2],
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

/// Embosses by a kernel of nine weights, with probability `p` (Albumentations' `Emboss`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Emboss {
    /// Minimum and maximum share of the embossed image, from 0 to 1.
    pub alpha: [f64; 2],
    /// Minimum and maximum strength, from 0 to 1000.
    pub strength: [f64; 2],
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for Sharpen {
    fn default() -> Self {
        Self::new([0.2, 0.5], [0.5, 1.0])
    }
}

impl Sharpen {
    /// Draws the share and the weight from these ranges.
    pub fn new(alpha: [f64; 2], lightness: [f64; 2]) -> Self {
        Self { alpha, lightness, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

impl Default for Emboss {
    fn default() -> Self {
        Self::new([0.2, 0.5], [0.2, 0.7])
    }
}

impl Emboss {
    /// Draws the share and the strength from these ranges.
    pub fn new(alpha: [f64; 2], strength: [f64; 2]) -> Self {
        Self { alpha, strength, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

/// A share of the effect and the rest of what there is, each weight with numpy's roundings to f32.
fn shared(alpha: f64, effect: [[f64; 3]; 3]) -> Vec<Vec<f64>> {
    let (share, rest) = (alpha as f32, (1.0 - alpha) as f32);
    let weight = |row: usize, column: usize| {
        let own = if (row, column) == (1, 1) { rest } else { 0.0 };
        f64::from(own + share * effect[row][column] as f32)
    };
    (0..3).map(|row| (0..3).map(|column| weight(row, column)).collect()).collect()
}

by_own_chance! {
    Sharpen,
    check: |this, name| {
        check::range(name, "alpha", this.alpha, 0.0, 1.0)?;
        check::range(name, "lightness", this.lightness, 0.0, 1000.0)
    },
    plan: |this, draft, rng| {
        let alpha = between(this.alpha, rng);
        let own = 8.0 + between(this.lightness, rng);
        let effect = [[-1.0; 3], [-1.0, own, -1.0], [-1.0; 3]];
        draft.apply(Op::Convolve { kernel: shared(alpha, effect) });
    },
}

by_own_chance! {
    Emboss,
    check: |this, name| {
        check::range(name, "alpha", this.alpha, 0.0, 1.0)?;
        check::range(name, "strength", this.strength, 0.0, 1000.0)
    },
    plan: |this, draft, rng| {
        let alpha = between(this.alpha, rng);
        let s = between(this.strength, rng);
        let effect = [[-1.0 - s, -s, 0.0], [-s, 1.0, s], [0.0, s, 1.0 + s]];
        draft.apply(Op::Convolve { kernel: shared(alpha, effect) });
    },
}
