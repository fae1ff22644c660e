//! How fast workers make samples of files that lie in memory: what a core does, without storage and without a trainer.

use super::held::{Held, Record};
use super::patience::Patience;
use super::rate::{Rate, Slices};
use crate::error::{Result, ensure};
use crate::index::IndexMode;
use crate::loader::{Epoch, LastBatch, Loader, Stats};
use crate::machine;
use crate::policy::BadSample;
use crate::recipe::Recipe;
use crate::source::Source;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Measurements that a rate is made of.
const SLICES: f64 = 10.0;
/// The shortest epoch: starting one is not what is measured.
const EPOCH_SAMPLES: usize = 4096;

/// What workers did with files in memory.
#[derive(Clone, Debug, Serialize)]
pub struct WorkRates {
    /// Worker threads.
    pub workers: usize,
    /// Samples a second.
    pub samples: Rate,
    /// Processor seconds of a sample, of all threads.
    pub cpu_seconds: f64,
    /// Files read for a sample: more than one where augmentations mix samples.
    pub reads: f64,
    /// Parts of the workers' time: copying files, where others read them.
    pub copy: f64,
    /// Planning.
    pub plan: f64,
    /// Parsing and decoding.
    pub decode: f64,
    /// Resampling, colour and storing.
    pub render: f64,
    /// Samples that could not be made, of all that were tried, and what was said of the first.
    pub bad: u64,
    /// The error that names it.
    pub first_bad: Option<String>,
}

impl WorkRates {
    /// Samples a second of which files are at hand without a copy: that is counted as reading.
    pub(super) fn without_copies(&self) -> Rate {
        self.samples.scaled(1.0 / (1.0 - self.copy.min(0.9)))
    }
}

/// The recipe as it is measured: one rank, files in memory, whatever is bad left out.
pub(super) fn measured(recipe: &Recipe, workers: usize) -> Recipe {
    let mut recipe = recipe.clone();
    let told = &mut recipe.options.loader;
    (told.rank, told.world_size, told.distributed) = (None, None, None);
    (told.subset, told.weights, told.repeats, told.max_failures) = (None, None, None, None);
    // Not what lies in memory already.
    told.byte_cache = None;
    (told.cache, told.cache_form, told.cache_resize) = (None, None, None);
    (told.cache_limit, told.cache_file) = (None, None);
    (told.shuffle_shards, told.workers) = (None, Some(workers));
    (told.last_batch, told.bad_sample) = (Some(LastBatch::Drop), Some(BadSample::Substitute));
    // The file of the whole data set is not one of the records that are held.
    if let Some(IndexMode::File(_)) = recipe.options.decode.index {
        recipe.options.decode.index = Some(IndexMode::Memory);
    }
    recipe
}

/// Makes samples of `records` for about `seconds`. The first showing of each record, in which decode indexes are learned, is
/// not measured and takes at most half of the time.
///
/// # Errors
/// Those of the loader; data of which no sample can be made; [`Patience::ask`]'s.
pub(super) fn measure(
    source: &Arc<dyn Source>,
    records: &Arc<[Record]>,
    recipe: &Recipe,
    workers: usize,
    seconds: f64,
    patience: &mut Patience<'_>,
) -> Result<WorkRates> {
    let batch = recipe.options.loader.batch_size();
    let held = Held::new(source, records, EPOCH_SAMPLES.max(16 * batch));
    let loader = Loader::builder(held).recipe(&measured(recipe, workers)).build()?;
    let mut taken = Taken { loader: &loader, epoch: loader.epoch(0), number: 0 };
    let (began, mut shown) = (Instant::now(), 0);
    while shown < records.len() + batch && began.elapsed().as_secs_f64() < seconds / 2.0 || shown == 0 {
        patience.ask()?;
        shown += taken.batch()?;
    }
    let seconds = (seconds - began.elapsed().as_secs_f64()).max(seconds / 2.0);
    let before = (loader.stats(), machine::cpu_seconds().unwrap_or(0.0));
    let (started, mut slices, mut samples) = (Instant::now(), Slices::of(seconds / SLICES), 0);
    let now = || started.elapsed().as_secs_f64();
    while now() < seconds || samples == 0 {
        patience.ask()?;
        let count = taken.batch()?;
        samples += count;
        slices.add(count as f64, now());
    }
    let took = now();
    let cpu = machine::cpu_seconds().unwrap_or(0.0) - before.1;
    let Some(rate) = slices.rate(took) else {
        return Err(crate::error::Error::config(
            "the recipe makes no samples of these data: see `feedline verify`",
        ));
    };
    Ok(of(&loader, (before.0, loader.stats()), rate, cpu / samples as f64))
}

fn of(loader: &Loader, (before, after): (Stats, Stats), samples: Rate, cpu_seconds: f64) -> WorkRates {
    let spent = |of: fn(&Stats) -> f64| (of(&after) - of(&before)).max(0.0);
    let [copy, plan, decode, render] = [
        spent(|stats| stats.source.total_seconds),
        spent(|stats| stats.plan.total_seconds),
        spent(|stats| stats.decode.total_seconds),
        spent(|stats| stats.render.total_seconds),
    ];
    let all = (copy + plan + decode + render).max(f64::MIN_POSITIVE);
    let made = (after.samples - before.samples).max(1) as f64;
    let reads = (after.source.count - before.source.count) as f64 / made;
    let report = loader.report();
    WorkRates {
        workers: after.workers,
        samples,
        cpu_seconds,
        reads: if reads > 0.0 { reads } else { 1.0 },
        copy: copy / all,
        plan: plan / all,
        decode: decode / all,
        render: render / all,
        bad: report.failures,
        first_bad: report.files.first().map(|file| format!("{}: {}", file.key, file.cause)),
    }
}

/// Batches of one epoch after another.
struct Taken<'a> {
    loader: &'a Loader,
    epoch: Epoch,
    number: u64,
}

impl Taken<'_> {
    /// The rows of the next batch.
    fn batch(&mut self) -> Result<usize> {
        if let Some(batch) = self.epoch.next() {
            let batch = batch?;
            batch.wait()?;
            return Ok(batch.len());
        }
        self.number += 1;
        self.epoch = self.loader.epoch(self.number);
        ensure!(
            self.epoch.len() > 0,
            "the data have fewer samples than a batch has rows: set a smaller batch_size"
        );
        Ok(0)
    }
}
