//! The figures that a loader measures, and the stage that limits it.

use super::prometheus::prometheus;
use crate::device::{DecodedBy, DecoderReport, MemoryUse};
use crate::error::{Error, Result};
use crate::index::IndexStats;
use crate::loader::report::errors::Stage;
use crate::loader::report::timing::{Histogram, Timing};
use crate::source::IoStats;
use serde::{Serialize, Serializer};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The consumer waits for less than this share of its time: the trainer is the limit.
const TRAINER_LIMITS_BELOW: f64 = 0.1;

/// Counters that all threads write.
#[derive(Default)]
pub(in crate::loader) struct Meters {
    stages: [Histogram; 4],
    /// From a batch's delivery to the next request.
    pub(in crate::loader) trainer: Histogram,
    /// From a request to its delivery, without the first batches of epochs.
    pub(in crate::loader) wait: Histogram,
    pub(in crate::loader) bytes: AtomicU64,
    pub(in crate::loader) images: AtomicU64,
    pub(in crate::loader) samples: AtomicU64,
    pub(in crate::loader) failures: AtomicU64,
    pub(in crate::loader) damaged: AtomicU64,
    /// Sum over requests of the batches that were ready.
    pub(in crate::loader) ready: AtomicU64,
    pub(in crate::loader) requests: AtomicU64,
    /// Nanoseconds of the latest epoch's first batch; 0 for none yet.
    first_batch: AtomicU64,
}

impl Meters {
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
            samples: self.samples.load(Relaxed),
            failures: self.failures.load(Relaxed),
            damaged: self.damaged.load(Relaxed),
            first_batch_seconds: (first > 0).then_some(first as f64 * 1e-9),
            ..Stats::default()
        }
    }
}

/// A loader's figures since it was built. Serialised, they also hold `limiting_stage` and `explanation`, the results of
/// [`Stats::limiting_stage`] and [`Stats::explain`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
// `remote` makes the fields' serialisation a function of its own, which `impl Serialize` extends.
#[serde(remote = "Self")]
pub struct Stats {
    /// Reading, counted per image.
    pub source: Timing,
    /// Drawing and planning, without the reads that it needs, counted per sample.
    pub plan: Timing,
    /// Parsing headers and decoding, counted per sample; on the CPU with the first pass of the resampling, where rows go
    /// through it as they are decoded. Where a GPU decodes: copying the file to pinned memory.
    pub decode: Timing,
    /// Making pixels, counted per sample. Where a GPU makes them: submitting a batch, counted per batch, with nvJPEG's
    /// work on the CPU.
    pub render: Timing,
    /// From a batch's delivery to the consumer's next request.
    pub trainer: Timing,
    /// The consumer's waits for its batches, without the first batch of each epoch: see [`Stats::first_batch_seconds`].
    pub wait: Timing,
    /// Mean count of batches that were ready when the consumer requested one.
    pub ready_batches: f64,
    /// Maximum batches that exist at once, including those that the consumer holds.
    pub slots: usize,
    /// Worker threads.
    pub workers: usize,
    /// Bytes of images read, from the data or from a cache: of files, or of pixels where those are stored.
    pub bytes_read: u64,
    /// Image files decoded.
    pub images: u64,
    /// Decodes that were saved, because another sample of the window had the image already.
    pub images_shared: u64,
    /// Bytes of decoded images that are kept for other samples.
    pub image_cache_bytes: u64,
    /// Samples finished, including those of epochs that were left early.
    pub samples: u64,
    /// Bad samples in delivered batches.
    pub failures: u64,
    /// Damaged files that were decoded nonetheless, counted at each decode.
    pub damaged: u64,
    /// From the latest epoch's start to its first batch.
    pub first_batch_seconds: Option<f64>,
    /// The use of decode indexes.
    pub index: IndexStats,
    /// Which decoders a GPU's images went through; `None` where the device is the CPU.
    pub decoded_by: Option<DecodedBy>,
    /// The memory that is taken for a GPU; `None` where the device is the CPU.
    pub device_memory: Option<MemoryUse>,
    /// How each of the GPU's decoders has done that may be used; none where the device is the CPU.
    pub decoders: Vec<DecoderReport>,
    /// Requests to a store, and the use of the caches of compressed bytes.
    pub io: IoStats,
}

impl Serialize for Stats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Explained<'a> {
            #[serde(flatten, serialize_with = "fields")]
            stats: &'a Stats,
            limiting_stage: Option<Limit>,
            explanation: String,
        }
        fn fields<S: Serializer>(stats: &&Stats, serializer: S) -> Result<S::Ok, S::Error> {
            Stats::serialize(stats, serializer)
        }
        let limiting_stage = self.limiting_stage().map(|(limit, _)| limit);
        Explained { stats: self, limiting_stage, explanation: self.explain() }.serialize(serializer)
    }
}

/// The stage that everything else waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Reading: a slow disk or network.
    Source,
    /// Drawing and planning: expensive augmentations of one's own.
    Plan,
    /// Parsing and decoding.
    Decode,
    /// Resampling, colour and storing.
    Render,
    /// The consumer itself: the loader is fast enough.
    Trainer,
}

impl Limit {
    const fn work(self) -> &'static str {
        match self {
            Limit::Source => "reading",
            Limit::Plan => "planning",
            Limit::Decode => "decoding",
            Limit::Render => "rendering",
            Limit::Trainer => "training",
        }
    }
}

impl Stats {
    /// The stage that limits the speed, and a sentence with the reason and the remedy.
    ///
    /// The rule: if the consumer waited for less than a tenth of the time between its first and its last batch, the
    /// trainer is the limit. Otherwise it is the stage in which the workers spent most of their time. `None` before the
    /// first batch.
    pub fn limiting_stage(&self) -> Option<(Limit, String)> {
        self.first_batch_seconds?;
        let (wait, trainer) = (self.wait.total_seconds, self.trainer.total_seconds);
        let waited = if wait + trainer > 0.0 { wait / (wait + trainer) } else { 1.0 };
        if waited < TRAINER_LIMITS_BELOW {
            let ready = self.ready_batches;
            let why = format!(
                "the consumer waited for {:.1} % of its time and found {ready:.1} batches ready: you do not need a \
                 faster loader",
                100.0 * waited
            );
            return Some((Limit::Trainer, why));
        }
        let spent = [
            (Limit::Source, self.source.total_seconds),
            (Limit::Plan, self.plan.total_seconds),
            (Limit::Decode, self.decode.total_seconds),
            (Limit::Render, self.render.total_seconds),
        ];
        let total: f64 = spent.iter().map(|stage| stage.1).sum();
        let (limit, seconds) = spent.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let why = format!(
            "the consumer waited for {:.0} % of its time, and the workers spent {:.0} % of theirs on {}: {}",
            100.0 * waited,
            100.0 * seconds / total.max(f64::MIN_POSITIVE),
            limit.work(),
            self.remedy(limit)
        );
        Some((limit, why))
    }

    /// What limits the speed, why, and what to do about it, in one sentence for a reader.
    pub fn explain(&self) -> String {
        let limit = match self.limiting_stage() {
            None => "no batch was delivered yet: take some batches first".into(),
            Some((Limit::Trainer, why)) => format!("the trainer is the limit: {why}"),
            Some((limit, why)) => format!("the limit is {}: {why}", limit.work()),
        };
        let left = self.decoders.iter().filter_map(|decoder| Some((decoder.name, decoder.left.as_ref()?)));
        let text = left
            .fold(limit, |text, (name, why)| format!("{text}. The decoder {name} is used no more: {why}"));
        match self.shared_cache() {
            Some(said) => format!("{text}. {said}"),
            None => text,
        }
    }

    /// What the cache that processes share has given; `None` without one.
    fn shared_cache(&self) -> Option<String> {
        let IoStats { shared_hits, shared_misses, shared_saved_ms, .. } = self.io;
        let IoStats { shared_full, shared_busy, shared_failures, .. } = self.io;
        let asked = shared_hits + shared_misses;
        if asked == 0 {
            return None;
        }
        let percent = 100.0 * shared_hits as f64 / asked as f64;
        let saved = shared_saved_ms as f64 * 1e-3;
        let mut said = format!(
            "The shared cache had {percent:.0} % of {asked} records, which spared the workers about {saved:.1} s of reading, and of \
             decoding whole images where it holds pixels"
        );
        if shared_full > 0 {
            said += &format!("; {shared_full} times it had no room for one: raise cache_limit");
        }
        if shared_busy > 0 {
            said += &format!(
                "; {shared_busy} times another process held its lock for too long to store one: let it go on, or end it"
            );
        }
        if shared_failures > 0 {
            said += &format!(
                "; {shared_failures} times one could not be written, since its disk or a quota is full, the disk fails, or the \
                 file was damaged: free space there, or name another file (cache_file)"
            );
        }
        Some(said)
    }

    /// The figures as text in Prometheus' format, each with these labels: `stats.prometheus(&[("rank", "0")])`.
    ///
    /// # Errors
    /// Those of [`crate::loader::prometheus`].
    pub fn prometheus(&self, labels: &[(&str, &str)]) -> Result<String> {
        let figures = serde_json::to_value(self).map_err(|error| Error::config(error.to_string()))?;
        prometheus(&figures, labels)
    }

    fn remedy(&self, limit: Limit) -> &'static str {
        let is_remote = self.io.requests > 0;
        let is_cached = self.io.memory_misses + self.io.disk_misses + self.io.shared_misses > 0;
        match limit {
            Limit::Source if is_remote && !is_cached => "use a cache on disk or in memory, or more workers",
            Limit::Source if is_remote => "use a larger cache, or more workers",
            Limit::Source if is_cached => "use faster storage, shards, or more workers",
            Limit::Source => {
                "use faster storage, a cache on it or in memory (cache), shards, or more workers"
            }
            Limit::Plan => "make the augmentations of your own cheaper, or use more cores",
            Limit::Decode if self.decoded_by.is_some() => "use more workers, or smaller files",
            Limit::Decode if self.index.budget == 0 => {
                "switch the decode index on, or use more cores, a GPU, or smaller files"
            }
            Limit::Decode => "use more cores, a GPU, or smaller files",
            Limit::Render if self.decoded_by.is_some() => "use a faster GPU, or fewer augmentations",
            Limit::Render => "use more cores, a GPU, or fewer augmentations",
            Limit::Trainer => "you do not need a faster loader",
        }
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
        let plan = Timing { total_seconds: 10.0, ..Timing::default() };
        assert_eq!(limit(Stats { plan, ..stats(1.0, 1.0, 9.0, 5.0, 5.0) }), Some(Limit::Plan));
        assert_eq!(limit(stats(9.0, 1.0, 1.0, 0.5, 9.5)), Some(Limit::Trainer));
        assert_eq!(limit(stats(1.0, 9.0, 1.0, 0.0, 0.0)), Some(Limit::Decode));
        assert_eq!(Stats::default().limiting_stage(), None);
    }

    #[test]
    fn the_sentence_holds_the_figures_and_the_remedy_that_fits() {
        let reading = stats(3.0, 1.0, 0.0, 5.0, 5.0);
        let text = reading.explain();
        assert!(
            text.contains("50 %") && text.contains("75 %") && text.contains("limit is reading"),
            "{text}"
        );
        assert!(text.contains("faster storage"), "{text}");
        let io = |memory_misses| IoStats { requests: 4, memory_misses, ..IoStats::default() };
        let remote = Stats { io: io(0), ..reading.clone() }.explain();
        assert!(remote.contains("use a cache on disk"), "{remote}");
        let cached = Stats { io: io(4), ..reading }.explain();
        assert!(cached.contains("larger cache"), "{cached}");
        let decoding = stats(0.0, 1.0, 0.0, 5.0, 5.0);
        assert!(decoding.explain().contains("switch the decode index on"));
        let index = IndexStats { budget: 1, ..IndexStats::default() };
        assert!(!Stats { index, ..decoding.clone() }.explain().contains("decode index"));
        let on_a_gpu = Stats { decoded_by: Some(DecodedBy::default()), ..decoding };
        assert!(!on_a_gpu.explain().contains("a GPU"));
        let left = Some("3 of 40 images were wrong".to_owned());
        let decoders = vec![DecoderReport { name: "nvjpeg-gpu", left, ..DecoderReport::default() }];
        let text = Stats { decoders, ..on_a_gpu }.explain();
        assert!(
            text.ends_with("The decoder nvjpeg-gpu is used no more: 3 of 40 images were wrong"),
            "{text}"
        );
        let io = IoStats { shared_hits: 30, shared_misses: 10, shared_saved_ms: 2500, ..IoStats::default() };
        let text = Stats { io, ..stats(0.0, 1.0, 0.0, 5.0, 5.0) }.explain();
        assert!(
            text.ends_with(
                "had 75 % of 40 records, which spared the workers about 2.5 s of reading, and of decoding whole images where it holds pixels"
            ),
            "{text}"
        );
        let io = IoStats { shared_full: 3, shared_busy: 4, shared_failures: 2, ..io };
        let text = Stats { io, ..stats(0.0, 1.0, 0.0, 5.0, 5.0) }.explain();
        assert!(
            text.contains(
                "; 3 times it had no room for one: raise cache_limit; 4 times another process held its lock for too long to store \
                 one: let it go on, or end it; 2 times one could not be written, since"
            ),
            "{text}"
        );
        let trainer = stats(0.0, 1.0, 0.0, 0.5, 9.5).explain();
        assert!(trainer.starts_with("the trainer is the limit") && trainer.contains("5.0 %"), "{trainer}");
        assert!(Stats::default().explain().contains("take some batches first"));
    }

    #[test]
    fn as_json_the_figures_come_with_the_limit_and_its_explanation() {
        let stats = Stats { slots: 7, ..stats(1.0, 9.0, 1.0, 5.0, 5.0) };
        let json = serde_json::to_value(&stats).unwrap();
        assert_eq!((&json["decode"]["total_seconds"], &json["slots"]), (&9.0.into(), &7.into()));
        assert_eq!(json["limiting_stage"], "decode");
        assert_eq!(json["explanation"], stats.explain());
        assert!(json["decoded_by"].is_null() && json["io"]["memory_hits"] == 0, "{json}");
        assert!(serde_json::to_value(Stats::default()).unwrap()["limiting_stage"].is_null());
    }
}
