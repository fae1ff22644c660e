//! RandomChannelPermutation: shuffles the channels.

use super::prelude::*;

/// Permutes the channels at random (torchvision's `RandomChannelPermutation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomChannelPermutation {}

impl RandomChannelPermutation {
    /// Which channel becomes red, green and blue, drawn as `torch.randperm` does.
    pub fn make_params(&self, rng: &mut dyn Draws) -> [u32; 3] {
        permutation(rng)
    }
}

pub(super) fn permutation(rng: &mut dyn Draws) -> [u32; 3] {
    let mut order = [0, 1, 2];
    for i in 0..2 {
        order.swap(i, i + rng.below(3 - i as u32) as usize);
    }
    order
}

impl Augment for RandomChannelPermutation {
    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        draft.apply(Op::PermuteChannels { permutation: self.make_params(rng) });
    }
}
