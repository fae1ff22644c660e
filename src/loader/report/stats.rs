//! What the pipeline measured about itself, and which part of it is the limit.

use crate::device::DecodedBy;
use crate::index::IndexStats;
use crate::loader::report::errors::Stage;
use crate::loader::report::timing::{Histogram, Timing};
use crate::source::Traffic;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The consumer waits for less than this share of its time: the trainer is the limit.
const TRAINER_LIMITS_BELOW: f64 = 0.1;

/// Counters that all threads write.
pub(in crate::loader) struct Meters {
    stages: [Histogram; 4],
    /// From a batch's delivery to the next request.
    pub(in crate::loader) trainer: Histogram,
    /// From a request to its delivery, first batches of epochs apart.
    pub(in crate::loader) wait: Histogram,
    pub(in crate::loader) bytes: AtomicU64,
    pub(in crate::loader) images: AtomicU64,
    pub(in crate::loader) samples: AtomicU64,
    pub(in crate::loader) failures: AtomicU64,
    /// Sum over requests of the batches that stood ready.
    pub(in crate::loader) ready: AtomicU64,
    pub(in crate::loader) requests: AtomicU64,
    /// Nanoseconds of the latest epoch's first batch; 0 is none yet.
    first_batch: AtomicU64,
}

impl Meters {
    pub(in crate::loader) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            stages: std::array::from_fn(|_| Histogram::new()),
            trainer: Histogram::new(),
            wait: Histogram::new(),
            bytes: zero(),
            images: zero(),
            samples: zero(),
            failures: zero(),
            ready: zero(),
            requests: zero(),
            first_batch: zero(),
        }
    }

    pub(in crate::loader) fn stage(&self, stage: Stage) -> &Histogram {
        &self.stages[stage as usize]
    }

    pub(in crate::loader) fn first_batch(&self, took: Duration) {
        self.first_batch.store((took.as_nanos() as u64).max(1), Relaxed);
    }

    pub(in crate::loader) fn snapshot(&self, workers: usize, slots: usize) -> Stats {
        let requests = self.requests.load(Relaxed);
        let first = self.first_batch.load(Relaxed);
        Stats {
            source: self.stage(Stage::Read).timing(),
            plan: self.stage(Stage::Plan).timing(),
            decode: self.stage(Stage::Decode).timing(),
            render: self.stage(Stage::Render).timing(),
            trainer: self.trainer.timing(),
            wait: self.wait.timing(),
            ready_batches: if requests == 0 {
                0.0
            } else {
                self.ready.load(Relaxed) as f64 / requests as f64
            },
            slots,
            workers,
            bytes_read: self.bytes.load(Relaxed),
            images: self.images.load(Relaxed),
            images_shared: 0,
            image_cache_bytes: 0,
            samples: self.samples.load(Relaxed),
            failures: self.failures.load(Relaxed),
            first_batch_seconds: (first > 0).then_some(first as f64 * 1e-9),
            index: IndexStats::default(),
            decoded_by: None,
            traffic: Traffic::default(),
        }
    }
}

/// A loader's figures since it was built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Reading, one count an image.
    pub source: Timing,
    /// Drawing and planning without the reads in it, one count a sample.
    pub plan: Timing,
    /// Parsing headers and decoding, one count a sample; on the CPU with the first pass of the resampling, where rows go
    /// through it as they are decoded. Where a GPU decodes: copying the file to pinned memory.
    pub decode: Timing,
    /// Making pixels, one count a sample. Where a GPU makes them: sending a batch there, one count a batch, with what
    /// nvJPEG does of it on the CPU.
    pub render: Timing,
    /// From a batch's delivery to the consumer's next request.
    pub trainer: Timing,
    /// The consumer's waits for its batches; an epoch's first batch is in [`Stats::first_batch_seconds`] instead.
    pub wait: Timing,
    /// Mean number of batches that were ready when the consumer asked for one.
    pub ready_batches: f64,
    /// Batches that may exist at once, those that the consumer holds included.
    pub slots: usize,
    /// Worker threads.
    pub workers: usize,
    /// Compressed bytes read.
    pub bytes_read: u64,
    /// Image files decoded.
    pub images: u64,
    /// Decodes that were saved, since another sample of the window had the image already.
    pub images_shared: u64,
    /// Bytes of decoded images that are kept for other samples.
    pub image_cache_bytes: u64,
    /// Samples finished, also those of epochs that were broken off.
    pub samples: u64,
    /// Bad samples in delivered batches.
    pub failures: u64,
    /// From the latest epoch's start to its first batch.
    pub first_batch_seconds: Option<f64>,
    /// What decode indexes did.
    pub index: IndexStats,
    /// Which decoders a GPU's images went through; `None` where the device is the CPU.
    pub decoded_by: Option<DecodedBy>,
    /// What reading asked of a store, and what caches of compressed bytes saved.
    pub traffic: Traffic,
}

/// The part that everything else waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Reading: a slow disk or network.
    Source,
    /// Parsing and decoding.
    Decode,
    /// Resampling, colour and storing.
    Render,
    /// The consumer itself: the loader is fast enough.
    Trainer,
}

impl Stats {
    /// What limits the speed, and why, in one sentence.
    ///
    /// The rule: if the consumer waited for less than a tenth of the time between its first and its last batch, the
    /// trainer is the limit. Otherwise it is the stage that the workers spent most of their time in. `None` before the
    /// first batch.
    pub fn limiting_stage(&self) -> Option<(Limit, String)> {
        self.first_batch_seconds?;
        let (wait, trainer) = (self.wait.total_seconds, self.trainer.total_seconds);
        let waited = if wait + trainer > 0.0 { wait / (wait + trainer) } else { 1.0 };
        if waited < TRAINER_LIMITS_BELOW {
            let ready = self.ready_batches;
            let why = format!(
                "the consumer waited for {:.1} % of its time and found {ready:.1} batches ready: a faster loader \
                 would not help",
                100.0 * waited
            );
            return Some((Limit::Trainer, why));
        }
        let spent = [
            (Limit::Source, self.source.total_seconds, "reading: use faster storage or more workers"),
            (Limit::Decode, self.decode.total_seconds, "decoding: use more cores, a GPU, or smaller files"),
            (
                Limit::Render,
                self.render.total_seconds,
                "rendering: use more cores, a GPU, or fewer augmentations",
            ),
        ];
        let total: f64 = spent.iter().map(|part| part.1).sum::<f64>() + self.plan.total_seconds;
        let (limit, seconds, remedy) = spent.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let why = format!(
            "the consumer waited for {:.0} % of its time, and the workers spent {:.0} % of theirs on {remedy}",
            100.0 * waited,
            100.0 * seconds / total.max(f64::MIN_POSITIVE)
        );
        Some((limit, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(source: f64, decode: f64, render: f64, wait: f64, trainer: f64) -> Stats {
        let timing = |total_seconds| Timing { total_seconds, ..Timing::default() };
        Stats {
            source: timing(source),
            decode: timing(decode),
            render: timing(render),
            wait: timing(wait),
            trainer: timing(trainer),
            first_batch_seconds: Some(0.1),
            ..Stats::default()
        }
    }

    #[test]
    fn the_limit_is_the_busiest_stage_unless_the_consumer_hardly_waits() {
        let limit = |stats: Stats| stats.limiting_stage().map(|(limit, _)| limit);
        assert_eq!(limit(stats(9.0, 1.0, 1.0, 5.0, 5.0)), Some(Limit::Source));
        assert_eq!(limit(stats(1.0, 9.0, 1.0, 5.0, 5.0)), Some(Limit::Decode));
        assert_eq!(limit(stats(1.0, 1.0, 9.0, 5.0, 5.0)), Some(Limit::Render));
        assert_eq!(limit(stats(9.0, 1.0, 1.0, 0.5, 9.5)), Some(Limit::Trainer));
        assert_eq!(limit(stats(1.0, 9.0, 1.0, 0.0, 0.0)), Some(Limit::Decode));
        assert_eq!(Stats::default().limiting_stage(), None);
    }

    #[test]
    fn the_sentence_holds_the_figures() {
        let (_, why) = stats(3.0, 1.0, 0.0, 5.0, 5.0).limiting_stage().unwrap();
        assert!(why.contains("50 %") && why.contains("75 %") && why.contains("reading"), "{why}");
    }
}
