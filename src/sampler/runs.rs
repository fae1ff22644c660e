//! A shuffle that keeps reading local: runs of consecutive records come in a random order, each shuffled within itself.

use super::permutation::Permutation;
use crate::rng::{Domain, mix};

/// The order of records that lie in runs of `size`, the last one perhaps shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Runs {
    len: u64,
    size: u64,
    key: u64,
    /// Of the runs.
    order: Permutation,
    /// The position of the last run.
    last_at: u64,
    /// Records that the last run lacks.
    lacking: u64,
}

impl Runs {
    pub(super) fn new(len: u64, size: u64, key: u64) -> Self {
        let size = size.clamp(1, len.max(1));
        let count = len.div_ceil(size).max(1);
        let order = Permutation::new(count, mix(key, Domain::Runs.tag()));
        let lacking = count * size - len;
        Self { len, size, key, order, last_at: order.backward(count - 1), lacking }
    }

    /// The record at `position`.
    pub(super) fn index(&self, position: u64) -> u64 {
        // After the short run everything comes earlier; filling it up makes all runs alike.
        let short_end = (self.last_at + 1) * self.size - self.lacking;
        let filled = if position < short_end { position } else { position + self.lacking };
        let run = self.order.forward(filled / self.size);
        run * self.size + self.within(run).forward(filled % self.size)
    }

    /// The position of the record `index`.
    pub(super) fn position(&self, index: u64) -> u64 {
        let run = index / self.size;
        let at = self.order.backward(run);
        let filled = at * self.size + self.within(run).backward(index % self.size);
        if at > self.last_at { filled - self.lacking } else { filled }
    }

    /// The order within a run.
    fn within(&self, run: u64) -> Permutation {
        Permutation::new(self.size.min(self.len - run * self.size), mix(self.key, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_comes_once_and_each_run_in_one_piece() {
        for len in 1..=130u64 {
            for size in [1, 2, 7, 8, 64, 129, 130, u64::MAX] {
                let runs = Runs::new(len, size, mix(len, size));
                let order: Vec<u64> = (0..len).map(|position| runs.index(position)).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..len), "{len} in runs of {size}");
                assert!((0..len).all(|index| order[runs.position(index) as usize] == index));
                let mut pieces: Vec<u64> = order.iter().map(|index| index / size).collect();
                pieces.dedup();
                assert_eq!(pieces.len() as u64, len.div_ceil(size), "a run was torn");
            }
        }
    }
}
