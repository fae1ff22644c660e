//! RandomBrightnessContrast: a factor and an offset for all levels.

use super::Limit;
use super::prelude::*;

/// Multiplies all levels by a random factor and adds a random number, with probability `p` (Albumentations'
/// `RandomBrightnessContrast`).
///
/// The number is a fraction of 255, as with `brightness_by_max`, which is on there by default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomBrightnessContrast {
    /// What is added, as a fraction of 255: one number for both directions, or `[min, max]`; from 0 to 1 as one number.
    pub brightness_limit: Limit,
    /// What the factor differs from 1 by: one number for both directions, or `[min, max]`; from 0 to 1 as one number.
    pub contrast_limit: Limit,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for RandomBrightnessContrast {
    fn default() -> Self {
        Self::new([-0.2, 0.2], [-0.2, 0.2])
    }
}

impl RandomBrightnessContrast {
    /// Changes by at most these fractions.
    pub fn new(brightness_limit: impl Into<Limit>, contrast_limit: impl Into<Limit>) -> Self {
        Self {
            brightness_limit: brightness_limit.into(),
            contrast_limit: contrast_limit.into(),
            p: check::half(),
        }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }

    /// The factor, and then what is added in levels.
    pub fn make_params(&self, rng: &mut dyn Draws) -> [f64; 2] {
        let contrast = self.contrast_limit.draw(rng);
        [1.0 + contrast, self.brightness_limit.draw(rng) * 255.0]
    }
}

by_own_chance! {
    RandomBrightnessContrast,
    check: |this, name| {
        this.brightness_limit.check(name, "brightness_limit", -1.0, 1.0)?;
        this.contrast_limit.check(name, "contrast_limit", -1.0, 1.0)
    },
    plan: |this, draft, rng| {
        let [alpha, beta] = this.make_params(rng);
        draft.apply(Op::BrightnessContrast { alpha, beta });
    },
}
