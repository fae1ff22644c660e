//! A data set that is shown again and again.

use feedline::error::Result;
use feedline::field::{Field, FieldValue};
use feedline::label::Label;
use feedline::source::{Destination, IoStats, Source};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A source over and over, until there are `samples` of them, so that a small data set makes one long epoch.
pub(crate) struct Repeated {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) samples: usize,
}

impl Repeated {
    fn own(&self, index: usize) -> usize {
        index % self.source.len().max(1)
    }
}

impl Source for Repeated {
    fn len(&self) -> usize {
        if self.source.is_empty() { 0 } else { self.samples }
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.source.read(self.own(index), bytes)
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.source.read_into(self.own(index), to)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.source.key(self.own(index))
    }

    fn path(&self, index: usize) -> Option<&Path> {
        self.source.path(self.own(index))
    }

    fn label(&self, index: usize) -> Label {
        self.source.label(self.own(index))
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        self.source.mask(self.own(index), bytes)
    }

    fn fields(&self) -> &[Field] {
        self.source.fields()
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.source.values(self.own(index), values)
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn shard_ends(&self) -> Vec<u64> {
        let (len, ends) = (self.source.len() as u64, self.source.shard_ends());
        let samples = self.samples as u64;
        let rounds = (0..samples.div_ceil(len.max(1))).map(|round| round * len);
        rounds.flat_map(|before| ends.iter().map(move |end| (before + end).min(samples))).collect()
    }

    fn record(&self, index: usize) -> usize {
        self.source.record(self.own(index))
    }

    fn io_stats(&self) -> IoStats {
        self.source.io_stats()
    }
}
