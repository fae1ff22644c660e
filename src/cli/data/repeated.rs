//! A data set that is shown again and again.

use feedline::error::Result;
use feedline::field::{Field, FieldValue};
use feedline::label::Label;
use feedline::policy::{Mix, MixOrder};
use feedline::source::{Destination, IoStats, Source, Version};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A source over and over, until there are as many samples as are asked for, so that a small data set makes one long epoch.
pub(crate) struct Repeated {
    source: Arc<dyn Source>,
    samples: usize,
    /// How many samples it has: a weighted mixture, which shows samples again by itself, its own.
    len: usize,
    mix_order: Option<MixOrder>,
}

impl Repeated {
    pub(crate) fn new(source: Arc<dyn Source>, samples: usize) -> Self {
        let mix_order = source.mix_order();
        let len = match &mix_order {
            _ if source.is_empty() => 0,
            Some(order) if order.mix == Mix::Weighted => source.len(),
            _ => samples,
        };
        let mix_order = mix_order.map(|order| match order.mix {
            Mix::Weighted => MixOrder { epoch_samples: Some(samples as u64), ..order },
            _ => {
                let mut ends = again(&order.ends, source.len(), samples);
                ends.dedup();
                MixOrder { ends, ..order }
            }
        });
        Self { source, samples, len, mix_order }
    }

    fn own(&self, index: usize) -> usize {
        index % self.source.len().max(1)
    }
}

/// Where parts of a source of `len` samples end in each of its rounds, until there are `samples`.
fn again(ends: &[u64], len: usize, samples: usize) -> Vec<u64> {
    let (len, samples) = (len as u64, samples as u64);
    let rounds = (0..samples.div_ceil(len.max(1))).map(|round| round * len);
    rounds.flat_map(|before| ends.iter().map(move |end| (before + end).min(samples))).collect()
}

impl Source for Repeated {
    fn len(&self) -> usize {
        self.len
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

    fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        self.source.file(self.own(index))
    }

    fn version(&self, index: usize) -> Version {
        self.source.version(self.own(index))
    }

    fn label(&self, index: usize) -> Label {
        self.source.label(self.own(index))
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        self.source.mask(self.own(index), bytes)
    }

    fn has_masks(&self) -> bool {
        self.source.has_masks()
    }

    fn fields(&self) -> &[Field] {
        self.source.fields()
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.source.values(self.own(index), values)
    }

    fn jpeg_sha256(&self, index: usize) -> Result<Option<String>> {
        self.source.jpeg_sha256(self.own(index))
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn shard_ends(&self) -> Vec<u64> {
        again(&self.source.shard_ends(), self.source.len(), self.samples)
    }

    fn mix_order(&self) -> Option<MixOrder> {
        self.mix_order.clone()
    }

    fn record(&self, index: usize) -> usize {
        self.source.record(self.own(index))
    }

    fn io_stats(&self) -> IoStats {
        self.source.io_stats()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;
    use feedline::source::{Memory, Mixture, MixtureOptions};

    fn sets() -> MixtureOptions {
        let memory = |len: usize| Memory::new(vec![("a".into(), Vec::new(), Label::Unlabelled); len]);
        Mixture::options().set("a", memory(3)).set("b", memory(2))
    }

    fn order(mixture: MixtureOptions, samples: usize) -> (usize, Option<MixOrder>) {
        let repeated = Repeated::new(Arc::new(mixture.open().unwrap()), samples);
        (repeated.len(), repeated.mix_order())
    }

    #[test]
    fn data_sets_keep_their_order() {
        let (len, weighted) = order(sets().weights([0.5, 0.5]), 40);
        let weighted = weighted.unwrap();
        assert_eq!((len, weighted.ends, weighted.epoch_samples), (5, vec![3, 5], Some(40)));
        assert_eq!(order(sets().chain(), 9).1.unwrap().ends, [3, 5, 8, 9]);
        assert_eq!(order(sets().chain(), 4).1.unwrap().ends, [3, 4]);
        assert_eq!(order(sets(), 9).0, 9);
    }
}
