//! A weighted mixture: each position draws its data set, and each data set goes through its own order again and again.
//!
//! How often a data set has come before a position has to be known without going through the positions, so that any
//! position can be had alone. So draws are from urns: a block of positions holds each data set as often as its weight
//! says, as exactly as whole numbers can, in a random order. All counts follow from the weights by arithmetic, whatever
//! the seed; an epoch is therefore as long as any other, and a data set that is shown once is shown whole.

use super::Shuffle;
use super::permutation::Permutation;
use super::within::Within;
use crate::error::{Result, bail, ensure};
use crate::policy::{MixOrder, StoppingStrategy};
use crate::rng::{Domain, mix};
use std::ops::Range;
use std::sync::Arc;

/// Positions of an urn.
const BLOCK: u64 = 256;
/// Shares are counted in parts of this.
const WHOLE: u64 = 1 << 32;
/// The longest epoch: positions are exact in f64, as other languages have them.
const MAX_LEN: u64 = 1 << 53;

/// Data sets with their shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    sets: Vec<Share>,
    /// Positions of an epoch.
    pub(super) len: u64,
}

/// A data set's part in a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    /// Its first sample, in an index that counts all.
    start: u64,
    len: u64,
    /// Its share of what the data sets ahead of it leave, in parts of [`WHOLE`].
    of_rest: u64,
}

impl Shares {
    /// # Errors
    /// No data set, an empty one, a weight that is not above 0, an epoch without end.
    pub(super) fn new(order: &MixOrder) -> Result<Self> {
        let MixOrder { ends, weights, .. } = order;
        ensure!(
            !ends.is_empty() && ends.len() == weights.len(),
            "there are {} weights for {} data sets: give one for each",
            weights.len(),
            ends.len()
        );
        let mut sets = Vec::with_capacity(ends.len());
        for (number, (&end, &weight)) in ends.iter().zip(weights).enumerate() {
            let start = number.checked_sub(1).map_or(0, |before| ends[before]);
            ensure!(end > start, "data set {number} is empty: leave it out of the mixture");
            ensure!(
                weight.is_finite() && weight > 0.0,
                "the weight of data set {number} is {weight}: every weight must be above 0"
            );
            let rest: f64 = weights[number..].iter().sum();
            let of_rest = ((weight / rest * WHOLE as f64).round() as u64).min(WHOLE);
            sets.push(Share { start, len: end - start, of_rest });
        }
        if let Some(last) = sets.last_mut() {
            last.of_rest = WHOLE;
        }
        let mut shares = Self { sets, len: 0 };
        shares.len = shares.epoch(order)?;
        Ok(shares)
    }

    /// Numbers that the shares follow from, for a fingerprint.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let of_sets = self.sets.iter().flat_map(|set| [set.start, set.len, set.of_rest]);
        of_sets.chain([self.len])
    }

    /// How often data set `set` comes in the first `positions`.
    fn count(&self, set: usize, positions: u64) -> u64 {
        let ahead = self.sets[..set].iter().fold(positions, |rest, share| rest - share.of(rest));
        self.sets[set].of(ahead)
    }

    /// Whose number `drawn` is in the urn of these positions: its numbers belong to one data set after the other.
    fn slot(&self, drawn: u64, (mut before, mut after): (u64, u64)) -> Slot {
        let (mut set, mut from) = (0, 0);
        loop {
            let share = self.sets[set];
            let (shown, end) = (share.of(before), share.of(after));
            let own = from..from + (end - shown);
            // The last one has all that the others leave.
            if drawn < own.end || set + 1 == self.sets.len() {
                return Slot { set, shown, own };
            }
            (set, from, before, after) = (set + 1, own.end, before - shown, after - end);
        }
    }

    /// Positions of an epoch.
    fn epoch(&self, order: &MixOrder) -> Result<u64> {
        match order.epoch_samples {
            Some(0) => bail!("epoch_samples is 0: give the samples of an epoch, or leave it out"),
            Some(samples) if samples > MAX_LEN => {
                bail!("epoch_samples is {samples}, and {MAX_LEN} is the most: give a smaller number")
            }
            Some(samples) => return Ok(samples),
            None => {}
        }
        let exhausted = (0..self.sets.len()).map(|set| (self.exhausted(set), set));
        let end = match order.stopping_strategy {
            StoppingStrategy::FirstExhausted => exhausted.min(),
            StoppingStrategy::AllExhausted => exhausted.max(),
        };
        match end {
            Some((end, _)) if end <= MAX_LEN => Ok(end),
            end => bail!(
                "data set {} is so seldom drawn that no epoch shows it whole: raise its weight, or say how long an epoch \
                 is (epoch_samples)",
                end.map_or(0, |(_, set)| set)
            ),
        }
    }

    /// The number of positions that show data set `set` whole for the first time; above the longest epoch where none does.
    fn exhausted(&self, set: usize) -> u64 {
        let len = self.sets[set].len;
        let (mut below, mut enough) = (0, MAX_LEN + 1);
        while enough - below > 1 {
            let middle = below + (enough - below) / 2;
            let side = if self.count(set, middle) >= len { &mut enough } else { &mut below };
            *side = middle;
        }
        enough
    }
}

/// What an urn holds of a data set.
struct Slot {
    set: usize,
    /// How often the data set came ahead of the urn.
    shown: u64,
    /// Its numbers in the urn.
    own: Range<u64>,
}

impl Share {
    /// Of `rest` positions that others left.
    fn of(self, rest: u64) -> u64 {
        ((u128::from(rest) * u128::from(self.of_rest)) >> 32) as u64
    }
}

/// The order of one epoch of a mixture.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    shares: Arc<Shares>,
    shuffle: Shuffle,
    key: u64,
}

impl Mixture {
    pub(super) fn new(shares: Arc<Shares>, shuffle: Shuffle, key: u64) -> Self {
        Self { shares, shuffle, key: mix(key, Domain::Mixture.tag()) }
    }

    /// The sample at `position`, in an index that counts all data sets.
    pub(super) fn index(&self, position: u64) -> u64 {
        let Self { shares, shuffle, key } = self;
        let first = position / BLOCK * BLOCK;
        let size = BLOCK.min(shares.len - first);
        let urn = Permutation::new(size, mix(*key, first));
        let drawn = urn.forward(position - first);
        let Slot { set, shown, own } = shares.slot(drawn, (first, first + size));
        let nth = match shuffle {
            // In a random order anyway.
            Shuffle::Full => drawn - own.start,
            _ => (0..position - first).filter(|&at| own.contains(&urn.forward(at))).count() as u64,
        };
        let share = &shares.sets[set];
        let (round, at) = ((shown + nth) / share.len, (shown + nth) % share.len);
        let key = mix(mix(*key, set as u64), round);
        let no_shards: Arc<[u64]> = Arc::new([]);
        share.start + Within::new(*shuffle, share.len, &no_shards, key).index(at)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::super::{Order, Sampler};
    use super::*;
    use crate::policy::Mix;

    fn order_of(lens: &[u64], weights: &[f64]) -> MixOrder {
        let ends = lens.iter().scan(0, |sum, len| {
            *sum += len;
            Some(*sum)
        });
        let (stopping_strategy, weights) = (StoppingStrategy::FirstExhausted, weights.to_vec());
        MixOrder { mix: Mix::Weighted, ends: ends.collect(), weights, stopping_strategy, epoch_samples: None }
    }

    fn epoch(order: &MixOrder, shuffle: Shuffle, seed: u64, epoch: u64) -> Order {
        let len = *order.ends.last().unwrap();
        Sampler::new(len, shuffle).mixture(order).unwrap().order(seed, epoch)
    }

    fn listed(order: &Order) -> Vec<u64> {
        (0..order.len()).map(|position| order.index(position)).collect()
    }

    fn set_of(ends: &[u64], index: u64) -> usize {
        ends.partition_point(|&end| end <= index)
    }

    #[test]
    fn draws_keep_to_the_weights_and_neighbours_are_independent() {
        let weights = [0.5, 0.3, 0.15, 0.05];
        let order = MixOrder { epoch_samples: Some(20_000), ..order_of(&[700, 5_000, 90, 40], &weights) };
        for seed in 0..20 {
            let sets: Vec<usize> = listed(&epoch(&order, Shuffle::Full, seed, 3))
                .into_iter()
                .map(|index| set_of(&order.ends, index))
                .collect();
            let square = |seen: f64, want: f64| (seen - want) * (seen - want) / want;
            let counts = weights.iter().enumerate().map(|(set, weight)| {
                square(sets.iter().filter(|&&own| own == set).count() as f64, weight * 20_000.0)
            });
            // The 99.9th percentile of chi-square with 3 degrees of freedom.
            assert!(counts.sum::<f64>() < 16.27, "seed {seed}");
            // Of the pairs of neighbours: 15 degrees of freedom, and 37.7.
            let mut pairs = [[0f64; 4]; 4];
            sets.chunks(2).for_each(|pair| pairs[pair[0]][pair[1]] += 1.0);
            let all = (0..4).flat_map(|one| (0..4).map(move |other| (one, other)));
            let pairs =
                all.map(|(one, other)| square(pairs[one][other], weights[one] * weights[other] * 1e4));
            assert!(pairs.sum::<f64>() < 37.7, "seed {seed}");
        }
    }

    #[test]
    fn every_position_of_a_block_draws_by_the_weights() {
        // 0.3 of 256 is no whole number: what is rounded in one block is made up for in others.
        let order = MixOrder { epoch_samples: Some(256 * 40), ..order_of(&[100, 100], &[0.3, 0.7]) };
        let mut seen = [0f64; 256];
        for seed in 0..50 {
            for (position, index) in listed(&epoch(&order, Shuffle::Full, seed, 0)).into_iter().enumerate() {
                seen[position % 256] += f64::from(u8::from(index < 100));
            }
        }
        let (trials, p) = (2000.0, 0.3);
        let square: f64 =
            seen.iter().map(|&hits| (hits - trials * p).powi(2) / (trials * p * (1.0 - p))).sum();
        // The mean of chi-square with 255 degrees of freedom, and five standard deviations on each side.
        assert!((255.0 - 113.0..255.0 + 113.0).contains(&square), "{square}");
    }

    #[test]
    fn each_data_set_goes_through_all_its_samples_before_one_comes_again() {
        let order = MixOrder {
            stopping_strategy: StoppingStrategy::AllExhausted,
            ..order_of(&[7, 300, 64], &[0.2, 0.5, 0.3])
        };
        for shuffle in [Shuffle::Off, Shuffle::Full, Shuffle::Window(5)] {
            let whole = listed(&epoch(&order, shuffle, 5, 1));
            for set in 0..3usize {
                let start = set.checked_sub(1).map_or(0, |before| order.ends[before]);
                let len = order.ends[set] - start;
                let own: Vec<u64> = whole
                    .iter()
                    .filter(|&&index| set_of(&order.ends, index) == set)
                    .map(|i| i - start)
                    .collect();
                assert!(own.len() as u64 >= len, "data set {set} is not exhausted");
                // A block may begin the next round before the last one has ended where the order within is random.
                let rounds = own.chunks(len as usize).filter(|round| round.len() as u64 == len);
                for round in rounds.filter(|_| shuffle != Shuffle::Full) {
                    let mut sorted = round.to_vec();
                    sorted.sort_unstable();
                    assert!(sorted.into_iter().eq(0..len), "data set {set}, {shuffle:?}");
                    assert!(shuffle != Shuffle::Off || round.is_sorted());
                }
                let times = |index: u64| own.iter().filter(|&&other| other == index).count();
                let (most, least) = ((0..len).map(times).max().unwrap(), (0..len).map(times).min().unwrap());
                assert!(most - least <= 1, "{most} and {least} times, data set {set}, {shuffle:?}");
            }
        }
    }

    #[test]
    fn an_epoch_ends_as_its_strategy_says_and_is_as_long_as_any_other() {
        let count = |order: &Order, ends: &[u64], set: usize| {
            listed(order).into_iter().filter(|&index| set_of(ends, index) == set).count() as u64
        };
        for (lens, weights) in
            [([10u64, 1000], [0.5, 0.5]), ([300, 500], [0.9, 0.1]), ([37, 5], [0.333, 0.667])]
        {
            let first = order_of(&lens, &weights);
            let all = MixOrder { stopping_strategy: StoppingStrategy::AllExhausted, ..first.clone() };
            let (short, long) = (epoch(&first, Shuffle::Full, 1, 0), epoch(&all, Shuffle::Full, 1, 0));
            let of = |order: &Order| [0, 1].map(|set| count(order, &first.ends, set));
            let (shown, shown_all) = (of(&short), of(&long));
            assert!((0..2).any(|set| shown[set] == lens[set]) && (0..2).all(|set| shown[set] <= lens[set]));
            assert!((0..2).any(|set| shown_all[set] == lens[set]), "it ends with the last to be exhausted");
            assert!((0..2).all(|set| shown_all[set] >= lens[set]), "{shown_all:?}");
            for other in [(1, 1), (2, 0), (99, 99)] {
                assert_eq!(epoch(&first, Shuffle::Full, other.0, other.1).len(), short.len());
            }
            assert!(short.repeats() && short.is_drawn() && short.position(0).is_none());
        }
        let thirds = MixOrder { epoch_samples: Some(77), ..order_of(&[10, 20, 30], &[1.0 / 3.0; 3]) };
        assert_eq!(epoch(&thirds, Shuffle::Off, 0, 0).len(), 77);
    }

    #[test]
    fn epochs_differ_and_without_shuffle_only_the_draws_do() {
        let order = order_of(&[100, 100], &[0.5, 0.5]);
        for shuffle in [Shuffle::Off, Shuffle::Full] {
            let [one, other] = [0, 1].map(|number| listed(&epoch(&order, shuffle, 9, number)));
            assert_ne!(one, other);
        }
        let own = listed(&epoch(&order, Shuffle::Off, 9, 4)).into_iter().filter(|&index| index < 100);
        assert!(own.enumerate().all(|(at, index)| at as u64 == index));
    }

    #[test]
    fn mixtures_without_meaning_are_refused() {
        let refused = |order: MixOrder| Shares::new(&order).unwrap_err().to_string();
        assert!(refused(order_of(&[5, 5], &[1.0])).contains("1 weights for 2 data sets"));
        assert!(refused(order_of(&[5, 0], &[0.5, 0.5])).contains("data set 1 is empty"));
        assert!(refused(order_of(&[5, 5], &[0.5, 0.0])).contains("weight of data set 1 is 0"));
        assert!(refused(order_of(&[5, 5], &[f64::NAN, 0.5])).contains("is NaN"));
        let endless = MixOrder {
            stopping_strategy: StoppingStrategy::AllExhausted,
            ..order_of(&[1 << 40, 5], &[1e-9, 1.0])
        };
        let text = refused(endless);
        assert!(text.contains("data set 0 is so seldom drawn") && text.contains("epoch_samples"), "{text}");
        let none = MixOrder { epoch_samples: Some(0), ..order_of(&[5], &[1.0]) };
        assert!(refused(none).contains("epoch_samples is 0"));
    }
}
