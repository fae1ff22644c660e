//! ChannelShuffle: shuffles the channels by chance.

use super::prelude::*;
use super::random_channel_permutation::permutation;

/// Permutes the channels at random, with probability `p` (Albumentations' `ChannelShuffle`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ChannelShuffle {
    /// Probability of a change, from 0 to 1; one of six orders changes nothing.
    pub p: f32,
}

impl Default for ChannelShuffle {
    fn default() -> Self {
        Self::new(check::half())
    }
}

impl ChannelShuffle {
    /// Works with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }
}

by_own_chance! {
    ChannelShuffle,
    check: |_this, _name| Ok(()),
    plan: |_this, draft, rng| draft.apply(Op::PermuteChannels { permutation: permutation(rng) }),
}
