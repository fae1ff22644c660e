//! Records of a data set that are held in memory, shown again and again.

use crate::error::Result;
use crate::field::{Field, FieldValue};
use crate::label::Label;
use crate::source::{Destination, Source};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A record that was read.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Its index in the data set.
    pub(super) index: usize,
    pub(super) bytes: Arc<[u8]>,
}

/// Some records of a source, over and over until there are `len` samples. Their labels, masks and fields are the source's.
pub(super) struct Held {
    source: Arc<dyn Source>,
    records: Arc<[Record]>,
    len: usize,
}

impl Held {
    /// At least one epoch of `at_least` samples. There must be a record.
    pub(super) fn new(source: &Arc<dyn Source>, records: &Arc<[Record]>, at_least: usize) -> Self {
        let len = at_least.next_multiple_of(records.len().max(1));
        Self { source: Arc::clone(source), records: Arc::clone(records), len }
    }

    fn own(&self, index: usize) -> &Record {
        &self.records[index % self.records.len()]
    }
}

impl Source for Held {
    fn len(&self) -> usize {
        if self.records.is_empty() { 0 } else { self.len }
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.extend_from_slice(&self.own(index).bytes);
        Ok(())
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        let bytes = &self.own(index).bytes;
        to.room(bytes.len()).copy_from_slice(bytes);
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.source.key(self.own(index).index)
    }

    fn path(&self, index: usize) -> Option<&Path> {
        self.source.path(self.own(index).index)
    }

    fn label(&self, index: usize) -> Label {
        self.source.label(self.own(index).index)
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        self.source.mask(self.own(index).index, bytes)
    }

    fn has_masks(&self) -> bool {
        self.source.has_masks()
    }

    fn fields(&self) -> &[Field] {
        self.source.fields()
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.source.values(self.own(index).index, values)
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn record(&self, index: usize) -> usize {
        index % self.records.len().max(1)
    }
}
