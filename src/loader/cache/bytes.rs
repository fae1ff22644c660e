//! Compressed files that a loader keeps in memory.

use crate::loader::LoaderBuilder;
use crate::source::{Cached, Source};

impl LoaderBuilder {
    /// Most bytes of compressed files that are kept in memory from their first read on (default 0: none, since local
    /// files are in the system's own cache anyway). What came first stays, as [`Cached`] says; hits and misses are in
    /// [`crate::loader::Stats::traffic`].
    pub fn byte_cache(mut self, bytes: u64) -> Self {
        self.byte_cache = bytes;
        self
    }
}

/// The source, with a cache round it where one is asked for.
pub(in crate::loader) fn around(source: Box<dyn Source>, bytes: u64) -> Box<dyn Source> {
    match bytes {
        0 => source,
        _ => Box::new(Cached::new(source, bytes)),
    }
}
