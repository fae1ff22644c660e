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
mod rate;
mod storage;
mod work;

pub use alternatives::Alternative;
pub use gpus::{GpuMeter, GpuUse, gpu_use};
pub use model::TrainerRate;
pub use rate::Rate;
pub use storage::StorageRates;
pub use work::WorkRates;

use crate::error::{Result, ensure};
use crate::loader::cores;
use crate::recipe::Recipe;
use crate::source::Source;
use held::Record;
use model::Parts;
use serde::Serialize;
use std::sync::Arc;

/// How much faster than the trainer a loader has to be for the trainer never to wait.
pub const ENOUGH: f64 = 1.2;
/// Workers for each core that a loader takes by itself where reading is the limit.
const MOST_WORKERS_A_CORE: usize = 4;
/// The shortest time that says anything.
const SHORTEST_SECONDS: f64 = 1.0;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Questions {
    /// About how many seconds all measurements may take, at least 1.
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
    /// What other settings would give.
    pub alternatives: Vec<Alternative>,
    /// What limits, why, and what to do, in words.
    pub explanation: String,
}

/// Measures and judges a recipe on a source.
///
/// It takes as long as it is asked to, and about a third more where other settings are tried. Files of a folder are dropped
/// from the system's cache before they are read, so that reading is that of a first epoch; nothing else is changed.
///
/// # Errors
/// The first of the data's errors where no file can be read; [`crate::error::Error::Config`] where the data are empty, or the
/// recipe and the data do not fit; those of the device.
pub fn examine(source: Arc<dyn Source>, recipe: &Recipe, asked: &Questions) -> Result<Diagnosis> {
    ensure!(!source.is_empty(), "the data set is empty: name one that has images");
    ensure!(
        asked.seconds.is_finite() && asked.seconds >= SHORTEST_SECONDS,
        "seconds is {}: measure for at least {SHORTEST_SECONDS} second",
        asked.seconds
    );
    let cores = cores();
    let told = recipe.options.loader.workers;
    let most = told.unwrap_or(MOST_WORKERS_A_CORE * cores);
    let (storage, records) = storage::measure(&*source, most.max(2), 0.2 * asked.seconds)?;
    let records: Arc<[Record]> = records.into();
    let work = |workers, part: f64| work::measure(&source, &records, recipe, workers, part * asked.seconds);
    let one_worker = work(1, 0.25)?;
    let all_cores = if cores > 1 { work(cores, 0.35)? } else { one_worker.clone() };
    let parts = Parts {
        cores,
        one_worker: one_worker.samples,
        all_cores: all_cores.samples,
        cpu_seconds: all_cores.cpu_seconds,
        reads: all_cores.reads,
        one_reader: storage.one_reader,
        many_readers: storage.many_readers,
        readers: storage.readers,
        variation: storage.size_variation,
        trainer: asked.trainer,
    };
    let workers = told.unwrap_or_else(|| automatic(&parts, most));
    let alternatives = match asked.alternatives {
        true => {
            let tried = alternatives::Tried {
                source: &source,
                records: &records,
                recipe,
                seconds: 0.1 * asked.seconds,
            };
            tried.all(&parts, workers, &storage)?
        }
        false => Vec::new(),
    };
    let mut found = Diagnosis {
        images: source.len(),
        verdict: verdict(&parts, workers, &all_cores),
        loader_alone: parts.alone(workers),
        together: parts.together(workers),
        storage,
        one_worker,
        all_cores,
        cores,
        trainer: asked.trainer,
        gpus: Vec::new(),
        workers,
        alternatives,
        explanation: String::new(),
    };
    found.explanation = found.explain();
    Ok(found)
}

/// Workers as a loader takes them by itself: one a core, and more as long as reading is waited for.
fn automatic(parts: &Parts, most: usize) -> usize {
    let gains = |workers: &usize| parts.alone(*workers).per_s > 1.02 * parts.alone(workers - 1).per_s;
    (parts.cores + 1..=most).take_while(gains).last().unwrap_or(parts.cores)
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
        let mut recipe = recipe();
        recipe.options.loader.workers = Some(1);
        let found = examine(Arc::new(Throttled::new(photos(), storage)), &recipe, &asked()).unwrap();
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
