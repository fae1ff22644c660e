//! Which samples an epoch has, in which order, and which samples are mixed with each other.

use crate::error::{Error, Result};
use crate::loader::LoaderBuilder;
use crate::sampler::{Sampler, Shuffle};

/// What was asked for.
#[derive(Default)]
pub(in crate::loader) struct Sampling {
    shuffle: Shuffle,
    subset: Option<Vec<u64>>,
    weights: Option<Vec<f64>>,
}

impl LoaderBuilder {
    /// A new order every epoch (default: the source's order): `true` or [`Shuffle::Full`] for any order, or
    /// [`Shuffle::Window`] or [`Shuffle::Shards`] for one that keeps runs of samples together, where reading in
    /// order is faster.
    pub fn shuffle(mut self, shuffle: impl Into<Shuffle>) -> Self {
        self.sampling.shuffle = shuffle.into();
        self
    }

    /// Shows only the samples with these indices in the source, each named once; without shuffle in this order. They
    /// keep their plans, partners apart.
    pub fn subset(mut self, indices: impl IntoIterator<Item = u64>) -> Self {
        self.sampling.subset = Some(indices.into_iter().collect());
        self
    }

    /// Draws an epoch's samples with replacement, each with a chance in proportion to its weight: one weight for each
    /// sample of the source, or of the subset in its order. An epoch is as long as before, and drawn anew from seed and
    /// epoch; a sample that comes twice is augmented twice. Shuffle has no meaning then.
    pub fn weights(mut self, weights: &[f64]) -> Self {
        self.sampling.weights = Some(weights.to_vec());
        self
    }

    /// Consecutive positions of the epoch's order that partners are drawn from (default 128).
    pub fn partner_window(mut self, positions: u64) -> Self {
        self.partner_window = positions;
        self
    }

    /// From epoch `epoch` on, leaves out the augmentations that take several samples (default: never), as Ultralytics'
    /// `close_mosaic` does in the last epochs.
    pub fn close_mosaic(mut self, epoch: u64) -> Self {
        self.close_mosaic = Some(epoch);
        self
    }

    pub(in crate::loader) fn sampler(&mut self) -> Result<Sampler> {
        let Sampling { shuffle, subset, weights } = std::mem::take(&mut self.sampling);
        if shuffle == Shuffle::Window(0) {
            return Err(Error::config(
                "shuffle: a window of 0 samples holds nothing: give the samples of a run",
            ));
        }
        if shuffle == Shuffle::Shards(0) {
            return Err(Error::config("shuffle: 0 shards at a time hold nothing: mix at least 1"));
        }
        let mut sampler = Sampler::new(self.source.len() as u64, shuffle);
        if let Some(subset) = subset {
            sampler = sampler.subset(subset)?;
        }
        if let (Shuffle::Shards(_), None) = (shuffle, &weights) {
            sampler = sampler.shards(&self.source.shard_ends())?;
        }
        match weights {
            Some(weights) => sampler.weights(&weights),
            None => Ok(sampler),
        }
    }
}
