//! RandomEqualize: spreads the levels now and then.

use super::{Augment, check};
use crate::draft::Draft;
use crate::draft::op::Op;
use crate::error::Result;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Equalizes the histogram of each channel, with probability `p` (torchvision's `RandomEqualize`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomEqualize {
    /// Probability of a change, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomEqualize {
    /// Works with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

impl Default for RandomEqualize {
    fn default() -> Self {
        Self::new(check::half())
    }
}

impl Augment for RandomEqualize {
    fn name(&self) -> &'static str {
        "RandomEqualize"
    }

    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Equalize {});
        }
    }
}
