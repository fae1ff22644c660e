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
    mask: Option<Arc<[u8]>>,
    values: Arc<[FieldValue]>,
}

impl Record {
    /// Reads all that a sample needs of a record.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn read(source: &dyn Source, index: usize) -> Result<Self> {
        let (mut bytes, mut mask, mut values) = (Vec::new(), Vec::new(), Vec::new());
        source.read(index, &mut bytes)?;
        let has_mask = source.mask(index, &mut mask)?;
        source.values(index, &mut values)?;
        Ok(Self { index, bytes: bytes.into(), mask: has_mask.then(|| mask.into()), values: values.into() })
    }

    /// The same record with another file.
    pub(super) fn with_bytes(&self, bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), ..self.clone() }
    }
}

/// Some records of a source, over and over until there are `len` samples. Their labels are the source's.
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
        let mask = &self.own(index).mask;
        bytes.clear();
        bytes.extend_from_slice(mask.as_deref().unwrap_or_default());
        Ok(mask.is_some())
    }

    fn has_masks(&self) -> bool {
        self.source.has_masks()
    }

    fn fields(&self) -> &[Field] {
        self.source.fields()
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        values.clear();
        values.extend_from_slice(&self.own(index).values);
        Ok(())
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn record(&self, index: usize) -> usize {
        index % self.records.len().max(1)
    }
}
