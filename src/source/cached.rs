//! Compressed bytes that are kept in memory, around any source.

use super::{Destination, IoStats, Source, Version};
use crate::error::Result;
use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Keeps the first records that are read, up to a limit of bytes, and returns them from memory from then on.
///
/// What is kept stays: an epoch shows each record once, so that a cache that made room for the latest would throw each
/// record away just before it is needed again. A cache of a third of the data set so serves a third of the reads of
/// every epoch but the first. Besides the bytes it costs 24 bytes a record. Masks are not kept.
///
/// ```
/// use feedline::label::Label;
/// use feedline::source::{Cached, Memory, Source};
///
/// let slow = Memory::new(vec![("cat.jpg".to_owned(), vec![0xFF, 0xD8], Label::Class(0))]);
/// let source = Cached::new(slow, 1 << 30);
/// let mut bytes = Vec::new();
/// source.read(0, &mut bytes)?;
/// source.read(0, &mut bytes)?;
/// assert_eq!((source.io_stats().memory_hits, source.io_stats().memory_bytes), (1, 2));
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Cached<S> {
    source: S,
    max_bytes: u64,
    /// The bytes of each record, once they are kept.
    kept: Box<[OnceLock<Box<[u8]>>]>,
    /// Never above `max_bytes`: counted before a record is kept.
    bytes: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl<S: Source> Cached<S> {
    /// Keeps at most `max_bytes` of what `source` reads; 0 keeps nothing.
    pub fn new(source: S, max_bytes: u64) -> Self {
        let kept = (0..source.len()).map(|_| OnceLock::new()).collect();
        let zero = || AtomicU64::new(0);
        Self { source, max_bytes, kept, bytes: zero(), hits: zero(), misses: zero() }
    }

    /// The record, if it is kept; counts either way.
    fn kept(&self, record: usize) -> Option<&[u8]> {
        let kept = self.kept.get(record).and_then(OnceLock::get);
        let count = if kept.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Relaxed);
        kept.map(|bytes| &**bytes)
    }

    /// Keeps the record if there is room; first come stays.
    fn keep(&self, record: usize, bytes: &[u8]) {
        let Some(place) = self.kept.get(record) else { return };
        let size = bytes.len() as u64;
        let room = |held: u64| held.checked_add(size).filter(|&held| held <= self.max_bytes);
        if place.get().is_none() && self.bytes.fetch_update(Relaxed, Relaxed, room).is_ok() {
            // Another thread that read the same record at the same time may have been first.
            if place.set(bytes.into()).is_err() {
                self.bytes.fetch_sub(size, Relaxed);
            }
        }
    }
}

impl<S: Source> Source for Cached<S> {
    pass_on!([.source] len key path label mask fields jpeg_sha256 classes shard_ends record);
    pass_on!([.source] is_known_ahead mix_order);

    fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        self.source.file(index)
    }

    /// Unknown of what is kept, which does not change with its file.
    fn version(&self, index: usize) -> Version {
        let is_kept = index < self.len()
            && self.kept.get(self.source.record(index)).is_some_and(|kept| kept.get().is_some());
        if is_kept { Version::Unknown } else { self.source.version(index) }
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        if index >= self.len() {
            return self.source.read(index, bytes);
        }
        let record = self.source.record(index);
        if let Some(kept) = self.kept(record) {
            bytes.clear();
            bytes.extend_from_slice(kept);
            return Ok(());
        }
        self.source.read(index, bytes)?;
        self.keep(record, bytes);
        Ok(())
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        if index >= self.len() {
            return self.source.read_into(index, to);
        }
        let record = self.source.record(index);
        if let Some(kept) = self.kept(record) {
            to.room(kept.len()).copy_from_slice(kept);
            return Ok(());
        }
        self.source.read_into(index, to)?;
        self.keep(record, to.bytes());
        Ok(())
    }

    fn io_stats(&self) -> IoStats {
        let of = |count: &AtomicU64| count.load(Relaxed);
        let memory_bytes = of(&self.bytes);
        IoStats {
            memory_hits: of(&self.hits),
            memory_misses: of(&self.misses),
            memory_bytes,
            ..self.source.io_stats()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;
    use crate::source::Memory;

    fn records(sizes: &[usize]) -> Memory {
        let record =
            |(at, &size): (usize, &usize)| (format!("{at}"), vec![at as u8; size], Label::Unlabelled);
        Memory::new(sizes.iter().enumerate().map(record).collect())
    }

    #[test]
    fn what_came_first_stays_when_the_set_is_larger_than_the_cache() {
        let source = Cached::new(records(&[10; 9]), 30);
        let mut bytes = Vec::new();
        for epoch in 0..4 {
            for index in 0..9 {
                source.read(index, &mut bytes).unwrap();
                assert_eq!(bytes, [index as u8; 10]);
            }
            let IoStats { memory_hits, memory_misses, memory_bytes, .. } = source.io_stats();
            assert_eq!((memory_hits, memory_misses, memory_bytes), (3 * epoch, 9 + 6 * epoch, 30));
        }
    }

    #[test]
    fn a_record_that_does_not_fit_leaves_room_for_a_smaller_one() {
        let source = Cached::new(records(&[8, 50, 12]), 20);
        let mut bytes = Vec::new();
        (0..3).for_each(|index| source.read(index, &mut bytes).unwrap());
        assert_eq!(source.io_stats().memory_bytes, 20);
        let nothing = Cached::new(records(&[1]), 0);
        (0..2).for_each(|_| nothing.read(0, &mut bytes).unwrap());
        assert_eq!((nothing.io_stats().memory_hits, nothing.io_stats().memory_bytes), (0, 0));
    }

    #[test]
    fn many_threads_never_go_above_the_limit_nor_lose_count() {
        let source = Cached::new(records(&[7; 64]), 200);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let source = &source;
                scope.spawn(move || {
                    let mut bytes = Vec::new();
                    for turn in 0..640 {
                        let index = (turn * 7 + thread) % 64;
                        source.read(index, &mut bytes).unwrap();
                        assert_eq!(bytes, [index as u8; 7]);
                        assert!(source.io_stats().memory_bytes <= 200);
                    }
                });
            }
        });
        let kept = source.kept.iter().filter_map(OnceLock::get).map(|bytes| bytes.len() as u64).sum::<u64>();
        assert_eq!((source.io_stats().memory_bytes, kept), (196, 196));
    }
}
