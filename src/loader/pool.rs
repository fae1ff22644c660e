//! The output buffers: reserved at the start, handed to workers, then to the consumer, and back.

use super::memory::{Filled, Maker, Slot};
use crate::error::Result;

/// Batch memory and who has it.
pub(super) struct Pool {
    /// Last in, first out, so that a slot that was never needed is never touched.
    free: Vec<Slot>,
    maker: Maker,
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
    ///
    /// # Errors
    /// Where a device has not the memory for them.
    pub(super) fn new(maker: Maker, allowed: usize, reserved: usize) -> Result<Self> {
        let free = (0..reserved).map(|_| maker.make()).collect::<Result<_>>()?;
        Ok(Self { free, maker, filling: 0, held: 0, allowed, reserved })
    }

    /// A slot to fill, or none when all are in use.
    ///
    /// A consumer that keeps all its batches still gets one more, or it would wait for ever: it pays with memory.
    ///
    /// # Errors
    /// Where a device has not the memory for that one more.
    pub(super) fn open(&mut self) -> Result<Option<Slot>> {
        if self.filling + self.held >= self.allowed.max(self.held + 1) {
            return Ok(None);
        }
        let slot = self.free.pop().map_or_else(|| self.maker.make(), Ok)?;
        self.filling += 1;
        Ok(Some(slot))
    }

    /// A slot goes from the workers to the consumer.
    pub(super) fn hand_over(&mut self) {
        self.filling -= 1;
        self.held += 1;
    }

    /// A slot comes back from the consumer. What is returned is one too many, to be freed where nobody waits for it:
    /// a device's memory is freed behind all that the device has to do.
    #[must_use = "it is to be freed outside the lock"]
    pub(super) fn give_back(&mut self, filled: Filled) -> Option<Filled> {
        self.held -= 1;
        self.keep(filled)
    }

    /// A slot comes back from the workers of an epoch that was broken off; as [`Pool::give_back`].
    #[must_use = "it is to be freed outside the lock"]
    pub(super) fn abandon(&mut self, slot: Slot) -> Option<Filled> {
        self.filling -= 1;
        self.keep(slot.finish())
    }

    /// Allows one slot more, if one is reserved.
    pub(super) fn grow(&mut self) {
        self.allowed = (self.allowed + 1).min(self.reserved);
    }

    pub(super) fn allowed(&self) -> usize {
        self.allowed
    }

    fn keep(&mut self, filled: Filled) -> Option<Filled> {
        if self.free.len() + self.filling + self.held >= self.reserved {
            return Some(filled);
        }
        self.free.push(filled.reuse());
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(allowed: usize, reserved: usize) -> Pool {
        Pool::new(Maker::Host { rows: 1, row_bytes: 1 }, allowed, reserved).unwrap()
    }

    #[test]
    fn as_many_slots_are_in_use_as_are_allowed() {
        let mut pool = pool(2, 3);
        let first = pool.open().unwrap().unwrap();
        assert!(pool.open().unwrap().is_some());
        assert!(pool.open().unwrap().is_none());
        assert!(pool.abandon(first).is_none());
        assert!(pool.open().unwrap().is_some());
        pool.grow();
        assert!(pool.open().unwrap().is_some());
        pool.grow();
        assert_eq!(pool.allowed(), 3);
    }

    #[test]
    fn a_consumer_that_keeps_everything_gets_one_more_each_time() {
        let mut pool = pool(2, 2);
        let mut kept = Vec::new();
        for _ in 0..10 {
            kept.push(pool.open().unwrap().unwrap().finish());
            pool.hand_over();
        }
        let surplus = kept.into_iter().filter_map(|filled| pool.give_back(filled)).count();
        assert_eq!(surplus, 8);
        assert_eq!((pool.free.len(), pool.held), (2, 0));
    }
}
