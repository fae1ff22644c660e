//! Counts of what was read from memory, from disk and from a store.

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
            requests: self.requests + other.requests,
            retries: self.retries + other.retries,
            bytes_fetched: self.bytes_fetched + other.bytes_fetched,
        }
    }
}
