//! Counts of what was read from memory, from disk, from other processes' reads and from a store.

use serde::Serialize;

/// Counts since a source was opened; those that do not apply to a source stay 0.
///
/// A read looks in memory first, then on disk, then in the store, so that `disk_hits + disk_misses` is at most
/// `memory_misses` where both caches are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IoStats {
    /// Records found in the cache in memory ([`super::Cached`]).
    pub memory_hits: u64,
    /// Records that it had not.
    pub memory_misses: u64,
    /// Bytes that it holds.
    pub memory_bytes: u64,
    /// Records found in the cache on disk.
    pub disk_hits: u64,
    /// Records that it had not.
    pub disk_misses: u64,
    /// Its size in bytes, as far as this process knows.
    pub disk_bytes: u64,
    /// Entries on disk that were damaged, and were fetched again.
    pub disk_damaged: u64,
    /// Entries that could not be written to disk.
    pub disk_failures: u64,
    /// Records found in the cache that processes share ([`super::SharedCache`]).
    pub shared_hits: u64,
    /// Records that it had not, or of another version.
    pub shared_misses: u64,
    /// Bytes of its file.
    pub shared_bytes: u64,
    /// How often a record was not stored there, since there was no room.
    pub shared_full: u64,
    /// How often one was not stored there, since another process held the file's lock for too long.
    pub shared_busy: u64,
    /// How often one could not be stored there for another reason.
    pub shared_failures: u64,
    /// How often one was damaged there, and was read from its source.
    pub shared_damaged: u64,
    /// Milliseconds that the threads which read were spared: what the records that were found had taken to read, and to decode
    /// where pixels are stored, when they were stored, less what it took to find them.
    pub shared_saved_ms: u64,
    /// Requests sent to a store, retries included.
    pub requests: u64,
    /// Requests that were retries.
    pub retries: u64,
    /// Bytes of complete answers.
    pub bytes_fetched: u64,
}

impl IoStats {
    /// The counts of two sources together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            memory_hits: self.memory_hits + other.memory_hits,
            memory_misses: self.memory_misses + other.memory_misses,
            memory_bytes: self.memory_bytes + other.memory_bytes,
            disk_hits: self.disk_hits + other.disk_hits,
            disk_misses: self.disk_misses + other.disk_misses,
            disk_bytes: self.disk_bytes + other.disk_bytes,
            disk_damaged: self.disk_damaged + other.disk_damaged,
            disk_failures: self.disk_failures + other.disk_failures,
            shared_hits: self.shared_hits + other.shared_hits,
            shared_misses: self.shared_misses + other.shared_misses,
            shared_bytes: self.shared_bytes + other.shared_bytes,
            shared_full: self.shared_full + other.shared_full,
            shared_busy: self.shared_busy + other.shared_busy,
            shared_failures: self.shared_failures + other.shared_failures,
            shared_damaged: self.shared_damaged + other.shared_damaged,
            shared_saved_ms: self.shared_saved_ms + other.shared_saved_ms,
            requests: self.requests + other.requests,
            retries: self.retries + other.retries,
            bytes_fetched: self.bytes_fetched + other.bytes_fetched,
        }
    }
}
