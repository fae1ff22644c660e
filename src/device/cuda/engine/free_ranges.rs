//! The parts of a reservation that nobody has. What is given back joins its free neighbours, so that images of any size fit
//! in any order; blocks of fixed sizes would waste a part of each.

use std::collections::BTreeMap;

/// A part of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// From the reservation's first byte.
    pub(super) start: usize,
    pub(super) bytes: usize,
    /// The last sub-batch that writes or reads it; they are counted from 1.
    pub(super) last: u64,
}

/// Free blocks by their start; no two of them touch.
pub(super) struct FreeRanges(BTreeMap<usize, Block>);

impl FreeRanges {
    /// A reservation of so many bytes, all of them free.
    pub(super) fn new(bytes: usize) -> Self {
        Self((bytes > 0).then_some((0, Block { start: 0, bytes, last: 0 })).into_iter().collect())
    }

    /// The front of the smallest block that holds `bytes`.
    pub(super) fn take(&mut self, bytes: usize) -> Option<Block> {
        let fitting = self.0.values().filter(|block| block.bytes >= bytes);
        let block = *fitting.min_by_key(|block| block.bytes)?;
        self.0.remove(&block.start);
        if block.bytes > bytes {
            let rest = Block { start: block.start + bytes, bytes: block.bytes - bytes, ..block };
            self.0.insert(rest.start, rest);
        }
        Some(Block { bytes, ..block })
    }

    /// Frees a block, once the host needs it no more; the device may still be using it.
    pub(super) fn give_back(&mut self, block: Block) {
        let mut joined = block;
        if let Some(behind) = self.0.remove(&(block.start + block.bytes)) {
            joined.bytes += behind.bytes;
            joined.last = joined.last.max(behind.last);
        }
        let before = self.0.range(..block.start).next_back().map(|(_, &before)| before);
        if let Some(before) = before.filter(|before| before.start + before.bytes == block.start) {
            joined.start = before.start;
            joined.bytes += before.bytes;
            joined.last = joined.last.max(before.last);
        }
        self.0.insert(joined.start, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::mix;

    #[test]
    fn what_is_taken_never_overlaps_and_all_of_it_comes_back() {
        const BYTES: usize = 10_000;
        let (mut free, mut held) = (FreeRanges::new(BYTES), Vec::<Block>::new());
        for last in 1..5000 {
            let bytes = 1 + mix(1, last) as usize % 900;
            match free.take(bytes) {
                Some(block) => {
                    assert_eq!(block.bytes, bytes);
                    assert!(block.start + bytes <= BYTES && block.last < last);
                    let apart = |other: &Block| {
                        block.start + bytes <= other.start || other.start + other.bytes <= block.start
                    };
                    assert!(held.iter().all(apart), "{block:?} of {held:?}");
                    held.push(Block { last, ..block });
                }
                None => {
                    let at = mix(2, last) as usize % held.len();
                    free.give_back(held.swap_remove(at));
                }
            }
            let held_bytes: usize = held.iter().map(|block| block.bytes).sum();
            assert_eq!(free.0.values().map(|block| block.bytes).sum::<usize>() + held_bytes, BYTES);
        }
        let latest = held.iter().map(|block| block.last).max();
        held.into_iter().for_each(|block| free.give_back(block));
        let whole = free.take(BYTES).unwrap();
        assert!(whole.start == 0 && Some(whole.last) >= latest, "{whole:?}");
    }

    #[test]
    fn joined_memory_remembers_the_last_user_of_all_of_it() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for latest in 0..3 {
                let mut free = FreeRanges::new(30);
                let blocks = [10; 3].map(|bytes| free.take(bytes).unwrap());
                for at in order {
                    free.give_back(Block { last: if at == latest { 7 } else { 2 }, ..blocks[at] });
                }
                assert_eq!(free.take(30), Some(Block { start: 0, bytes: 30, last: 7 }));
            }
        }
    }

    #[test]
    fn the_smallest_block_that_fits_is_taken() {
        let mut free = FreeRanges::new(100);
        let blocks: Vec<Block> = [30, 10, 20, 10, 30].map(|bytes| free.take(bytes).unwrap()).to_vec();
        assert!(free.take(1).is_none());
        [blocks[0], blocks[2], blocks[4]].into_iter().for_each(|block| free.give_back(block));
        assert_eq!(free.take(15).map(|block| block.start), Some(40));
        assert_eq!(free.take(31), None);
    }
}
