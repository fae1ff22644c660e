//! A range of angles, as torchvision takes it.

use super::check;
use crate::draft::op::variants_from;
use crate::error::{Result, bail};
use serde::{Deserialize, Serialize};

/// Angles in degrees: one number for both directions, or a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, or [min, max]")]
pub enum Degrees {
    /// From minus this to this.
    Around(f64),
    /// Minimum and maximum angle.
    Range([f64; 2]),
}

variants_from!(Degrees { Around(f64), Range([f64; 2]) });

impl Degrees {
    /// Minimum and maximum angle.
    pub const fn range(self) -> [f64; 2] {
        match self {
            Degrees::Around(around) => [-around, around],
            Degrees::Range(range) => range,
        }
    }

    pub(super) fn check(self, name: &str, what: &str) -> Result<()> {
        if let Degrees::Around(around) = self
            && around < 0.0
        {
            bail!("{name}: if {what} is a single number, it must be positive, but it is {around}");
        }
        check_angles(name, what, self.range())
    }
}

/// Beyond a million turns, no digits are left for the direction.
pub(super) fn check_angles(name: &str, what: &str, range: [f64; 2]) -> Result<()> {
    check::range(name, what, range, -3.6e8, 3.6e8)
}
