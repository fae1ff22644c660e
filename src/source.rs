//! Sources hand out compressed bytes and labels by index.

use crate::error::Result;
use crate::label::Label;
use std::borrow::Cow;

/// A data set: `len` records of compressed bytes with a key and a label.
///
/// Reading must be safe from many threads at once and must give the same bytes for the same index every time.
pub trait Source: Send + Sync {
    /// Number of records.
    fn len(&self) -> usize;

    /// True when there is no record.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces the content of `bytes` by the record's compressed bytes.
    ///
    /// # Errors
    /// [`crate::error::Error::Sample`] with key, index and cause when the record cannot be read.
    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()>;

    /// The record's name: its path, or its key in a shard.
    fn key(&self, index: usize) -> Cow<'_, str>;

    /// The record's label.
    fn label(&self, index: usize) -> Label;

    /// Class names in the order of class indices; empty where the source knows none.
    fn classes(&self) -> &[String] {
        &[]
    }
}
