//! ISONoise: the noise of a camera's sensor.

use super::limit::between;
use super::prelude::*;

/// Adds the noise of a camera's sensor, with probability `p` (Albumentations' `ISONoise`): a hue that varies, and lighter
/// grains, of which there are the more, the more the image's lightness varies.
///
/// The numbers are those of a counter hash, and so the same on every device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ISONoise {
    /// Minimum and maximum standard deviation of the hue in degrees, for an intensity of 1; from 0 to 1.
    pub color_shift: [f64; 2],
    /// Minimum and maximum of how much lighter grains are, and how many there are; from 0 to 1.
    pub intensity: [f64; 2],
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for ISONoise {
    fn default() -> Self {
        Self::new([0.01, 0.05], [0.1, 0.5])
    }
}

impl ISONoise {
    /// Draws the deviation of the hue and the intensity from these ranges.
    pub fn new(color_shift: [f64; 2], intensity: [f64; 2]) -> Self {
        Self { color_shift, intensity, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    ISONoise,
    check: |this, name| {
        check::range(name, "color_shift", this.color_shift, 0.0, 1.0)?;
        check::range(name, "intensity", this.intensity, 0.0, 1.0)
    },
    plan: |this, draft, rng| {
        let color_shift = between(this.color_shift, rng);
        let intensity = between(this.intensity, rng);
        let key = [rng.bits(), rng.bits()];
        draft.apply(Op::IsoNoise { key, color_shift, intensity });
    },
}
