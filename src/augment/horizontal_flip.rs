//! RandomHorizontalFlip: mirrors left to right.

use super::{Augment, check};
use crate::draft::Draft;
use crate::draft::op::Op;
use crate::error::Result;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Mirrors the sample left to right, with probability `p` (torchvision's `RandomHorizontalFlip`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomHorizontalFlip {
    /// Probability of a flip, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomHorizontalFlip {
    /// Flips with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

impl Default for RandomHorizontalFlip {
    fn default() -> Self {
        Self::new(check::half())
    }
}

impl Augment for RandomHorizontalFlip {
    fn name(&self) -> &'static str {
        "RandomHorizontalFlip"
    }

    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Hflip {});
        }
    }
}
