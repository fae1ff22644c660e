//! A keyed bijection over `0..len`: a Feistel network over the next power of four, walked until it lands inside.

use crate::rng::mix;

/// Rounds of the network; four suffice for uncorrelated neighbours, twice that costs nothing beside a decode.
const ROUNDS: u64 = 8;

/// A random order of `len` numbers, computed number by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permutation {
    len: u64,
    key: u64,
    half_bits: u32,
}

impl Permutation {
    pub(super) fn new(len: u64, key: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, key, half_bits: bits.div_ceil(2).max(1) }
    }

    /// The number that `value`, which is below the length, becomes.
    pub(super) fn forward(&self, value: u64) -> u64 {
        self.walk(value, |value| (0..ROUNDS).fold(value, |v, round| self.round(v, round)))
    }

    /// The inverse of [`Permutation::forward`].
    pub(super) fn backward(&self, value: u64) -> u64 {
        self.walk(value, |value| (0..ROUNDS).rev().fold(value, |v, round| self.undo(v, round)))
    }

    /// Follows the bijection's cycle until it is inside again; less than four steps on average.
    fn walk(&self, start: u64, permute: impl Fn(u64) -> u64) -> u64 {
        debug_assert!(start < self.len, "{start} is not below {}", self.len);
        let mut value = permute(start);
        // An argument out of range must not walk for ever; a valid one always returns.
        while value >= self.len && value != start {
            value = permute(value);
        }
        value
    }

    fn round(&self, value: u64, round: u64) -> u64 {
        let (left, right) = self.halves(value);
        right << self.half_bits | (left ^ self.scramble(round, right))
    }

    fn undo(&self, value: u64, round: u64) -> u64 {
        let (right, mixed) = self.halves(value);
        (mixed ^ self.scramble(round, right)) << self.half_bits | right
    }

    fn halves(&self, value: u64) -> (u64, u64) {
        (value >> self.half_bits, value & self.mask())
    }

    fn scramble(&self, round: u64, half: u64) -> u64 {
        mix(self.key ^ (round << 56), half) & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_exactly_once_for_all_small_lengths() {
        for len in 1..=2000 {
            let permutation = Permutation::new(len, mix(len, 3));
            let mut seen = vec![false; len as usize];
            for value in 0..len {
                let there = permutation.forward(value) as usize;
                assert!(!std::mem::replace(&mut seen[there], true), "{there} came twice, length {len}");
            }
        }
    }

    #[test]
    fn backward_undoes_forward_at_a_hundred_thousand_points_of_each_random_length() {
        let mut key = 1;
        for magnitude in (0..40).step_by(2) {
            key = mix(key, 17);
            let len = (key >> 24 >> magnitude).max(1);
            let permutation = Permutation::new(len, key);
            for _ in 0..100_000 {
                key = mix(key, 17);
                let value = key % len;
                let there = permutation.forward(value);
                assert!(there < len);
                assert_eq!(permutation.backward(there), value, "length {len}");
            }
        }
    }
}
