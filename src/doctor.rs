//! What limits a pipeline on this machine, what it would give beside a trainer, and what would help.
//!
//! Storage, work and trainer are measured one by one, for some seconds each, on records that lie all over the data set; a
//! model (`doctor/model.rs`) puts them together, for the settings as they are and for others. So each answer has a reason,
//! and what was not tried is told by the same figures.
//!
//! ```
//! use feedline::doctor::{Questions, Verdict, examine};
//! use feedline::recipe::Recipe;
//! use feedline::source::Folder;
//! use std::sync::Arc;
//!
//! let recipe = Recipe::load("imagenet-train")?;
//! let step = Questions { seconds: 1.0, ..Questions::default() }.with_step(2.0, 64);
//! let found = examine(Arc::new(Folder::open("data/photos")?), &recipe, &step)?;
//! assert_eq!(found.verdict, Verdict::Trainer, "two seconds for 64 images: {}", found.explanation);
//! # Ok::<(), feedline::error::Error>(())
//! ```

mod alternatives;
mod explain;
mod gpus;
mod held;
mod model;
mod patience;
mod rate;
mod storage;
mod work;

pub use alternatives::Alternative;
pub use gpus::{GpuMemory, GpuMeter, GpuUse, gpu_use};
pub use model::TrainerRate;
pub use rate::{Rate, Slices};
pub use storage::{ReadersRate, StorageRates};
pub use work::WorkRates;

use crate::device::Device;
use crate::error::{Error, Result, ensure};
use crate::loader::{cores, open_device};
use crate::policy::CachePlace;
use crate::recipe::Recipe;
use crate::source::Source;
use alternatives::Tried;
use held::Record;
use model::Parts;
use patience::Patience;
use serde::Serialize;
use std::sync::Arc;
use storage::Readers;

/// How much faster than the trainer a loader has to be for the trainer never to wait.
pub const ENOUGH: f64 = 1.2;
/// Workers for each core that a loader takes by itself where reading is the limit.
const MOST_WORKERS_A_CORE: usize = 4;
/// The shortest time that says anything.
const SHORTEST_SECONDS: f64 = 1.0;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Questions {
    /// About how many seconds all measurements may take, at least 1; those of other settings take up to half as much again.
    pub seconds: f64,
    /// How fast the trainer takes samples; without it the loader alone is examined.
    pub trainer: Option<TrainerRate>,
    /// Whether settings that need measurements of their own are tried too.
    pub alternatives: bool,
}

impl Default for Questions {
    fn default() -> Self {
        Self { seconds: 30.0, trainer: None, alternatives: true }
    }
}

impl Questions {
    /// A trainer that takes `seconds` for a batch of `batch_size`, and no cores.
    pub fn with_step(self, seconds: f64, batch_size: usize) -> Self {
        let samples = Rate::exactly(batch_size as f64 / seconds);
        Self { trainer: Some(TrainerRate { samples, cpu_seconds: 0.0 }), ..self }
    }

    /// Whether it can be asked of these data.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] for too short a time, and for data without images.
    pub fn check(&self, source: &dyn Source) -> Result<()> {
        ensure!(!source.is_empty(), "the data set is empty: name one that has images");
        ensure!(
            self.seconds.is_finite() && self.seconds >= SHORTEST_SECONDS,
            "seconds is {}: measure for at least {SHORTEST_SECONDS} second",
            self.seconds
        );
        Ok(())
    }
}

/// What everything else waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The trainer: no loader makes it faster.
    Trainer,
    /// Reading.
    Storage,
    /// Planning: expensive augmentations of one's own.
    Plan,
    /// Parsing and decoding.
    Decode,
    /// Resampling, colour and storing.
    Render,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// Images of the data set.
    pub images: usize,
    /// Images of a batch.
    pub batch_size: usize,
    /// Reading.
    pub storage: StorageRates,
    /// One worker whose files lie in memory.
    pub one_worker: WorkRates,
    /// The same with one worker for each core; where there is one core, the same figures.
    pub all_cores: WorkRates,
    /// Cores that this process may use.
    pub cores: usize,
    /// The trainer, where one is known.
    pub trainer: Option<TrainerRate>,
    /// How busy GPUs were while the trainer was measured, where somebody looked.
    pub gpus: Vec<GpuUse>,
    /// Worker threads of the loader, as it is set or as it takes them by itself.
    pub workers: usize,
    /// Images a second of the loader alone.
    pub loader_alone: Rate,
    /// Images a second of loader and trainer together; of the loader, where no trainer is known.
    pub together: Rate,
    /// What limits.
    pub verdict: Verdict,
    /// What to know of these figures.
    pub notes: Vec<String>,
    /// What other settings would give.
    pub alternatives: Vec<Alternative>,
    /// What limits, why, and what to do, in words.
    pub explanation: String,
}

/// Measures and judges a recipe on a source.
///
/// Files of a folder are dropped from the system's cache before they are read, so that reading is that of a first epoch;
/// nothing else is changed.
///
/// # Errors
/// The first of the data's errors where no file can be read; [`crate::error::Error::Config`] where the data are empty, or the
/// recipe and the data do not fit; those of the device.
pub fn examine(source: Arc<dyn Source>, recipe: &Recipe, asked: &Questions) -> Result<Diagnosis> {
    let found = examine_while(source, recipe, asked, &mut || true)?;
    found.ok_or_else(|| Error::config("the examination was left: this is a bug, please report it"))
}

/// The same as long as `go_on` says so, which is asked several times a second; `None` once it has said no.
///
/// # Errors
/// Those of [`examine`].
pub fn examine_while(
    source: Arc<dyn Source>,
    recipe: &Recipe,
    asked: &Questions,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Diagnosis>> {
    asked.check(&*source)?;
    let mut patience = Patience::of(go_on);
    match examined(source, recipe, asked, &mut patience) {
        Err(_) if patience.is_over() => Ok(None),
        found => found.map(Some),
    }
}

fn examined(
    source: Arc<dyn Source>,
    recipe: &Recipe,
    asked: &Questions,
    patience: &mut Patience<'_>,
) -> Result<Diagnosis> {
    let on_gpu = open_device(&recipe.options)? != Device::Cpu;
    let (cores, told) = (cores(), recipe.options.loader.workers);
    let most = MOST_WORKERS_A_CORE * cores;
    let many = told.unwrap_or(most).max(2);
    let readers = Readers { many, more: (asked.alternatives && most > many).then_some(most) };
    let (storage, records) = storage::measure(&*source, readers, 0.2 * asked.seconds, patience)?;
    let records: Arc<[Record]> = records.into();
    let mut work = |workers, part: f64| {
        work::measure(&source, &records, recipe, workers, part * asked.seconds, patience)
    };
    let one_worker = work(1, 0.35)?;
    let all_cores = if cores > 1 { work(cores, 0.45)? } else { one_worker.clone() };
    let parts = Parts {
        cores,
        one_worker: one_worker.without_copies(),
        all_cores: all_cores.without_copies(),
        cpu_seconds: all_cores.cpu_seconds * (1.0 - all_cores.copy),
        reads: all_cores.reads,
        one_reader: storage.one_reader,
        many_readers: storage.many_readers,
        readers: storage.readers,
        more_readers: storage.more_readers,
        variation: storage.size_variation,
        trainer: asked.trainer,
        on_gpu,
    };
    let workers = told.unwrap_or_else(|| automatic(&parts, most));
    let verdict = verdict(&parts, workers, &all_cores);
    // Beside a trainer that never waits nothing would gain.
    let alternatives = match asked.alternatives && verdict != Verdict::Trainer {
        true => {
            let seconds = 0.1 * asked.seconds;
            Tried { source: &source, records: &records, recipe, seconds, patience }
                .all(&parts, workers, &storage)?
        }
        false => Vec::new(),
    };
    let mut found = Diagnosis {
        images: source.len(),
        batch_size: recipe.options.loader.batch_size(),
        verdict,
        loader_alone: parts.alone(workers),
        together: parts.together(workers),
        storage,
        one_worker,
        all_cores,
        cores,
        trainer: asked.trainer,
        gpus: Vec::new(),
        workers,
        notes: notes(recipe),
        alternatives,
        explanation: String::new(),
    };
    found.explanation = found.explain();
    Ok(found)
}

/// Workers as a loader takes them by itself: one a core, and half as many again as long as batches are waited for and more
/// than half of the workers' time goes to reading.
fn automatic(parts: &Parts, most: usize) -> usize {
    let mut workers = parts.cores;
    let waits = |pace: f64| parts.trainer.is_none_or(|trainer| trainer.samples.per_s > pace);
    while workers < most && parts.reading(workers) > 0.5 && waits(parts.alone(workers).per_s) {
        workers = (workers + workers.div_ceil(2)).min(most);
    }
    workers
}

fn notes(recipe: &Recipe) -> Vec<String> {
    let loader = &recipe.options.loader;
    let caches = loader.cache() != CachePlace::Off || loader.byte_cache().0 > 0;
    let note = "these are figures of a first epoch, which fills the cache: later ones read what it holds";
    caches.then(|| note.to_owned()).into_iter().collect()
}

/// What gives the most if it cost nothing.
fn verdict(parts: &Parts, workers: usize, work: &WorkRates) -> Verdict {
    let loader = parts.alone(workers).per_s;
    if parts.trainer.is_some_and(|trainer| {
        trainer.samples.per_s <= loader && parts.together(workers).per_s >= 0.95 * trainer.samples.per_s
    }) {
        return Verdict::Trainer;
    }
    if parts.without_storage().alone(workers).per_s > parts.without_work().alone(workers).per_s {
        return Verdict::Storage;
    }
    let stages = [(Verdict::Plan, work.plan), (Verdict::Decode, work.decode), (Verdict::Render, work.render)];
    stages.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Verdict::Decode, |stage| stage.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Folder, Memory, Storage, Throttled};

    fn photos() -> Folder {
        Folder::open(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")).unwrap()
    }

    fn recipe() -> Recipe {
        let mut recipe = Recipe::load("imagenet-train").unwrap();
        recipe.options.loader.batch_size = Some(16);
        recipe
    }

    /// Files with which even a machine that is emulated is done sooner than any disk.
    fn little_work() -> (tempfile::TempDir, Folder, Recipe) {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..43 {
            let file = [b"P5 16 16 255 ".as_slice(), &[number; 256]].concat();
            std::fs::write(folder.path().join(format!("{number}.pgm")), file).unwrap();
        }
        let source = Folder::open_any(folder.path()).unwrap();
        let mut recipe = Recipe::parse("name = \"little\"\n[output]\nsize = 16\n").unwrap();
        recipe.options.loader.batch_size = Some(16);
        (folder, source, recipe)
    }

    fn asked() -> Questions {
        Questions { seconds: 1.0, ..Questions::default() }
    }

    #[test]
    fn a_slow_trainer_is_told_that_it_needs_nothing() {
        let found = examine(Arc::new(photos()), &recipe(), &asked().with_step(4.0, 16)).unwrap();
        assert_eq!((found.verdict, found.together.per_s), (Verdict::Trainer, 4.0));
        assert!(found.explanation.contains("You do not need a faster loader"), "{}", found.explanation);
        assert!(found.alternatives.is_empty(), "nothing would be faster: {:?}", found.alternatives);
    }

    #[test]
    fn slow_storage_is_seen_and_what_hides_it() {
        // 60 ms to each file, however many are on their way.
        let storage = Storage { latency: std::time::Duration::from_millis(60), ..Storage::NVME };
        let (_folder, source, mut recipe) = little_work();
        recipe.options.loader.workers = Some(1);
        let found = examine(Arc::new(Throttled::new(source, storage)), &recipe, &asked()).unwrap();
        assert_eq!(found.verdict, Verdict::Storage, "{found:?}");
        assert!((5.0..17.0).contains(&found.together.per_s), "{:?}", found.together);
        let settings: Vec<&str> = found.alternatives.iter().map(|other| &*other.setting).collect();
        assert!(settings.contains(&"cache = \"ram\""), "{settings:?}");
        assert!(settings.iter().any(|setting| setting.starts_with("workers = ")), "{settings:?}");
    }

    #[test]
    fn with_files_at_hand_the_decoder_is_the_limit() {
        let files = photos();
        let read = |index| {
            let mut bytes = Vec::new();
            files.read(index, &mut bytes).unwrap();
            (files.key(index).into_owned(), bytes, files.label(index))
        };
        let memory = Memory::new((0..files.len()).map(read).collect());
        let asked = Questions { alternatives: false, ..asked() }.with_step(0.0001, 16);
        let found = examine(Arc::new(memory), &recipe(), &asked).unwrap();
        assert_eq!(found.verdict, Verdict::Decode, "{found:?}");
        assert!(!found.storage.cold && found.together.per_s < 160_000.0);
        assert!(found.explanation.contains("waits for"), "{}", found.explanation);
    }

    #[test]
    fn workers_beyond_those_that_were_told_are_tried() {
        // As many reads at once as there are readers.
        let storage =
            Storage { latency: std::time::Duration::from_millis(40), parallel: 256, ..Storage::NVME };
        let (_folder, source, mut recipe) = little_work();
        recipe.options.loader.workers = Some(2);
        let found = examine(Arc::new(Throttled::new(source, storage)), &recipe, &asked()).unwrap();
        let more = found.storage.more_readers.unwrap();
        assert_eq!(more.readers, (MOST_WORKERS_A_CORE * cores()).max(2), "{found:?}");
        let workers =
            found.alternatives.iter().find(|other| other.setting.starts_with("workers = ")).unwrap();
        assert!(workers.together.per_s > 1.5 * found.together.per_s, "{found:?}");
    }

    #[test]
    fn what_the_recipe_has_is_not_recommended_and_its_files_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("photos.idx");
        let mut recipe = recipe();
        recipe.options.decode.index = Some(crate::index::IndexMode::File(index.clone()));
        recipe.options.loader.workers = Some(1);
        recipe.options.loader.cache = Some(CachePlace::Ram);
        {
            let mut plain = recipe.clone();
            plain.options.loader.cache = None;
            let loader = crate::loader::Loader::builder(photos()).recipe(&plain).build().unwrap();
            loader.epoch(0).for_each(|batch| drop(batch.unwrap()));
        }
        let before = std::fs::read(&index).unwrap();
        let slow = Storage { latency: std::time::Duration::from_millis(60), ..Storage::NVME };
        let found = examine(Arc::new(Throttled::new(photos(), slow)), &recipe, &asked()).unwrap();
        assert!(std::fs::read(&index).unwrap() == before, "the index of the whole data set");
        assert!(found.notes[0].contains("first epoch"), "{:?}", found.notes);
        assert!(found.alternatives.iter().all(|other| !other.setting.contains("cache")), "{found:?}");
    }

    #[test]
    fn nobody_is_made_to_wait() {
        for most in [1, 2, 10] {
            let mut asked_for = 0;
            let mut go_on = || {
                asked_for += 1;
                asked_for < most
            };
            let found = examine_while(Arc::new(photos()), &recipe(), &asked(), &mut go_on).unwrap();
            assert!(found.is_none() && asked_for == most, "{asked_for} of {most}");
        }
    }

    #[test]
    fn what_cannot_be_examined_is_refused() {
        let refusal = |source, seconds| {
            let asked = Questions { seconds, ..Questions::default() };
            examine(source, &recipe(), &asked).unwrap_err().to_string()
        };
        assert!(refusal(Arc::new(Memory::new(Vec::new())), 1.0).contains("the data set is empty"));
        assert!(refusal(Arc::new(photos()), 0.0).contains("at least 1 second"));
        let rubbish = Memory::new(vec![("a.jpg".into(), vec![7; 100], crate::label::Label::Unlabelled)]);
        let text = refusal(Arc::new(rubbish), 1.0);
        assert!(text.contains("a.jpg"), "{text}");
    }
}
