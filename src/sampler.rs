//! The order of an epoch, computed position by position: nothing of the size of the data set is held, but for a subset
//! or weights that the caller gave.
//!
//! A shuffled epoch is a keyed bijection over `0..len`. So rank r of k, or a run resumed in the middle, knows its
//! samples without replaying the others.

mod deal;
mod permutation;
mod runs;
mod weights;

pub use deal::{Deal, Taken};

use crate::error::{Error, Result};
use crate::rng::mix;
use permutation::Permutation;
use runs::Runs;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;
use twox_hash::XxHash3_64;
use weights::Weights;

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
    weights: Option<Arc<Weights>>,
}

impl Sampler {
    /// All `len` samples of a source.
    pub fn new(len: u64, shuffle: Shuffle) -> Self {
        Self { len, shuffle, subset: None, weights: None }
    }

    /// Only the samples with these indices; without shuffle they come in this order.
    ///
    /// # Errors
    /// An index that there is not, or that is given twice; no index at all.
    pub fn subset(self, indices: Vec<u64>) -> Result<Self> {
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        match sorted.last() {
            None => return Err(Error::config("the subset is empty: give the index of one sample at least")),
            Some(last) if *last >= self.len => {
                return Err(Error::config(format!(
                    "the subset names sample {last}, but the source has {}, counted from 0",
                    self.len
                )));
            }
            _ => {}
        }
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::config(format!(
                "the subset names sample {} twice: name each once, or use weights to see some more often",
                pair[0]
            )));
        }
        Ok(Self { len: indices.len() as u64, subset: Some(indices.into()), ..self })
    }

    /// Draws as many samples as there are, with replacement, each with a chance in proportion to its weight. With a
    /// subset, the weights are those of its samples, in its order.
    ///
    /// # Errors
    /// Weights that are not one a sample, not finite, negative, or all 0.
    pub fn weights(self, weights: &[f64]) -> Result<Self> {
        let weights = Weights::new(weights)?;
        if weights.len() != self.len {
            return Err(Error::config(format!(
                "there are {} weights for {} samples: give one for each",
                weights.len(),
                self.len
            )));
        }
        Ok(Self { weights: Some(Arc::new(weights)), ..self })
    }

    /// Samples of an epoch.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when an epoch has no sample.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How the order comes about.
    pub fn shuffle(&self) -> Shuffle {
        self.shuffle
    }

    /// A fingerprint of subset and weights.
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
        hasher.finish()
    }

    /// The order of one epoch.
    pub fn order(&self, seed: u64, epoch: u64) -> Order {
        let key = mix(mix(mix(0, seed), epoch), 0x6f72_6465);
        let pattern = match (&self.weights, self.shuffle) {
            (Some(weights), _) => Pattern::Draws(Arc::clone(weights), mix(key, 0x6472_6177)),
            (None, Shuffle::Off) => Pattern::Sequential,
            (None, Shuffle::Full) => Pattern::Full(Permutation::new(self.len, key)),
            (None, Shuffle::Window(size)) => Pattern::Runs(Runs::new(self.len, size, key)),
        };
        Order { len: self.len, pattern, subset: self.subset.clone() }
    }
}

/// The order of one epoch.
#[derive(Clone, Debug)]
pub struct Order {
    len: u64,
    pattern: Pattern,
    subset: Option<Arc<[u64]>>,
}

#[derive(Clone, Debug)]
enum Pattern {
    Sequential,
    Full(Permutation),
    Runs(Runs),
    Draws(Arc<Weights>, u64),
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
        self.len
    }

    /// True when there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a sample may come more than once, so that its dice depend on the position as well.
    pub fn repeats(&self) -> bool {
        matches!(self.pattern, Pattern::Draws(..))
    }

    /// The source's index of the sample at `position`, which is below [`Order::len`].
    pub fn index(&self, position: u64) -> u64 {
        let member = match &self.pattern {
            Pattern::Sequential => position,
            Pattern::Full(permutation) => permutation.forward(position),
            Pattern::Runs(runs) => runs.index(position),
            Pattern::Draws(weights, key) => weights.draw(*key, position),
        };
        self.subset.as_ref().map_or(member, |subset| subset[member as usize])
    }

    /// The position at which the sample `index` comes: the inverse of [`Order::index`]. `None` where it does not come,
    /// or where samples may repeat. A subset is searched from its start.
    pub fn position(&self, index: u64) -> Option<u64> {
        let member = match &self.subset {
            Some(subset) => subset.iter().position(|&own| own == index)? as u64,
            None => index,
        };
        if member >= self.len {
            return None;
        }
        match &self.pattern {
            Pattern::Sequential => Some(member),
            Pattern::Full(permutation) => Some(permutation.backward(member)),
            Pattern::Runs(runs) => Some(runs.position(member)),
            Pattern::Draws(..) => None,
        }
    }

    /// Some sample of the epoch, for each number below [`Order::len`]; all of them come, unless samples may repeat.
    pub fn any(&self, number: u64) -> u64 {
        match (&self.pattern, &self.subset) {
            (Pattern::Draws(..), _) => self.index(number),
            (_, Some(subset)) => subset[number as usize],
            (_, None) => number,
        }
    }

    /// Positions whose samples may be partners of the sample at `position`: its window of `size` consecutive ones.
    pub fn window(&self, position: u64, size: u64) -> Range<u64> {
        let size = size.max(1);
        let last = self.len % size;
        // Where the last window is too short, its start moves back to its predecessor's.
        let windows = match last {
            1..SHORTEST_WINDOW if self.len > size => self.len / size,
            _ => self.len.div_ceil(size),
        };
        let window = (position / size).min(windows.saturating_sub(1));
        let end = if window + 1 >= windows { self.len } else { (window + 1) * size };
        window * size..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(order: Order) -> Vec<u64> {
        (0..order.len()).map(|position| order.index(position)).collect()
    }

    #[test]
    fn every_sample_comes_exactly_once_whatever_the_length() {
        for len in 0..=500 {
            for epoch in [0, 7] {
                let mut seen = listed(Order::shuffled(len, 3, epoch));
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..len), "length {len}");
            }
        }
    }

    #[test]
    fn the_position_of_an_index_is_the_inverse_of_the_index_at_a_position() {
        for len in [1, 2, 3, 17, 64, 65, 1000, 1 << 40] {
            let order = Order::shuffled(len, 11, 2);
            for position in (0..len.min(300)).chain([len - 1]) {
                assert_eq!(order.position(order.index(position)), Some(position), "length {len}");
            }
        }
    }

    #[test]
    fn without_shuffle_the_order_is_the_sources_own() {
        assert!(listed(Order::sequential(9)).into_iter().eq(0..9));
        assert_eq!(Order::sequential(9).position(4), Some(4));
    }

    #[test]
    fn epochs_and_seeds_give_different_orders() {
        let base = listed(Order::shuffled(100, 1, 0));
        assert_eq!(base, listed(Order::shuffled(100, 1, 0)));
        for other in [Order::shuffled(100, 1, 1), Order::shuffled(100, 2, 0)] {
            let same = listed(other).iter().zip(&base).filter(|(a, b)| a == b).count();
            assert!(same < 10, "{same} of 100 samples stayed in place");
        }
    }

    /// Correlation of x[i] with x[i + lag] for the numbers 0..n in the order's sequence.
    fn correlation(values: &[u64], lag: usize) -> f64 {
        let n = values.len();
        let mean = (n as f64 - 1.0) / 2.0;
        let variance = ((n * n) as f64 - 1.0) / 12.0;
        let sum: f64 =
            (0..n).map(|i| (values[i] as f64 - mean) * (values[(i + lag) % n] as f64 - mean)).sum();
        sum / n as f64 / variance
    }

    #[test]
    fn neighbours_are_uncorrelated() {
        let mut means = [0.0; 3];
        for seed in 0..40 {
            let values = listed(Order::shuffled(1000, seed, 0));
            for (mean, lag) in means.iter_mut().zip([1, 2, 32]) {
                let r = correlation(&values, lag);
                assert!(r.abs() < 0.16, "seed {seed}, lag {lag}: correlation {r}");
                *mean += r / 40.0;
            }
        }
        // A random order gives 0 +- 0.005; 0.025 is five standard deviations.
        assert!(means.iter().all(|mean| mean.abs() < 0.025), "{means:?}");
    }

    #[test]
    fn every_index_is_equally_likely_at_the_first_position() {
        let mut seen = [0u32; 10];
        for epoch in 0..2000 {
            seen[Order::shuffled(10, 5, epoch).index(0) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (140..260).contains(&count)), "{seen:?}");
    }

    #[test]
    fn a_short_last_window_joins_its_predecessor() {
        let windows = |len: u64| -> Vec<Range<u64>> {
            let order = Order::sequential(len);
            let mut all: Vec<_> = (0..len).map(|position| order.window(position, 128)).collect();
            all.dedup();
            all
        };
        assert_eq!(windows(256), [0..128, 128..256]);
        assert_eq!(windows(263), [0..128, 128..263]);
        assert_eq!(windows(264), [0..128, 128..256, 256..264]);
        assert_eq!(windows(5), vec![0..5]);
        assert_eq!(Order::sequential(300).window(7, u64::MAX), 0..300);
    }

    #[test]
    fn a_subset_comes_in_its_order_or_shuffled_and_nothing_else_does() {
        let subset = |shuffle| Sampler::new(100, shuffle).subset(vec![70, 3, 99]).unwrap().order(1, 0);
        assert_eq!(listed(subset(Shuffle::Off)), [70, 3, 99]);
        for shuffle in [Shuffle::Full, Shuffle::Window(2)] {
            let order = subset(shuffle);
            let mut seen = listed(order.clone());
            assert!((0..3).all(|position| order.position(seen[position as usize]) == Some(position)));
            seen.sort_unstable();
            assert_eq!(seen, [3, 70, 99]);
            assert_eq!(order.position(4), None);
        }
        let refused =
            |subset: &[u64]| Sampler::new(100, Shuffle::Off).subset(subset.to_vec()).unwrap_err().to_string();
        assert!(refused(&[]).contains("empty"));
        assert!(refused(&[1, 100]).contains("sample 100, but the source has 100"));
        assert!(refused(&[5, 1, 5]).contains("sample 5 twice"));
    }

    #[test]
    fn weighted_draws_repeat_samples_and_are_drawn_anew_each_epoch() {
        let sampler = Sampler::new(4, Shuffle::Off).subset(vec![9, 2, 3]);
        assert!(sampler.is_err());
        let sampler = Sampler::new(10, Shuffle::Off).subset(vec![9, 2, 3]).unwrap();
        assert!(sampler.clone().weights(&[1.0]).is_err());
        let sampler = sampler.weights(&[0.0, 1.0, 2.0]).unwrap();
        let epochs: Vec<Vec<u64>> = (0..50).map(|epoch| listed(sampler.order(7, epoch))).collect();
        assert_eq!(epochs[3], listed(sampler.order(7, 3)));
        assert!(epochs.iter().any(|epoch| *epoch != epochs[0]));
        assert!(epochs.iter().flatten().all(|index| [2, 3].contains(index)));
        assert!(sampler.order(7, 0).repeats() && sampler.order(7, 0).position(2).is_none());
    }
}
