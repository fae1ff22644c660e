//! One rank's epoch as arithmetic: which position of which order each row of each batch shows, and in which size.

use crate::draft::Target;
use crate::geometry::Size;
use crate::loader::epoch::batch_size::Sizes;
use crate::output::Output;
use crate::policy::LastBatch;
use crate::rng::{Domain, mix};
use crate::sampler::{Consumed, Order, RankPartition};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A rank's share of an epoch's order cut into batches. Every rank has the same number of batches, of the same sizes.
#[derive(Clone, Debug)]
pub(in crate::loader) struct EpochPlan {
    pub(in crate::loader) epoch: u64,
    pub(in crate::loader) order: Order,
    pub(in crate::loader) partition: RankPartition,
    pub(in crate::loader) rank: u64,
    pub(in crate::loader) batch_size: usize,
    pub(in crate::loader) last: LastBatch,
    pub(in crate::loader) seed: u64,
    /// Of each view, and of what is shown beside it; none where nothing is rendered.
    pub(in crate::loader) outputs: Arc<[Output]>,
    /// Which size of output a batch has; where they differ there is one view.
    pub(in crate::loader) sizes: Sizes,
    /// What was dealt before, where the epoch was begun by other ranks or in other batches.
    pub(in crate::loader) consumed: Option<Consumed>,
    /// The sizes of batches that were found by planning their samples.
    pub(in crate::loader) found: Arc<Mutex<HashMap<usize, Size>>>,
}

impl EpochPlan {
    /// The exact number of batches.
    pub(in crate::loader) fn batches(&self) -> usize {
        match self.last {
            LastBatch::Drop => self.partition.at_least() as usize / self.batch_size,
            LastBatch::Partial | LastBatch::Pad => (self.rank_rows() as usize).div_ceil(self.batch_size),
        }
    }

    /// Rows of each rank, those included with which a rank that has one sample less fills up. Where samples are repeated no
    /// rank does: what the ranks cannot share evenly is left out.
    fn rank_rows(&self) -> u64 {
        if self.order.is_cut() { self.partition.at_least() } else { self.partition.at_most() }
    }

    /// Rows of batch `batch` before bad samples are taken out.
    pub(in crate::loader) fn rows(&self, batch: usize) -> usize {
        match self.last {
            LastBatch::Partial => self.batch_size.min(self.rank_rows() as usize - batch * self.batch_size),
            LastBatch::Drop | LastBatch::Pad => self.batch_size,
        }
    }

    /// The position in the epoch's order, and whether the row only fills the batch up.
    pub(in crate::loader) fn position(&self, batch: usize, row: usize) -> (u64, bool) {
        let index = (batch * self.batch_size + row) as u64;
        let (position, repeated) = self.partition.position(self.rank, index);
        (position, repeated || index >= self.rank_rows())
    }

    /// What the samples of batch `batch` become in each view and beside it; none where nothing is rendered.
    pub(in crate::loader) fn outputs(&self, batch: usize) -> Arc<[Output]> {
        match self.sizes.differ() {
            false => Arc::clone(&self.outputs),
            true => self.outputs.iter().map(|output| output.of_size(self.size(batch))).collect(),
        }
    }

    /// Bytes of a sample of batch `batch` in each output; none where nothing is rendered.
    pub(in crate::loader) fn row_bytes(&self, batch: usize) -> Vec<usize> {
        self.outputs(batch).iter().map(Output::sample_bytes).collect()
    }

    /// The batch that shows `position`, or would show it if it were not dropped, where the epoch is not a resumed one.
    pub(in crate::loader) fn batch_of(&self, position: u64) -> usize {
        (self.partition.index_in_rank(position) / self.batch_size as u64) as usize
    }

    /// Samples of the epoch that all ranks were dealt ahead of batch `batch`.
    pub(in crate::loader) fn dealt_before(&self, batch: usize) -> u64 {
        let before = self.consumed.map_or(0, |consumed| {
            consumed.world_size.saturating_mul(consumed.samples).saturating_add(consumed.more)
        });
        let rows = (batch as u64).saturating_mul(self.batch_size as u64);
        before.saturating_add(rows.saturating_mul(self.partition.ranks()))
    }

    /// The first and the last position that batch `batch` shows on any rank, where positions are dealt one by one; rows
    /// that only fill a batch up do not count.
    pub(in crate::loader) fn step(&self, batch: usize) -> (u64, u64) {
        let first = (batch * self.batch_size) as u64;
        let last = first + self.batch_size as u64 - 1;
        let end = self.order.len().saturating_sub(1);
        let own = |(position, repeated): (u64, bool)| if repeated { end } else { position };
        (
            own(self.partition.position(0, first)),
            own(self.partition.position(self.partition.ranks() - 1, last)),
        )
    }

    /// The size of batch `batch`: the same on all ranks, but where it is that of its own largest sample.
    pub(in crate::loader) fn size(&self, batch: usize) -> Size {
        if let Some(padded) = self.sizes.padded() {
            if let Some(found) = self.found().get(&batch) {
                return *found;
            }
            let positions = (0..self.rows(batch)).map(|row| self.position(batch, row).0);
            // Without the lock, since it calls what others wrote.
            let size = padded.size(self.epoch, &self.order, positions);
            self.found().insert(batch, size);
            return size;
        }
        self.sizes.size((self.seed, self.epoch, self.dealt_before(batch)), || self.step(batch))
    }

    /// Whether the size of batch `batch` is known without planning its samples.
    pub(in crate::loader) fn is_sized(&self, batch: usize) -> bool {
        self.sizes.padded().is_none() || self.found().contains_key(&batch)
    }

    fn found(&self) -> MutexGuard<'_, HashMap<usize, Size>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What augmentations make for batch `batch`; `None` where batches have one size.
    pub(in crate::loader) fn target(&self, batch: usize) -> Option<Target> {
        self.sizes.target(self.size(batch))
    }

    /// The index of the sample that takes the place of a bad one at `position`, at the `attempt`th try.
    pub(in crate::loader) fn substitute(&self, position: u64, attempt: u32) -> u64 {
        let key = mix(
            mix(mix(mix(0, self.seed), self.epoch), position),
            Domain::Substitute.tag() + u64::from(attempt),
        );
        self.order.any(((u128::from(key) * u128::from(self.order.len())) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(samples: u64, batch_size: usize, last: LastBatch) -> EpochPlan {
        of_rank(samples, batch_size, last, 0, 1)
    }

    fn of_rank(samples: u64, batch_size: usize, last: LastBatch, rank: u64, ranks: u64) -> EpochPlan {
        let (order, partition) = (Order::sequential(samples), RankPartition::new(samples, ranks, 1));
        let (outputs, sizes) = (Arc::default(), Sizes::none());
        EpochPlan {
            epoch: 0,
            order,
            partition,
            rank,
            batch_size,
            last,
            seed: 1,
            outputs,
            sizes,
            consumed: None,
            found: Arc::default(),
        }
    }

    #[test]
    fn the_number_of_batches_and_rows_is_exact() {
        for samples in 1..40u64 {
            for size in 1..10 {
                let rows = |last| -> Vec<usize> {
                    let plan = plan(samples, size, last);
                    (0..plan.batches()).map(|batch| plan.rows(batch)).collect()
                };
                assert_eq!(rows(LastBatch::Drop), vec![size; samples as usize / size]);
                assert_eq!(rows(LastBatch::Pad), vec![size; (samples as usize).div_ceil(size)]);
                let partial = rows(LastBatch::Partial);
                assert_eq!(partial.iter().sum::<usize>() as u64, samples);
                assert!(partial.iter().all(|&rows| (1..=size).contains(&rows)));
            }
        }
    }

    #[test]
    fn padding_starts_again_at_the_first_position() {
        let plan = plan(5, 4, LastBatch::Pad);
        let rows: Vec<_> = (0..4).map(|row| plan.position(1, row)).collect();
        assert_eq!(rows, [(4, false), (0, true), (1, true), (2, true)]);
    }

    #[test]
    fn every_rank_makes_the_same_steps_of_the_same_sizes() {
        for samples in [1, 5, 12, 13, 64] {
            for ranks in 1..=17 {
                for last in [LastBatch::Drop, LastBatch::Partial, LastBatch::Pad] {
                    let rows = |rank| -> Vec<usize> {
                        let plan = of_rank(samples, 2, last, rank, ranks);
                        (0..plan.batches()).map(|batch| plan.rows(batch)).collect()
                    };
                    assert!((1..ranks).all(|rank| rows(rank) == rows(0)));
                    let total = rows(0).iter().sum::<usize>() as u64 * ranks;
                    let most = match last {
                        LastBatch::Drop => samples,
                        LastBatch::Partial => samples + ranks - 1,
                        LastBatch::Pad => samples + 2 * ranks - 1,
                    };
                    assert!(total <= most, "{total} rows for {samples} samples, {last:?}");
                }
            }
        }
    }

    #[test]
    fn substitutes_are_drawn_from_the_whole_set() {
        let plan = plan(10, 4, LastBatch::Drop);
        let drawn: std::collections::HashSet<u64> = (0..64).map(|at| plan.substitute(3, at)).collect();
        assert_eq!(drawn.len(), 10);
        assert!(drawn.iter().all(|&index| index < 10));
    }
}
