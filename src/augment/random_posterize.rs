//! RandomPosterize: keeps fewer bits, with a given probability.

use super::prelude::*;

/// Keeps the high bits of each level, with probability `p` (torchvision's `RandomPosterize`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomPosterize {
    /// Number of bits that are kept, from 0 to 8.
    pub bits: u32,
    /// Probability of a change, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomPosterize {
    /// Works with torchvision's probability of a half.
    pub fn new(bits: u32) -> Self {
        Self { bits, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

impl Augment for RandomPosterize {
    fn check(&self) -> Result<()> {
        let bits = self.bits;
        ensure!((0..=8).contains(&bits), "RandomPosterize: bits should be in 0..=8, but is {bits}");
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Posterize { bits: self.bits });
        }
    }
}
