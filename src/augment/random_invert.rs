//! RandomInvert: inverts the levels, with a given probability.

use super::{Augment, check};
use crate::draft::Draft;
use crate::draft::op::Op;
use crate::error::Result;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Replaces each level x with 255 - x, with probability `p` (torchvision's `RandomInvert`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomInvert {
    /// Probability of a change, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomInvert {
    /// Works with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

impl Default for RandomInvert {
    fn default() -> Self {
        Self::new(check::half())
    }
}

impl Augment for RandomInvert {
    fn name(&self) -> &'static str {
        "RandomInvert"
    }

    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Invert {});
        }
    }
}
