//! Compressed files that a loader keeps in memory.

use crate::source::{Cached, Source};

/// The source, with a cache round it where one is asked for.
pub(in crate::loader) fn around(source: Box<dyn Source>, bytes: u64) -> Box<dyn Source> {
    match bytes {
        0 => source,
        _ => Box::new(Cached::new(source, bytes)),
    }
}
