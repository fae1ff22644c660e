//! RandomVerticalFlip: mirrors top to bottom.

use super::{Augment, check};
use crate::draft::Draft;
use crate::draft::op::Op;
use crate::error::Result;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Mirrors the sample top to bottom, with probability `p` (torchvision's `RandomVerticalFlip`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomVerticalFlip {
    /// Probability of a flip, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomVerticalFlip {
    /// Flips with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

impl Default for RandomVerticalFlip {
    fn default() -> Self {
        Self::new(check::half())
    }
}

impl Augment for RandomVerticalFlip {
    fn name(&self) -> &'static str {
        "RandomVerticalFlip"
    }

    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Vflip {});
        }
    }
}
