//! MultiplicativeNoise: random factors for all levels, or for each.

use super::limit::between;
use super::prelude::*;

/// Multiplies levels by random factors, with probability `p` (Albumentations' `MultiplicativeNoise`).
///
/// The numbers are those of a counter hash, and so the same on every device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MultiplicativeNoise {
    /// Minimum and maximum factor, from 0 to 255.
    pub multiplier: [f64; 2],
    /// Whether each channel gets a factor of its own.
    pub per_channel: bool,
    /// Whether each pixel gets a factor of its own.
    pub elementwise: bool,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for MultiplicativeNoise {
    fn default() -> Self {
        Self::new([0.9, 1.1])
    }
}

impl MultiplicativeNoise {
    /// Draws factors from this range.
    pub fn new(multiplier: [f64; 2]) -> Self {
        Self { multiplier, per_channel: false, elementwise: false, p: check::half() }
    }

    setters! {
        /// Sets whether each channel gets a factor of its own.
        per_channel: bool;
        /// Sets whether each pixel gets a factor of its own.
        elementwise: bool;
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    MultiplicativeNoise,
    check: |this, name| check::range(name, "multiplier", this.multiplier, 0.0, 255.0),
    plan: |this, draft, rng| {
        let Self { multiplier, per_channel, elementwise, .. } = *this;
        draft.apply(match per_channel || elementwise {
            true => {
                let key = [rng.bits(), rng.bits()];
                Op::MultiplicativeNoise { key, multiplier, per_channel, elementwise }
            }
            // One factor for all is no noise.
            false => Op::BrightnessContrast { alpha: between(multiplier, rng), beta: 0.0 },
        });
    },
}
