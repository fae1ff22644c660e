//! RandomGrayscale: replaces the colours with the luma, with a given probability.

use super::{Augment, check};
use crate::draft::Draft;
use crate::draft::op::Op;
use crate::error::Result;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Replaces all channels with the luma, with probability `p` (torchvision's `RandomGrayscale`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomGrayscale {
    /// Probability of a grey sample, from 0 to 1.
    #[serde(default = "tenth")]
    pub p: f32,
}

const fn tenth() -> f32 {
    0.1
}

impl RandomGrayscale {
    /// Turns grey with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

impl Default for RandomGrayscale {
    fn default() -> Self {
        Self::new(tenth())
    }
}

impl Augment for RandomGrayscale {
    fn name(&self) -> &'static str {
        "RandomGrayscale"
    }

    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Grayscale { num_output_channels: 3 });
        }
    }
}
