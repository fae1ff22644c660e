//! Compressed files that a loader keeps in memory.

use super::LoaderBuilder;
use crate::source::{Cached, Source};

impl LoaderBuilder {
    /// Most bytes of compressed files that are kept in memory from their first read on (default 0: none, since local
    /// files are in the system's own cache anyway). What came first stays, as [`Cached`] says; hits and misses are in
    /// [`super::Stats::traffic`].
    pub fn byte_cache(mut self, bytes: u64) -> Self {
        self.byte_cache = bytes;
        self
    }
}

/// The source, with a cache round it where one is asked for.
pub(super) fn around(source: Box<dyn Source>, bytes: u64) -> Box<dyn Source> {
    match bytes {
        0 => source,
        _ => Box::new(Cached::new(source, bytes)),
    }
}
