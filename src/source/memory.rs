//! Records that are already in memory.

use super::{Destination, Source, out_of_range};
use crate::error::Result;
use crate::label::Label;
use std::borrow::Cow;
use std::sync::Arc;

/// Records given by the caller: key, compressed bytes, label. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct Memory {
    records: Arc<[(String, Vec<u8>, Label)]>,
    classes: Arc<[String]>,
}

impl Memory {
    /// A source of these records, in this order, without class names.
    pub fn new(records: Vec<(String, Vec<u8>, Label)>) -> Self {
        Self { records: records.into(), classes: Arc::new([]) }
    }

    /// Names the classes that the labels count.
    pub fn with_classes(self, classes: Vec<String>) -> Self {
        Self { classes: classes.into(), ..self }
    }

    fn bytes(&self, index: usize) -> Result<&[u8]> {
        let (_, stored, _) = self.records.get(index).ok_or_else(|| out_of_range(index, self.len()))?;
        Ok(stored)
    }
}

impl Source for Memory {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.extend_from_slice(self.bytes(index)?);
        Ok(())
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        let stored = self.bytes(index)?;
        to.room(stored.len()).copy_from_slice(stored);
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Borrowed(self.records.get(index).map_or("", |(key, _, _)| key))
    }

    fn label(&self, index: usize) -> Label {
        self.records.get(index).map_or(Label::Unlabelled, |(_, _, label)| label.clone())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}
