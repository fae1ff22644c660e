//! The order of an epoch, computed position by position: nothing of the size of the data set is held, but for a subset
//! or weights that the caller gave.
//!
//! A shuffled epoch is a keyed bijection over `0..len`. So rank r of k, or a run resumed in the middle, knows its
//! samples without replaying the others.

mod chain;
mod mixture;
mod partition;
mod permutation;
mod repeats;
mod runs;
mod shards;
#[cfg(test)]
mod tests;
mod weights;
mod within;

pub use partition::{Consumed, RankPartition};

use crate::error::{Result, bail, ensure};
use crate::policy::{Mix, MixOrder};
use crate::rng::{Domain, mix};
use chain::Chain;
use mixture::{Mixture, Shares};
use repeats::Repeats;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;
use twox_hash::XxHash3_64;
use weights::Weights;
use within::Within;

/// A last partner window shorter than this joins its predecessor, so that partners stay varied.
const SHORTEST_WINDOW: u64 = 8;

/// How an epoch's order comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shuffle {
    /// The source's own order.
    #[default]
    Off,
    /// Any sample may come at any position.
    Full,
    /// Runs of this many consecutive samples of the source come in a random order, each shuffled within itself: for
    /// sources that are read much faster in their own order.
    Window(u64),
    /// The source's shards come in a random order, and the samples of this many of them at a time are mixed, as a shuffle
    /// buffer of so many shards does: no more shards are read at once.
    Shards(u64),
}

impl From<bool> for Shuffle {
    fn from(shuffle: bool) -> Self {
        if shuffle { Shuffle::Full } else { Shuffle::Off }
    }
}

/// Makes the order of each epoch.
#[derive(Clone, Debug)]
pub struct Sampler {
    len: u64,
    shuffle: Shuffle,
    subset: Option<Arc<[u64]>>,
    /// Whether the subset names a sample more than once.
    named_again: bool,
    weights: Option<Arc<Weights>>,
    /// Where the source's shards end, counted in the samples of an epoch.
    shard_ends: Arc<[u64]>,
    repeats: Option<Repeats>,
    mixed: Mixed,
}

/// How the data sets of a mixture follow each other.
#[derive(Clone, Debug)]
enum Mixed {
    /// Not at all: all samples are one set.
    No,
    /// One after the other; these are their ends.
    Chain(Arc<[u64]>),
    Weighted(Arc<Shares>),
}

impl Sampler {
    /// All `len` samples of a source.
    pub fn new(len: u64, shuffle: Shuffle) -> Self {
        let (mixed, shard_ends) = (Mixed::No, Arc::new([]));
        let (subset, named_again) = (None, false);
        Self { len, shuffle, subset, named_again, weights: None, shard_ends, repeats: None, mixed }
    }

    /// Only the samples with these indices, each as often as it is given; without shuffle they come in this order.
    ///
    /// # Errors
    /// An index that there is not; no index at all.
    pub fn subset(self, indices: Vec<u64>) -> Result<Self> {
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        let (len, last) = (self.len, sorted.last());
        let Some(last) = last else { bail!("the subset is empty: give the index of one sample at least") };
        ensure!(*last < len, "the subset names sample {last}, but the source has {len}, counted from 0");
        let named_again = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        Ok(Self { len: indices.len() as u64, subset: Some(indices.into()), named_again, ..self })
    }

    /// Draws as many samples as there are, with replacement, each with a chance in proportion to its weight. With a
    /// subset, the weights are those of its samples, in its order.
    ///
    /// # Errors
    /// Weights that are not one a sample, not finite, negative, or all 0.
    pub fn weights(self, weights: &[f64]) -> Result<Self> {
        let weights = Weights::new(weights)?;
        let (given, len) = (weights.len(), self.len);
        ensure!(given == len, "there are {given} weights for {len} samples: give one for each");
        Ok(Self { weights: Some(Arc::new(weights)), ..self })
    }

    /// Lets the data sets of a mixture follow each other as `order` says, in place of a subset and of weights.
    ///
    /// # Errors
    /// Weights that are not one for each data set and above 0, an empty data set, an epoch without end; a shuffle of
    /// shards where data sets are drawn.
    pub fn mixture(self, order: &MixOrder) -> Result<Self> {
        match order.mix {
            Mix::Concat => Ok(self),
            Mix::Chain => Ok(Self { mixed: Mixed::Chain(order.ends.as_slice().into()), ..self }),
            Mix::Weighted => {
                ensure!(
                    !matches!(self.shuffle, Shuffle::Shards(_)),
                    "shuffle_shards needs data sets that come once, and a weighted mixture shows some again and again: \
                     shuffle fully, or in windows of samples (shuffle_window)"
                );
                let shares = Shares::new(order)?;
                Ok(Self { len: shares.len, mixed: Mixed::Weighted(Arc::new(shares)), ..self })
            }
        }
    }

    /// Says where the source's shards end, for [`Shuffle::Shards`]; a subset must be given before.
    ///
    /// # Errors
    /// No shards, or ends that are not those of the source.
    pub fn shards(mut self, ends: &[u64]) -> Result<Self> {
        self.shard_ends = match &self.subset {
            // The order of a subset means nothing where it is shuffled, and its shards must lie together.
            Some(subset) => {
                let mut sorted = subset.to_vec();
                sorted.sort_unstable();
                let before = |end: &u64| sorted.partition_point(|index| index < end) as u64;
                let ends = ends.iter().map(before).collect();
                self.subset = Some(sorted.into());
                ends
            }
            None => ends.into(),
        };
        let Some(&count) = self.shard_ends.last() else {
            bail!("shuffle: the source is not made of shards: shuffle fully, or in windows of samples");
        };
        ensure!(
            count == self.len && ends.is_sorted(),
            "shuffle: the source's shards do not end where it ends: a bug of the source"
        );
        Ok(self)
    }

    /// Shows each sample of the order this often, one copy after the other, each augmented anew (repeated augmentation).
    /// An epoch shows as many samples as before, cut to a multiple of 256 where there are as many: the first part of the
    /// order. Subset, weights and shards must be given before; 1 is as ever.
    pub fn repeats(self, times: u64) -> Self {
        Self { repeats: (times > 1).then(|| Repeats::new(self.len, times, 1)), ..self }
    }

    /// Puts the copies of a sample this many positions (at least 1) apart, as is right where samples are mixed with others
    /// of a window of as many.
    pub fn apart(self, positions: u64) -> Self {
        let repeats = self.repeats.map(|repeats| Repeats::new(self.len, repeats.times, positions));
        Self { repeats, ..self }
    }

    /// Samples of an epoch.
    pub fn len(&self) -> u64 {
        self.repeats.map_or(self.len, |repeats| repeats.shown)
    }

    /// True when an epoch has no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the order comes about.
    pub fn shuffle(&self) -> Shuffle {
        self.shuffle
    }

    /// Whether samples come data set by data set.
    pub fn is_chained(&self) -> bool {
        matches!(self.mixed, Mixed::Chain(_))
    }

    /// A fingerprint of subset, weights, shards, mixture and repetitions.
    pub fn selection(&self) -> u64 {
        let mut hasher = XxHash3_64::new();
        if let Some(subset) = &self.subset {
            hasher.write(b"subset");
            subset.iter().for_each(|index| hasher.write_u64(*index));
        }
        if let Some(weights) = &self.weights {
            hasher.write(b"weights");
            weights.sums().iter().for_each(|sum| hasher.write_u64(sum.to_bits()));
        }
        self.shard_ends.iter().for_each(|end| hasher.write_u64(*end));
        match &self.mixed {
            Mixed::No => {}
            Mixed::Chain(ends) => {
                hasher.write(b"chain");
                ends.iter().for_each(|end| hasher.write_u64(*end));
            }
            Mixed::Weighted(shares) => {
                hasher.write(b"mixture");
                shares.numbers().for_each(|number| hasher.write_u64(number));
            }
        }
        if let Some(repeats) = &self.repeats {
            hasher.write(b"repeats");
            hasher.write_u64(repeats.times);
        }
        hasher.finish()
    }

    /// The order of one epoch.
    pub fn order(&self, seed: u64, epoch: u64) -> Order {
        let key = mix(mix(mix(0, seed), epoch), Domain::Order.tag());
        let pattern = match (&self.weights, &self.mixed) {
            (Some(weights), _) => Pattern::Draws(Arc::clone(weights), mix(key, Domain::Draws.tag())),
            (None, Mixed::No) => Pattern::Within(Within::new(self.shuffle, self.len, &self.shard_ends, key)),
            (None, Mixed::Chain(ends)) => {
                Pattern::Chain(Chain::new(ends, self.shuffle, &self.shard_ends, key))
            }
            (None, Mixed::Weighted(shares)) => {
                Pattern::Mixture(Mixture::new(Arc::clone(shares), self.shuffle, key))
            }
        };
        let (subset, named_again) = (self.subset.clone(), self.named_again);
        Order { len: self.len, pattern, subset, named_again, repeats: self.repeats }
    }
}

/// The order of one epoch.
#[derive(Clone, Debug)]
pub struct Order {
    /// Without repetitions.
    len: u64,
    pattern: Pattern,
    subset: Option<Arc<[u64]>>,
    named_again: bool,
    repeats: Option<Repeats>,
}

#[derive(Clone, Debug)]
enum Pattern {
    Within(Within),
    Chain(Chain),
    Draws(Arc<Weights>, u64),
    Mixture(Mixture),
}

impl Order {
    /// The source's own order.
    pub fn sequential(len: u64) -> Self {
        Sampler::new(len, Shuffle::Off).order(0, 0)
    }

    /// The shuffled order that `seed` and `epoch` give.
    pub fn shuffled(len: u64, seed: u64, epoch: u64) -> Self {
        Sampler::new(len, Shuffle::Full).order(seed, epoch)
    }

    /// Number of positions.
    pub fn len(&self) -> u64 {
        self.repeats.map_or(self.len, |repeats| repeats.shown)
    }

    /// True when there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a sample may come more than once in an epoch, so that its random numbers depend on the position as well.
    pub fn repeats(&self) -> bool {
        self.is_cut() || self.is_drawn() || self.named_again
    }

    /// Whether samples are repeated: then an epoch shows a part of them, and ranks show equally many rows.
    pub fn is_cut(&self) -> bool {
        self.repeats.is_some()
    }

    /// Whether samples are drawn with replacement.
    pub fn is_drawn(&self) -> bool {
        matches!(self.pattern, Pattern::Draws(..) | Pattern::Mixture(_))
    }

    /// The source's index of the sample at `position`, which is below [`Order::len`].
    pub fn index(&self, position: u64) -> u64 {
        let position = self.repeats.map_or(position, |repeats| repeats.of(position));
        let member = match &self.pattern {
            Pattern::Within(order) => order.index(position),
            Pattern::Chain(chain) => chain.index(position),
            Pattern::Draws(weights, key) => weights.draw(*key, position),
            Pattern::Mixture(mixture) => mixture.index(position),
        };
        self.subset.as_ref().map_or(member, |subset| subset[member as usize])
    }

    /// The position at which the sample `index` comes, for the first time where it comes again: the inverse of
    /// [`Order::index`]. `None` where it does not come, or where samples are drawn. A subset is searched from its start.
    pub fn position(&self, index: u64) -> Option<u64> {
        match &self.subset {
            Some(subset) => {
                let members = (0..).zip(subset.iter()).filter(|(_, own)| **own == index);
                let mut positions = members.filter_map(|(member, _)| self.position_of(member));
                if self.named_again { positions.min() } else { positions.next() }
            }
            None => self.position_of(index),
        }
    }

    /// The same of a member of the subset, or of the source where there is none.
    fn position_of(&self, member: u64) -> Option<u64> {
        if member >= self.len {
            return None;
        }
        let position = match &self.pattern {
            Pattern::Within(order) => order.position(member),
            Pattern::Chain(chain) => chain.position(member),
            Pattern::Draws(..) | Pattern::Mixture(_) => return None,
        };
        self.repeats.map_or(Some(position), |repeats| repeats.first(position))
    }

    /// Some sample of the epoch, for each number below [`Order::len`]; each comes once, unless samples may repeat.
    pub fn any(&self, number: u64) -> u64 {
        match (&self.pattern, &self.subset) {
            _ if self.repeats() => self.index(number),
            (_, Some(subset)) => subset[number as usize],
            (_, None) => number,
        }
    }

    /// Positions whose samples may be partners of the sample at `position`: its window of `size` consecutive ones.
    pub fn window(&self, position: u64, size: u64) -> Range<u64> {
        let size = size.max(1);
        let len = self.len();
        let last = len % size;
        // Where the last window is too short, its start moves back to its predecessor's.
        let windows = match last {
            1..SHORTEST_WINDOW if len > size => len / size,
            _ => len.div_ceil(size),
        };
        let window = (position / size).min(windows.saturating_sub(1));
        let end = if window + 1 >= windows { len } else { (window + 1) * size };
        window * size..end
    }
}
