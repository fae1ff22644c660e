//! Data sets one after the other, each shuffled within itself.

use super::Shuffle;
use super::within::Within;
use crate::rng::{Domain, mix};
use std::sync::Arc;

/// The order of data sets that end at `ends`, in an index that counts them all.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    ends: Arc<[u64]>,
    orders: Arc<[Within]>,
}

impl Chain {
    /// `shard_ends` are those of all data sets, where shards count.
    pub(super) fn new(ends: &Arc<[u64]>, shuffle: Shuffle, shard_ends: &[u64], key: u64) -> Self {
        let orders = (0..ends.len()).map(|set| {
            let (start, end) = (start(ends, set), ends[set]);
            let own = shard_ends.iter().filter(|&&shard| shard > start && shard <= end);
            let own: Arc<[u64]> = own.map(|shard| shard - start).collect();
            Within::new(shuffle, end - start, &own, mix(mix(key, Domain::Mixture.tag()), set as u64))
        });
        Self { orders: orders.collect(), ends: Arc::clone(ends) }
    }

    /// The sample at `position`.
    pub(super) fn index(&self, position: u64) -> u64 {
        let (set, start) = self.set(position);
        start + self.orders[set].index(position - start)
    }

    /// The position of the sample `index`.
    pub(super) fn position(&self, index: u64) -> u64 {
        let (set, start) = self.set(index);
        start + self.orders[set].position(index - start)
    }

    /// The data set that has the sample at `value`, a position or an index, and where it begins.
    fn set(&self, value: u64) -> (usize, u64) {
        let set = self.ends.partition_point(|&end| end <= value);
        (set, start(&self.ends, set))
    }
}

/// Where data set `set` of those that end at `ends` begins.
fn start(ends: &[u64], set: usize) -> u64 {
    set.checked_sub(1).map_or(0, |before| ends[before])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_data_set_comes_in_one_piece_in_its_place_and_shuffled_by_itself() {
        let (ends, shard_ends): (Arc<[u64]>, _) = ([5, 5, 30, 131].into(), [2, 5, 12, 30, 80, 131]);
        for shuffle in [Shuffle::Off, Shuffle::Full, Shuffle::Window(8), Shuffle::Shards(1)] {
            let chain = Chain::new(&ends, shuffle, &shard_ends, 7);
            let order: Vec<u64> = (0..131).map(|position| chain.index(position)).collect();
            assert!((0..131).all(|index| order[chain.position(index) as usize] == index));
            for (from, to) in [(0, 5), (5, 30), (30, 131)] {
                let mut own = order[from..to].to_vec();
                assert!(shuffle == Shuffle::Off || to == 5 || !own.is_sorted(), "{shuffle:?}");
                own.sort_unstable();
                assert!(own.into_iter().eq(from as u64..to as u64), "{shuffle:?}");
            }
        }
        // Data sets of one length have orders of their own.
        let twins = Chain::new(&[40, 80].into(), Shuffle::Full, &[], 7);
        assert!((0..40).any(|position| twins.index(position) + 40 != twins.index(position + 40)));
    }
}
