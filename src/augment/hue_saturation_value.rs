//! HueSaturationValue: adds to hue, saturation and value.

use super::Limit;
use super::prelude::*;

/// Adds random numbers to hue, saturation and value, with probability `p` (Albumentations' `HueSaturationValue`).
///
/// The colours are OpenCV's uint8 HSV, whose hue counts half degrees, as of `RandomHSV`. Grey stays grey.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HueSaturationValue {
    /// Turn of the hue in half degrees: one number for both directions, or `[min, max]`; from 0 to 180 as one number.
    pub hue_shift_limit: Limit,
    /// Levels: one number for both directions, or `[min, max]`; from 0 to 255 as one number.
    pub sat_shift_limit: Limit,
    /// Levels: one number for both directions, or `[min, max]`; from 0 to 255 as one number.
    pub val_shift_limit: Limit,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for HueSaturationValue {
    fn default() -> Self {
        Self::new([-20.0, 20.0], [-30.0, 30.0], [-20.0, 20.0])
    }
}

impl HueSaturationValue {
    /// Adds at most this much to hue, saturation and value.
    pub fn new(hue: impl Into<Limit>, saturation: impl Into<Limit>, value: impl Into<Limit>) -> Self {
        Self {
            hue_shift_limit: hue.into(),
            sat_shift_limit: saturation.into(),
            val_shift_limit: value.into(),
            p: check::half(),
        }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }

    /// What is added to hue, saturation and value.
    pub fn make_params(&self, rng: &mut dyn Draws) -> [f64; 3] {
        [self.hue_shift_limit, self.sat_shift_limit, self.val_shift_limit].map(|limit| limit.draw(rng))
    }
}

by_own_chance! {
    HueSaturationValue,
    check: |this, name| {
        this.hue_shift_limit.check(name, "hue_shift_limit", -180.0, 180.0)?;
        this.sat_shift_limit.check(name, "sat_shift_limit", -255.0, 255.0)?;
        this.val_shift_limit.check(name, "val_shift_limit", -255.0, 255.0)
    },
    plan: |this, draft, rng| {
        let [hue, saturation, value] = this.make_params(rng);
        // Without a change there is no rounding either.
        if [hue, saturation, value] != [0.0; 3] {
            draft.apply(Op::ShiftHsv { hue, saturation, value });
        }
    },
}
