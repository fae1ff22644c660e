//! The order of samples that each come once: as they are, or shuffled in one of the ways that there are.

use super::Shuffle;
use super::permutation::Permutation;
use super::runs::Runs;
use super::shards::Shards;
use std::sync::Arc;

/// A bijection between positions and samples.
#[derive(Clone, Debug)]
pub(super) enum Within {
    Sequential,
    Full(Permutation),
    Runs(Runs),
    Shards(Shards),
}

impl Within {
    /// Of `len` samples whose shards, where they count, end at `shard_ends`.
    pub(super) fn new(shuffle: Shuffle, len: u64, shard_ends: &Arc<[u64]>, key: u64) -> Self {
        match shuffle {
            Shuffle::Off => Within::Sequential,
            Shuffle::Full => Within::Full(Permutation::new(len, key)),
            Shuffle::Window(size) => Within::Runs(Runs::new(len, size, key)),
            Shuffle::Shards(mixed) => Within::Shards(Shards::new(Arc::clone(shard_ends), mixed, key)),
        }
    }

    /// The sample at `position`.
    pub(super) fn index(&self, position: u64) -> u64 {
        match self {
            Within::Sequential => position,
            Within::Full(permutation) => permutation.forward(position),
            Within::Runs(runs) => runs.index(position),
            Within::Shards(shards) => shards.index(position),
        }
    }

    /// The position of the sample `index`.
    pub(super) fn position(&self, index: u64) -> u64 {
        match self {
            Within::Sequential => index,
            Within::Full(permutation) => permutation.backward(index),
            Within::Runs(runs) => runs.position(index),
            Within::Shards(shards) => shards.position(index),
        }
    }
}
