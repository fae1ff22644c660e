//! Records that processes share, on a system that has no locks of open files: none can be opened.

use super::Source;
use crate::error::{Error, Result};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Keeps records in a file that other processes read as well, on Linux.
pub struct SharedCache<S> {
    source: S,
    never: Infallible,
}

/// How a [`SharedCache`] is opened.
pub struct SharedCacheOptions(());

/// Makes of a record what is stored and handed out in its place.
pub(crate) trait Make: Send + Sync {
    /// Replaces the content of `made`; false for a record that is to be stored as it is.
    fn make(&self, record: &[u8], room: u64, made: &mut Vec<u8>) -> bool;
}

impl SharedCacheOptions {
    /// The cache's file.
    pub fn file(self, _: impl Into<PathBuf>) -> Self {
        self
    }

    /// The most bytes that the file may have.
    pub fn limit(self, _: u64) -> Self {
        self
    }

    pub(crate) fn settings(self, _: String) -> Self {
        self
    }

    pub(crate) fn made(self, _: Option<Box<dyn Make>>) -> Self {
        self
    }

    /// # Errors
    /// [`Error::Unavailable`], always.
    pub fn open<S: Source>(self, _: S) -> Result<SharedCache<S>> {
        Err(Error::Unavailable {
            what: "a cache that processes share".to_owned(),
            why: "only Linux has locks that belong to an open file".to_owned(),
            remedy: "leave cache out; byte_cache keeps files in the memory of one process".to_owned(),
        })
    }
}

impl SharedCache<()> {
    /// A cache in a file in memory.
    pub fn in_memory() -> SharedCacheOptions {
        SharedCacheOptions(())
    }

    /// A cache in a file on a disk.
    pub fn on_disk() -> SharedCacheOptions {
        SharedCacheOptions(())
    }
}

impl<S> SharedCache<S> {
    /// The cache's file.
    pub fn path(&self) -> &Path {
        match self.never {}
    }
}

impl<S: Source> Source for SharedCache<S> {
    pass_on!([.source] len read key path version label mask fields jpeg_sha256 classes shard_ends record);
    pass_on!([.source] is_known_ahead mix_order io_stats);
}

/// A cache that processes share or have shared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FoundCache {
    /// Its file.
    pub path: PathBuf,
    /// Bytes that it takes, in memory or on a disk.
    pub bytes: u64,
    /// Whether a process uses it.
    pub is_used: bool,
}

/// The caches of this user that lie about: none.
pub fn shared_caches() -> Vec<FoundCache> {
    Vec::new()
}
