//! What reading a source cost, and what caches saved.

use serde::Serialize;

/// Counts since a source was opened; what a source has no part in stays 0.
///
/// A read asks memory first, then the disk, then the store, so that `disk_hits + disk_misses` is at most
/// `memory_misses` where both caches are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Traffic {
    /// Records that the cache in memory had ([`super::Cached`]).
    pub memory_hits: u64,
    /// Records that it had not.
    pub memory_misses: u64,
    /// Bytes that it holds.
    pub memory_bytes: u64,
    /// Records that the cache on disk had.
    pub disk_hits: u64,
    /// Records that it had not.
    pub disk_misses: u64,
    /// Bytes that it holds, as far as this process knows.
    pub disk_bytes: u64,
    /// Entries on disk that were damaged, and were fetched again.
    pub disk_damaged: u64,
    /// Entries that could not be written to disk.
    pub disk_failures: u64,
    /// Requests sent to a store, repeated ones included.
    pub requests: u64,
    /// Requests that were repeated.
    pub retries: u64,
    /// Bytes of answers that came whole.
    pub bytes_fetched: u64,
}
