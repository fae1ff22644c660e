//! A data set that is shown again and again.

use feedline::error::Result;
use feedline::field::{Field, FieldValue};
use feedline::label::Label;
use feedline::policy::{Mix, MixOrder};
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

    /// Where parts of the source end in each of its rounds.
    fn again(&self, ends: &[u64]) -> Vec<u64> {
        let (len, samples) = (self.source.len() as u64, self.samples as u64);
        let rounds = (0..samples.div_ceil(len.max(1))).map(|round| round * len);
        rounds.flat_map(|before| ends.iter().map(move |end| (before + end).min(samples))).collect()
    }
}

impl Source for Repeated {
    fn len(&self) -> usize {
        match self.source.mix_order() {
            _ if self.source.is_empty() => 0,
            // Which shows samples again by itself.
            Some(order) if order.mix == Mix::Weighted => self.source.len(),
            _ => self.samples,
        }
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

    fn has_masks(&self) -> bool {
        self.source.has_masks()
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
        self.again(&self.source.shard_ends())
    }

    fn mix_order(&self) -> Option<MixOrder> {
        let order = self.source.mix_order()?;
        let mut ends = self.again(&order.ends);
        ends.dedup();
        Some(match order.mix {
            Mix::Weighted => MixOrder { epoch_samples: Some(self.samples as u64), ..order },
            _ => MixOrder { ends, ..order },
        })
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
        let repeated = Repeated { source: Arc::new(mixture.open().unwrap()), samples };
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
