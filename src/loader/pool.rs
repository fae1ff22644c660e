//! The output buffers: reserved at the start, handed to workers, then to the consumer, and back.

use crate::device::batch::{Filled, Slot};

/// Batch memory and who has it.
pub(super) struct Pool {
    /// Last in, first out, so that a slot that was never needed is never touched.
    free: Vec<Slot>,
    rows: usize,
    row_bytes: usize,
    /// Slots that workers fill or that stand ready.
    filling: usize,
    /// Slots in the consumer's batches.
    held: usize,
    /// Slots that may be in use at once; automatic prefetch raises it up to `reserved`.
    allowed: usize,
    reserved: usize,
}

impl Pool {
    /// Reserves `reserved` slots and allows `allowed` of them.
    pub(super) fn new(rows: usize, row_bytes: usize, allowed: usize, reserved: usize) -> Self {
        let free = (0..reserved).map(|_| Slot::new(rows, row_bytes)).collect();
        Self { free, rows, row_bytes, filling: 0, held: 0, allowed, reserved }
    }

    /// A slot to fill, or none when all are in use.
    ///
    /// A consumer that keeps all its batches still gets one more, or it would wait for ever: it pays with memory.
    pub(super) fn open(&mut self) -> Option<Slot> {
        if self.filling + self.held >= self.allowed.max(self.held + 1) {
            return None;
        }
        self.filling += 1;
        Some(self.free.pop().unwrap_or_else(|| Slot::new(self.rows, self.row_bytes)))
    }

    /// A slot goes from the workers to the consumer.
    pub(super) fn hand_over(&mut self) {
        self.filling -= 1;
        self.held += 1;
    }

    /// A slot comes back from the consumer.
    pub(super) fn give_back(&mut self, filled: Filled) {
        self.held -= 1;
        self.keep(filled);
    }

    /// A slot comes back from the workers of an epoch that was broken off.
    pub(super) fn abandon(&mut self, slot: Slot) {
        self.filling -= 1;
        self.keep(slot.finish());
    }

    /// Allows one slot more, if one is reserved.
    pub(super) fn grow(&mut self) {
        self.allowed = (self.allowed + 1).min(self.reserved);
    }

    pub(super) fn allowed(&self) -> usize {
        self.allowed
    }

    fn keep(&mut self, filled: Filled) {
        if self.free.len() + self.filling + self.held < self.reserved {
            self.free.push(filled.reuse());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_slots_are_in_use_as_are_allowed() {
        let mut pool = Pool::new(1, 1, 2, 3);
        let first = pool.open().unwrap();
        assert!(pool.open().is_some());
        assert!(pool.open().is_none());
        pool.abandon(first);
        assert!(pool.open().is_some());
        pool.grow();
        assert!(pool.open().is_some());
        pool.grow();
        assert_eq!(pool.allowed(), 3);
    }

    #[test]
    fn a_consumer_that_keeps_everything_gets_one_more_each_time() {
        let mut pool = Pool::new(1, 1, 2, 2);
        let mut kept = Vec::new();
        for _ in 0..10 {
            kept.push(pool.open().unwrap().finish());
            pool.hand_over();
        }
        kept.into_iter().for_each(|filled| pool.give_back(filled));
        assert_eq!((pool.free.len(), pool.held), (2, 0));
    }
}
