//! RGBShift: adds to each channel.

use super::Limit;
use super::prelude::*;

/// Adds a random whole number of levels to each channel, with probability `p` (Albumentations' `RGBShift`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RGBShift {
    /// Levels of red: one number for both directions, or `[min, max]`; from 0 to 255 as one number.
    pub r_shift_limit: Limit,
    /// Levels of green: one number for both directions, or `[min, max]`; from 0 to 255 as one number.
    pub g_shift_limit: Limit,
    /// Levels of blue: one number for both directions, or `[min, max]`; from 0 to 255 as one number.
    pub b_shift_limit: Limit,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for RGBShift {
    fn default() -> Self {
        Self::new([-20.0, 20.0], [-20.0, 20.0], [-20.0, 20.0])
    }
}

impl RGBShift {
    /// Adds at most this much to red, green and blue.
    pub fn new(red: impl Into<Limit>, green: impl Into<Limit>, blue: impl Into<Limit>) -> Self {
        let (r_shift_limit, g_shift_limit, b_shift_limit) = (red.into(), green.into(), blue.into());
        Self { r_shift_limit, g_shift_limit, b_shift_limit, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }

    fn limits(&self) -> [Limit; 3] {
        [self.r_shift_limit, self.g_shift_limit, self.b_shift_limit]
    }
}

by_own_chance! {
    RGBShift,
    check: |this, name| {
        let names = ["r_shift_limit", "g_shift_limit", "b_shift_limit"];
        names.into_iter().zip(this.limits()).try_for_each(|(what, limit)| limit.check(name, what, -255.0, 255.0))
    },
    plan: |this, draft, rng| draft.apply(Op::ShiftRgb { shift: this.limits().map(|limit| limit.draw(rng)) }),
}
