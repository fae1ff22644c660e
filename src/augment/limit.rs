//! A range that may be written as one number, as Albumentations takes it.

use super::check;
use crate::draft::op::variants_from;
use crate::error::{Result, bail};
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// What a parameter is drawn from: one number for both directions, or a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, or [min, max]")]
pub enum Limit {
    /// From minus this to this.
    Symmetric(f64),
    /// From the first to the second.
    Between([f64; 2]),
}

variants_from!(Limit { Symmetric(f64), Between([f64; 2]) });

impl Limit {
    /// Minimum and maximum.
    pub const fn range(self) -> [f64; 2] {
        match self {
            Limit::Symmetric(most) => [-most, most],
            Limit::Between(range) => range,
        }
    }

    /// Refuses what reaches beyond `lowest` or `highest`.
    pub(super) fn check(self, name: &str, what: &str, lowest: f64, highest: f64) -> Result<()> {
        if matches!(self, Limit::Symmetric(most) if most < 0.0) {
            bail!("{name}: {what} is negative: give [min, max] for one direction");
        }
        check::range(name, what, self.range(), lowest, highest)
    }

    /// A number from the range.
    pub(super) fn draw(self, rng: &mut dyn Draws) -> f64 {
        between(self.range(), rng)
    }
}

/// A uniform number from a range.
pub(super) fn between([low, high]: [f64; 2], rng: &mut dyn Draws) -> f64 {
    f64::from(rng.uniform_between(low as f32, high as f32))
}
