//! What a run is reported as: figures for a program, lines for a reader.

use super::Arguments;
use super::meter::{Meter, Reading, peak_rss_mb};
use crate::cli::doctor::simd_word;
use crate::cli::words::{device_word, word};
use feedline::device::{DecodedBy, Device};
use feedline::loader::{Limit, Loader, SLOTS_BESIDE, Stats};
use feedline::output::{DType, Layout};
use feedline::source::IoStats;
use serde::Serialize;
use std::collections::BTreeSet;

/// Causes of bad samples that are printed.
const CAUSES_SHOWN: usize = 5;

/// The printed object; its fields stay in this order.
#[derive(Serialize)]
pub(crate) struct Report {
    images: u64,
    seconds: f64,
    images_per_s: f64,
    cpu_s_per_1000: f64,
    /// Behind the first batch; null where there was no other.
    steady_images_per_s: Option<f64>,
    steady_cpu_s_per_1000: Option<f64>,
    mb_per_s: f64,
    /// Opening the data, ahead of all else.
    open_s: f64,
    first_batch_s: f64,
    peak_rss_mb: f64,
    device: String,
    simd: String,
    workers: usize,
    prefetch: usize,
    batch_size: usize,
    rank: usize,
    world_size: usize,
    recipe: String,
    dtype: Option<DType>,
    layout: Option<Layout>,
    files: usize,
    stages: Stages,
    limiting_stage: Option<Limit>,
    limiting_why: Option<String>,
    /// Which decoders a GPU's images went through.
    decoded_by: Option<DecodedBy>,
    /// Image files decoded since the loader was built, all warm-up included, and samples made of them.
    decoded: u64,
    samples: u64,
    trainer: Option<Trainer>,
    failures: u64,
    failed: Vec<Failed>,
    /// Damaged files that were decoded, each once.
    damaged: Vec<Decoded>,
    /// What was asked of a store, and what caches of compressed bytes saved.
    io: IoStats,
    /// All figures of the loader.
    stats: Stats,
}

/// Each stage's share of the workers' time, summing to 1.
#[derive(Serialize)]
struct Stages {
    read: f64,
    plan: f64,
    decode: f64,
    render: f64,
}

/// What a run on a simulated device is reported as: no figure in seconds, since each would be taken for a GPU's.
#[derive(Serialize)]
pub(crate) struct Unmeasured {
    simulated: bool,
    device: String,
    images: u64,
    decoded_by: Option<DecodedBy>,
    failures: u64,
}

impl Unmeasured {
    pub(crate) fn new(device: Device, loader: &Loader, images: u64) -> Self {
        let Stats { decoded_by, failures, .. } = loader.stats();
        Self { simulated: true, device: device_word(device), images, decoded_by, failures }
    }

    /// The same for a reader.
    pub(crate) fn describe(&self) -> String {
        let Self { device, images, failures, .. } = self;
        format!("{images} images on {device}, {failures} bad samples; no figures: the device is simulated")
    }
}

/// What the simulated trainer met.
#[derive(Serialize)]
struct Trainer {
    step_ms: u64,
    is_the_limit: bool,
    /// The share of its time that the trainer waited for feedline.
    waited: f64,
}

#[derive(Serialize)]
struct Failed {
    key: String,
    index: u64,
    stage: String,
    cause: String,
}

#[derive(Serialize)]
struct Decoded {
    key: String,
    index: u64,
    damage: String,
}

impl Report {
    pub(crate) fn new(
        (arguments, recipe, open_s): (&Arguments, String, f64),
        loader: &Loader,
        meter: &Meter,
        files: usize,
    ) -> anyhow::Result<Self> {
        let (whole, steady) = meter.stop()?;
        let stats = loader.stats();
        let (limiting_stage, limiting_why) = stats.limiting_stage().unzip();
        let told = loader.options();
        let output = loader.output();
        Ok(Self {
            images: whole.images,
            seconds: whole.seconds,
            images_per_s: whole.images_per_s(),
            cpu_s_per_1000: whole.cpu_s_per_1000(),
            steady_images_per_s: steady.as_ref().map(Reading::images_per_s),
            steady_cpu_s_per_1000: steady.as_ref().map(Reading::cpu_s_per_1000),
            open_s,
            mb_per_s: stats.bytes_read as f64 / 1e6 / whole.seconds,
            first_batch_s: meter.first_batch.map_or(whole.seconds, |first| first.seconds),
            peak_rss_mb: peak_rss_mb(),
            device: told.device.name().to_string(),
            simd: simd_word(),
            workers: stats.workers,
            prefetch: stats.slots.saturating_sub(SLOTS_BESIDE),
            batch_size: told.loader.batch_size(),
            rank: told.loader.rank.unwrap_or(0),
            world_size: told.loader.world_size.unwrap_or(1),
            recipe,
            dtype: output.map(|output| output.dtype),
            layout: output.map(|output| output.layout),
            files,
            stages: shares(&stats),
            decoded_by: stats.decoded_by,
            decoded: stats.images,
            samples: stats.samples,
            trainer: arguments.step_ms.map(|step_ms| trainer(step_ms, meter)),
            limiting_stage,
            limiting_why,
            failures: stats.failures,
            failed: failed(loader, files),
            damaged: damaged(loader, files),
            io: stats.io,
            stats,
        })
    }

    /// The same for a reader.
    pub(crate) fn describe(&self) -> Vec<String> {
        let format = match (self.dtype, self.layout) {
            (Some(dtype), Some(layout)) => format!("{} {}", word(dtype), word(layout)),
            _ => "nothing rendered".into(),
        };
        let Stages { read, plan, decode, render } = self.stages;
        let [read, plan, decode, render] = [read, plan, decode, render].map(|share| 100.0 * share);
        let mut lines = vec![
            format!(
                "{} on {} ({}), {} workers, {} batches of {} ahead, {format}",
                self.recipe, self.device, self.simd, self.workers, self.prefetch, self.batch_size
            ),
            format!(
                "{:>9.1} images/s      {} images from {} files in {:.2} s, start included",
                self.images_per_s, self.images, self.files, self.seconds
            ),
            format!("{:>9.3} CPU-s/1000    user and system time of all threads", self.cpu_s_per_1000),
            format!("{:>9.1} MB/s          bytes of images read", self.mb_per_s),
            format!("{:>9.3} s             from the start to the first batch", self.first_batch_s),
            format!("{:>9.1} MB            most memory held", self.peak_rss_mb),
            format!(
                "workers' time: read {read:.0} %, plan {plan:.0} %, decode {decode:.0} %, render {render:.0} %"
            ),
        ];
        lines.extend(self.fetched());
        lines.push(self.stats.explain());
        if self.failures > 0 {
            lines.push(format!("{} bad samples; the first of {} files:", self.failures, self.failed.len()));
            let shown = self.failed.iter().take(CAUSES_SHOWN);
            lines.extend(
                shown.map(|bad| format!("  {} (index {}), {}: {}", bad.key, bad.index, bad.stage, bad.cause)),
            );
        }
        if !self.damaged.is_empty() {
            lines.push(format!("{} damaged files were decoded; the first:", self.damaged.len()));
            let shown = self.damaged.iter().take(CAUSES_SHOWN);
            lines.extend(shown.map(|file| format!("  {} (index {}): {}", file.key, file.index, file.damage)));
        }
        lines
    }

    /// Where records came from, if any came from a store or a cache.
    fn fetched(&self) -> Option<String> {
        let IoStats { memory_hits, memory_misses, disk_hits, disk_misses, requests, retries, .. } = self.io;
        let IoStats { shared_hits, shared_misses, shared_bytes, shared_saved_ms, .. } = self.io;
        let cache = |name: &str, hits: u64, misses: u64| {
            let percent = 100.0 * hits as f64 / ((hits + misses) as f64).max(1.0);
            (hits + misses > 0).then(|| format!("{name} cache {percent:.0} % of {}", hits + misses))
        };
        let store = (requests > 0).then(|| {
            let fetched = self.io.bytes_fetched as f64 / 1e6;
            format!("{requests} requests, {retries} of them again, for {fetched:.1} MB")
        });
        let shared = cache("shared", shared_hits, shared_misses).map(|said| {
            let (held, saved) = (shared_bytes as f64 / 1e6, shared_saved_ms as f64 * 1e-3);
            format!("{said} ({held:.1} MB, about {saved:.1} s saved)")
        });
        let memory = cache("memory", memory_hits, memory_misses);
        let parts = [memory, shared, cache("disk", disk_hits, disk_misses), store];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("records: {}", parts.join("; ")))
    }
}

fn shares(stats: &Stats) -> Stages {
    let spent = [&stats.source, &stats.plan, &stats.decode, &stats.render].map(|stage| stage.total_seconds);
    let total = spent.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let [read, plan, decode, render] = spent.map(|seconds| seconds / total);
    Stages { read, plan, decode, render }
}

/// The trainer is the limit where it hardly waits: less than a tenth of the time behind the first batch.
fn trainer(step_ms: u64, meter: &Meter) -> Trainer {
    let total = (meter.waited + meter.stepped).as_secs_f64().max(f64::MIN_POSITIVE);
    let waited = meter.waited.as_secs_f64() / total;
    Trainer { step_ms, is_the_limit: waited < 0.1 && !meter.stepped.is_zero(), waited }
}

/// The damaged files that were decoded.
fn damaged(loader: &Loader, files: usize) -> Vec<Decoded> {
    let listed = loader.report().damaged_files.into_iter().map(|file| Decoded {
        key: file.key,
        index: file.index,
        damage: file.damage.to_string(),
    });
    each_once(listed, files, |file| &mut file.index)
}

/// The bad files.
fn failed(loader: &Loader, files: usize) -> Vec<Failed> {
    let listed = loader.report().files.into_iter().map(|bad| Failed {
        key: bad.key,
        index: bad.index,
        stage: bad.stage.to_string(),
        cause: bad.cause,
    });
    each_once(listed, files, |bad| &mut bad.index)
}

/// Each file once, although a small data set is read again and again.
fn each_once<T>(
    listed: impl Iterator<Item = T>,
    files: usize,
    index_of: impl Fn(&mut T) -> &mut u64,
) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let once = listed.filter_map(|mut file| {
        let index = index_of(&mut file);
        *index %= files.max(1) as u64;
        seen.insert(*index).then_some(file)
    });
    once.collect()
}
