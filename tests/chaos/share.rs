//! Which positions of an epoch a rank shows, worked out one by one. It shares nothing with `src/sampler`.

use crate::case::Stretch;
use feedline::loader::LastBatch;

/// A position of the epoch's order, and whether it only fills a batch up.
pub(crate) type Place = (usize, bool);

/// What is left of an epoch.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    /// Positions of the epoch.
    all: usize,
    /// Positions that are still to be shown, in order.
    rest: Vec<usize>,
    /// Consecutive positions that go to one rank, as long as the epoch has not been resumed by others.
    block: usize,
}

impl Left {
    pub(crate) fn whole(all: usize, block: usize) -> Self {
        Self { all, rest: (0..all).collect(), block }
    }

    /// The batches of each rank.
    pub(crate) fn batches(&self, stretch: &Stretch, last: LastBatch) -> Vec<Vec<Vec<Place>>> {
        let ranks = stretch.ranks;
        let mut own: Vec<Vec<Place>> = vec![Vec::new(); ranks];
        let mut rest = self.rest.iter().copied();
        // Whole blocks, as long as there is one for each rank; then one by one.
        for _ in 0..self.rest.len() / (self.block * ranks) {
            for places in &mut own {
                places.extend(rest.by_ref().take(self.block).map(|position| (position, false)));
            }
        }
        for (rank, position) in rest.enumerate() {
            own[rank % ranks].push((position, false));
        }
        let rows = match last {
            LastBatch::Drop => self.rest.len() / ranks / stretch.batch_size * stretch.batch_size,
            LastBatch::Partial => self.rest.len().div_ceil(ranks),
            LastBatch::Pad => {
                self.rest.len().div_ceil(ranks).div_ceil(stretch.batch_size) * stretch.batch_size
            }
        };
        // Behind the last position the order begins again, dealt on in turn.
        let mut next = 0;
        while own.iter().any(|places| places.len() < rows) {
            own[(self.rest.len() + next) % ranks].push((next % self.all, true));
            next += 1;
        }
        let cut =
            |places: &Vec<Place>| places[..rows].chunks(stretch.batch_size).map(<[Place]>::to_vec).collect();
        own.iter().map(cut).collect()
    }

    /// What is left when each rank has shown `batches` of its batches, and whether `next` goes on as the ranks before would.
    pub(crate) fn after(
        &mut self,
        stretch: &Stretch,
        last: LastBatch,
        batches: usize,
        next: &Stretch,
    ) -> bool {
        let goes_on = (stretch.ranks, stretch.batch_size) == (next.ranks, next.batch_size);
        if goes_on {
            return true;
        }
        let shown = self.batches(stretch, last);
        let gone: Vec<usize> =
            shown.iter().flat_map(|rank| rank.iter().take(batches).flatten()).map(|place| place.0).collect();
        self.rest.retain(|position| !gone.contains(position));
        self.block = 1;
        false
    }
}
