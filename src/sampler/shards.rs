//! A shuffle that reads few shards at a time: shards come in a random order, and the records of some of them are mixed.

use super::permutation::Permutation;
use crate::rng::{Domain, mix};
use std::sync::Arc;

/// The order of records that lie in shards of any length.
#[derive(Clone, Debug)]
pub(super) struct Shards {
    /// The end of each shard, in the source's order.
    ends: Arc<[u64]>,
    /// Of the shards.
    order: Permutation,
    /// The end of each shard, in the epoch's order.
    comes_to: Arc<[u64]>,
    /// Shards whose records are mixed with each other.
    mixed: u64,
    key: u64,
}

impl Shards {
    /// The records of shards that end at `ends`, which rise; `mixed` of them at a time.
    pub(super) fn new(ends: Arc<[u64]>, mixed: u64, key: u64) -> Self {
        let count = ends.len() as u64;
        let order = Permutation::new(count, mix(key, Domain::Shards.tag()));
        let mut sum = 0;
        let length = |place| {
            let shard = order.forward(place) as usize;
            sum += ends[shard] - start(&ends, shard);
            sum
        };
        let comes_to = (0..count).map(length).collect();
        Self { order, comes_to, mixed: mixed.clamp(1, count.max(1)), key, ends }
    }

    /// The record at `position`.
    pub(super) fn index(&self, position: u64) -> u64 {
        let place = place(&self.comes_to, position);
        let (first, within) = self.group(place as u64);
        let mixed = first + within.forward(position - first);
        let place = self::place(&self.comes_to, mixed);
        let shard = self.order.forward(place as u64) as usize;
        start(&self.ends, shard) + mixed - start(&self.comes_to, place)
    }

    /// The position of the record `index`.
    pub(super) fn position(&self, index: u64) -> u64 {
        let shard = place(&self.ends, index);
        let place = self.order.backward(shard as u64);
        let mixed = start(&self.comes_to, place as usize) + index - start(&self.ends, shard);
        let (first, within) = self.group(place);
        first + within.backward(mixed - first)
    }

    /// The first position of the group that the shard at `place` belongs to, and the order within it.
    fn group(&self, place: u64) -> (u64, Permutation) {
        let begin = place / self.mixed * self.mixed;
        let end = (begin + self.mixed).min(self.comes_to.len() as u64);
        let first = start(&self.comes_to, begin as usize);
        (first, Permutation::new(self.comes_to[end as usize - 1] - first, mix(self.key, begin)))
    }
}

/// The beginning of part `number` of those that end at `ends`.
fn start(ends: &[u64], number: usize) -> u64 {
    number.checked_sub(1).map_or(0, |before| ends[before])
}

/// The part that holds `value`.
fn place(ends: &[u64], value: u64) -> usize {
    ends.partition_point(|&end| end <= value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_comes_once_and_each_group_of_shards_in_one_piece() {
        let lengths = [3u64, 0, 11, 1, 40, 7, 7, 2];
        for count in 1..=lengths.len() {
            let ends: Arc<[u64]> = (1..=count).map(|shards| lengths[..shards].iter().sum()).collect();
            let len = ends[count - 1];
            for mixed in [1, 2, 3, 8, u64::MAX] {
                let shards = Shards::new(ends.clone(), mixed, mix(len, mixed));
                let order: Vec<u64> = (0..len).map(|position| shards.index(position)).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..len), "{count} shards, {mixed} mixed");
                assert!((0..len).all(|index| order[shards.position(index) as usize] == index));
                // From its first record to its last a shard is being read.
                let spans: Vec<(usize, usize)> = (0..count)
                    .filter_map(|shard| {
                        let of_shard = |&index: &u64| place(&ends, index) == shard;
                        Some((order.iter().position(of_shard)?, order.iter().rposition(of_shard)?))
                    })
                    .collect();
                for at in 0..order.len() {
                    let open = spans.iter().filter(|(first, last)| (*first..=*last).contains(&at)).count();
                    assert!(open as u64 <= mixed, "{open} shards are read at once, {mixed} mixed");
                }
            }
        }
    }

    #[test]
    fn keys_give_different_orders_of_shards_and_of_records() {
        let ends: Arc<[u64]> = (1..=20).map(|shard| shard * 50).collect();
        let order = |key| {
            let shards = Shards::new(ends.clone(), 4, key);
            (0..1000).map(|position| shards.index(position)).collect::<Vec<_>>()
        };
        let same = order(1).iter().zip(order(2)).filter(|(a, b)| *a == b).count();
        assert!(same < 20, "{same} of 1000 records stayed in place");
    }
}
