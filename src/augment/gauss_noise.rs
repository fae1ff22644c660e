//! GaussNoise: normal noise on every level.

use super::limit::between;
use super::prelude::*;

/// Adds normal noise to each level, with probability `p` (Albumentations' `GaussNoise`).
///
/// The numbers are those of a counter hash, and so the same on every device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct GaussNoise {
    /// Minimum and maximum standard deviation, as a fraction of 255, from 0 to 1.
    pub std_range: [f64; 2],
    /// Minimum and maximum mean, as a fraction of 255, from -1 to 1.
    pub mean_range: [f64; 2],
    /// Whether each channel gets noise of its own.
    pub per_channel: bool,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for GaussNoise {
    fn default() -> Self {
        Self::new([0.2, 0.44])
    }
}

impl GaussNoise {
    /// Draws the standard deviation, as a fraction of 255, from this range.
    pub fn new(std_range: [f64; 2]) -> Self {
        Self { std_range, mean_range: [0.0; 2], per_channel: true, p: check::half() }
    }

    setters! {
        /// Sets the minimum and maximum mean, as a fraction of 255.
        mean_range: [f64; 2];
        /// Sets whether each channel gets noise of its own.
        per_channel: bool;
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    GaussNoise,
    check: |this, name| {
        check::range(name, "std_range", this.std_range, 0.0, 1.0)?;
        check::range(name, "mean_range", this.mean_range, -1.0, 1.0)
    },
    plan: |this, draft, rng| {
        let std = between(this.std_range, rng) * 255.0;
        let mean = between(this.mean_range, rng) * 255.0;
        let key = [rng.bits(), rng.bits()];
        draft.apply(Op::GaussNoise { key, mean, std, per_channel: this.per_channel });
    },
}
