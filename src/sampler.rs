//! The order of an epoch, computed position by position: nothing of the size of the data set is ever held.
//!
//! A shuffled epoch is a keyed bijection over `0..len`: a Feistel network over the next power of four, walked until it
//! lands inside. So rank r of k, or a run resumed in the middle, knows its samples without replaying the others.

mod deal;

pub use deal::{Deal, Taken};

use crate::rng::mix;
use std::ops::Range;

/// Rounds of the network; four suffice for uncorrelated neighbours, twice that costs nothing beside a decode.
const ROUNDS: u64 = 8;
/// A last partner window shorter than this joins its predecessor, so that partners stay varied.
const SHORTEST_WINDOW: u64 = 8;

/// The order of one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    len: u64,
    key: Option<u64>,
    half_bits: u32,
}

impl Order {
    /// The source's own order.
    pub fn sequential(len: u64) -> Self {
        Self { len, key: None, half_bits: 0 }
    }

    /// The shuffled order that `seed` and `epoch` give.
    pub fn shuffled(len: u64, seed: u64, epoch: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let key = mix(mix(mix(0, seed), epoch), 0x6f72_6465);
        Self { len, key: Some(key), half_bits: bits.div_ceil(2).max(1) }
    }

    /// Number of samples.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The source's index of the sample at `position`, both below [`Order::len`].
    pub fn index(&self, position: u64) -> u64 {
        self.walk(position, |key, value| (0..ROUNDS).fold(value, |v, round| self.forward(key, v, round)))
    }

    /// The position at which the sample `index` comes: the inverse of [`Order::index`].
    pub fn position(&self, index: u64) -> u64 {
        self.walk(index, |key, value| (0..ROUNDS).rev().fold(value, |v, round| self.backward(key, v, round)))
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

    /// Follows the bijection's cycle until it is inside again; less than four steps on average.
    fn walk(&self, start: u64, permute: impl Fn(u64, u64) -> u64) -> u64 {
        debug_assert!(start < self.len, "{start} is not below {}", self.len);
        let Some(key) = self.key else { return start };
        let mut value = permute(key, start);
        // An argument out of range must not walk for ever; a valid one always returns.
        while value >= self.len && value != start {
            value = permute(key, value);
        }
        value
    }

    fn forward(&self, key: u64, value: u64, round: u64) -> u64 {
        let (left, right) = self.halves(value);
        right << self.half_bits | (left ^ self.scramble(key, round, right))
    }

    fn backward(&self, key: u64, value: u64, round: u64) -> u64 {
        let (right, mixed) = self.halves(value);
        (mixed ^ self.scramble(key, round, right)) << self.half_bits | right
    }

    fn halves(&self, value: u64) -> (u64, u64) {
        (value >> self.half_bits, value & self.mask())
    }

    fn scramble(&self, key: u64, round: u64, half: u64) -> u64 {
        mix(key ^ (round << 56), half) & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
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
                assert_eq!(order.position(order.index(position)), position, "length {len}");
            }
        }
    }

    #[test]
    fn without_shuffle_the_order_is_the_sources_own() {
        assert!(listed(Order::sequential(9)).into_iter().eq(0..9));
        assert_eq!(Order::sequential(9).position(4), 4);
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
}
