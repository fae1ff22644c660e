//! The output buffers: reserved at the start, handed to workers, then to the consumer, and back.

use crate::device::backend::{BufferAllocator, view_starts};
use crate::error::{Error, Result};
use crate::machine;
use crate::output::Output;
use std::sync::Arc;

/// Maximum bytes of all buffers together: 64 GiB.
const MAX_BUFFER_BYTES: usize = 64 << 30;

/// Bytes of each view of a sample, where all buffers stay under their bound.
pub(in crate::loader) fn checked_bytes(
    outputs: &[Output],
    rows: usize,
    buffers: usize,
) -> Result<Vec<usize>> {
    let each: Vec<usize> = outputs.iter().map(Output::sample_bytes).collect();
    let bytes = each.iter().fold(0usize, |all, &one| all.saturating_add(one));
    let total =
        view_starts(rows, each.iter().copied()).and_then(|starts| starts.last()?.checked_mul(buffers));
    match total.filter(|&total| total <= MAX_BUFFER_BYTES) {
        Some(_) => Ok(each),
        None => Err(Error::config(format!(
            "{buffers} batches of {rows} samples of {bytes} bytes are more than {MAX_BUFFER_BYTES} bytes: use a smaller \
             batch_size or prefetch"
        ))),
    }
}

/// How many of up to `reserved` buffers the system has memory for.
///
/// # Errors
/// Where that is fewer than `needed`: the system would end the process while a batch is filled.
pub(in crate::loader) fn backed(
    row_bytes: usize,
    rows: usize,
    needed: usize,
    reserved: usize,
) -> Result<usize> {
    let Some(has) = machine::memory() else { return Ok(reserved) };
    let batch = row_bytes as u64 * rows as u64;
    let fit = has.checked_div(batch).unwrap_or(u64::MAX);
    if fit < needed as u64 {
        return Err(Error::config(format!(
            "{needed} batches of {rows} samples of {row_bytes} bytes do not fit into the {has} bytes of memory that this \
             process may use: use a smaller batch_size or prefetch"
        )));
    }
    Ok(usize::try_from(fit).unwrap_or(usize::MAX).min(reserved))
}

/// Batch memory, and how much of it is in use.
pub(super) struct BufferPool<A: BufferAllocator> {
    /// Last in, first out, so that a buffer that was never needed is never touched.
    free: Vec<A::Buffer>,
    allocator: Arc<A>,
    /// Buffers that workers fill, or that are finished and not yet taken.
    filling: usize,
    /// Buffers in the consumer's batches.
    held: usize,
    /// Buffers that may be in use at once; automatic prefetch raises it up to `reserved`.
    allowed: usize,
    reserved: usize,
}

impl<A: BufferAllocator> BufferPool<A> {
    /// Reserves `reserved` buffers and allows `allowed` of them.
    ///
    /// # Errors
    /// Where a device has not the memory for them.
    pub(super) fn new(allocator: Arc<A>, allowed: usize, reserved: usize) -> Result<Self> {
        let free = (0..reserved).map(|_| allocator.allocate()).collect::<Result<_>>()?;
        Ok(Self { free, allocator, filling: 0, held: 0, allowed, reserved })
    }

    /// A buffer to fill, or none when all are in use.
    ///
    /// A consumer that keeps all its batches still gets one more, or it would wait for ever: it pays with memory.
    ///
    /// # Errors
    /// Where a device has not the memory for that one more.
    pub(super) fn take(&mut self) -> Result<Option<A::Buffer>> {
        if self.filling + self.held >= self.allowed.max(self.held + 1) {
            return Ok(None);
        }
        let buffer = self.free.pop().map_or_else(|| self.allocator.allocate(), Ok)?;
        self.filling += 1;
        Ok(Some(buffer))
    }

    /// A buffer goes from the workers to the consumer.
    pub(super) fn hand_over(&mut self) {
        self.filling -= 1;
        self.held += 1;
    }

    /// A buffer comes back from the consumer. What is returned is one too many, to be freed without the lock: freeing a
    /// device's memory waits for all that the device has to do.
    #[must_use = "it is to be freed outside the lock"]
    pub(super) fn give_back(&mut self, ready: A::Ready) -> Option<A::Ready> {
        self.held -= 1;
        self.keep(ready)
    }

    /// A buffer comes back from the workers of an epoch that was broken off; as [`BufferPool::give_back`].
    #[must_use = "it is to be freed outside the lock"]
    pub(super) fn abandon(&mut self, buffer: A::Buffer) -> Option<A::Ready> {
        self.filling -= 1;
        self.keep(A::finish(buffer))
    }

    /// Allows one buffer more, if one is reserved.
    pub(super) fn grow(&mut self) {
        self.allowed = (self.allowed + 1).min(self.reserved);
    }

    pub(super) fn allowed(&self) -> usize {
        self.allowed
    }

    fn keep(&mut self, ready: A::Ready) -> Option<A::Ready> {
        if self.free.len() + self.filling + self.held >= self.reserved {
            return Some(ready);
        }
        self.free.push(A::reuse(ready));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_beyond_all_memory_are_refused_with_their_sizes() {
        assert_eq!(backed(1000, 1000, 4, 6).unwrap(), 6);
        assert_eq!(backed(0, 1000, 4, 6).unwrap(), 6);
        let Some(has) = machine::memory() else {
            return println!("NOT RUN: the system does not say how much memory it has");
        };
        assert_eq!(
            backed(has as usize / 5, 1, 4, 6).unwrap(),
            5,
            "what is reserved and not needed must fit too"
        );
        let error = backed(has as usize / 2, 1, 3, 3).unwrap_err().to_string();
        assert!(error.contains(&has.to_string()) && error.contains("batch_size"), "{error}");
    }
    use crate::loader::queue::model::Allocator;

    fn pool(allowed: usize, reserved: usize) -> BufferPool<Allocator<false>> {
        BufferPool::new(Arc::default(), allowed, reserved).unwrap()
    }

    #[test]
    fn as_many_buffers_are_in_use_as_are_allowed() {
        let mut pool = pool(2, 3);
        let first = pool.take().unwrap().unwrap();
        assert!(pool.take().unwrap().is_some());
        assert!(pool.take().unwrap().is_none());
        assert!(pool.abandon(first).is_none());
        assert!(pool.take().unwrap().is_some());
        pool.grow();
        assert!(pool.take().unwrap().is_some());
        pool.grow();
        assert_eq!(pool.allowed(), 3);
    }

    #[test]
    fn a_consumer_that_keeps_everything_gets_one_more_each_time() {
        let mut pool = pool(2, 2);
        let mut kept = Vec::new();
        for _ in 0..10 {
            kept.push(pool.take().unwrap().unwrap());
            pool.hand_over();
        }
        let surplus = kept.into_iter().filter_map(|ready| pool.give_back(ready)).count();
        assert_eq!(surplus, 8);
        assert_eq!((pool.free.len(), pool.held), (2, 0));
    }
}
