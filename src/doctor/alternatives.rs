//! Other settings, and what they would give: by the model, or measured where they change the work.

use super::MOST_WORKERS_A_CORE;
use super::held::Record;
use super::model::Parts;
use super::patience::Patience;
use super::rate::Rate;
use super::storage::{ReadersRate, StorageRates};
use super::work::{self, WorkRates};
use crate::coefficients::{Converter, Profile};
use crate::error::Result;
use crate::image::{Format, parse_header};
use crate::jpeg::Limits;
use crate::loader::stored_pixels;
use crate::machine;
use crate::policy::{CachePlace, DecodeScale};
use crate::recipe::Recipe;
use crate::source::{Make, Source};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// What gains less is not worth a change.
const GAIN: f64 = 1.05;
/// Where decoding takes less of the workers' time, faster decoding is not tried.
const DECODE_MATTERS: f64 = 0.3;
/// Files that are converted, to see what others in their place give.
const TRIED: usize = 96;
/// The most bytes of decoded ones.
const MOST_DECODED: u64 = 512 << 20;

/// Another setting.
#[derive(Clone, Debug, Serialize)]
pub struct Alternative {
    /// What to set or do.
    pub setting: String,
    /// Images a second, with the trainer where one is known.
    pub together: Rate,
    /// What it costs, or when it does not hold.
    pub note: String,
    /// Whether its work was measured; else it follows from the other measurements.
    pub measured: bool,
}

/// What is tried.
pub(super) struct Tried<'a, 'p> {
    pub(super) source: &'a Arc<dyn Source>,
    pub(super) records: &'a Arc<[Record]>,
    pub(super) recipe: &'a Recipe,
    /// For each measurement.
    pub(super) seconds: f64,
    pub(super) patience: &'a mut Patience<'p>,
}

impl Tried<'_, '_> {
    /// Those that gain something, the best first. What cannot be tried is left out.
    ///
    /// # Errors
    /// [`Patience::ask`]'s.
    pub(super) fn all(
        mut self,
        parts: &Parts,
        workers: usize,
        storage: &StorageRates,
    ) -> Result<Vec<Alternative>> {
        let mut found = Vec::new();
        found.extend(more_workers(parts, workers));
        found.extend(self.cached(parts, workers, storage));
        let work = self.measure(self.records, self.recipe, parts)?;
        if work.decode >= DECODE_MATTERS {
            found.extend(self.decoded(parts, workers, &work).ok().flatten());
            found.extend(self.fast(parts, workers, &work).ok().flatten());
            found.extend(self.coefficients(parts, workers, (&work, storage)).ok().flatten());
        }
        self.patience.ask()?;
        let now = parts.together(workers).per_s;
        found.retain(|other| other.together.per_s >= GAIN * now);
        found.sort_by(|a, b| b.together.per_s.total_cmp(&a.together.per_s));
        Ok(found)
    }

    /// All cores at once, next to the others in time, so that what else the machine does falls on all alike.
    fn measure(&mut self, records: &Arc<[Record]>, recipe: &Recipe, parts: &Parts) -> Result<WorkRates> {
        work::measure(self.source, records, recipe, parts.cores, self.seconds, self.patience)
    }

    /// The most bytes of a cache in memory; none where the recipe has a cache already, or the system has none that processes
    /// share.
    fn room(&self) -> Option<f64> {
        let loader = &self.recipe.options.loader;
        if loader.cache() != CachePlace::Off || loader.byte_cache().0 > 0 || !cfg!(target_os = "linux") {
            return None;
        }
        let usual = machine::available()?.min(machine::free_in(Path::new("/dev/shm"))?) / 2;
        Some(loader.cache_limit.map_or(usual, |limit| limit.0) as f64)
    }

    /// Files in memory from the second epoch on.
    fn cached(&self, parts: &Parts, workers: usize, storage: &StorageRates) -> Option<Alternative> {
        let bytes = storage.mean_bytes * self.source.len() as f64;
        // What lay on a disk of this machine and was dropped from its cache would stay there.
        let also = if storage.cold { "; of a local disk the system keeps as much by itself" } else { "" };
        (bytes < self.room()?).then(|| Alternative {
            setting: "cache = \"ram\"".into(),
            together: parts.without_storage().together(workers),
            note: format!("from the second epoch on; it takes {:.1} GB{also}", bytes / 1e9),
            measured: false,
        })
    }

    /// JPEGs decoded at a half or less where they are shrunk anyway.
    fn fast(&mut self, parts: &Parts, workers: usize, now: &WorkRates) -> Result<Option<Alternative>> {
        if parts.on_gpu || self.recipe.options.decode.scale == Some(DecodeScale::Fast) {
            return Ok(None);
        }
        let mut recipe = self.recipe.clone();
        recipe.options.decode.scale = Some(DecodeScale::Fast);
        let fast = self.measure(self.records, &recipe, parts)?;
        Ok(Some(Alternative {
            setting: "decode_scale = \"fast\"".into(),
            together: scaled(parts, now, &fast).together(workers),
            note: "pixels differ a little where images are shrunk to a half or less".into(),
            measured: true,
        }))
    }

    /// Pixels in place of files, in memory.
    fn decoded(&mut self, parts: &Parts, workers: usize, now: &WorkRates) -> Result<Option<Alternative>> {
        let make = stored_pixels(&self.recipe.options);
        let (mut records, mut bytes) = (Vec::new(), 0);
        for record in self.records.iter().take(TRIED) {
            let mut made = Vec::new();
            if make.make(&record.bytes, MOST_DECODED.saturating_sub(bytes), &mut made) {
                bytes += made.len() as u64;
                records.push(record.with_bytes(made));
            }
        }
        let takes = bytes as f64 / records.len().max(1) as f64 * self.source.len() as f64;
        if records.is_empty() || self.room().is_none_or(|room| takes > room) {
            return Ok(None);
        }
        let decoded = self.measure(&records.into(), self.recipe, parts)?;
        Ok(Some(Alternative {
            setting: "cache = \"ram\", cache_form = \"decoded\"".into(),
            together: scaled(&parts.without_storage(), now, &decoded).together(workers),
            note: format!("from the second epoch on; it takes {:.1} GB", takes / 1e9),
            measured: true,
        }))
    }

    /// The files' coefficients in place of the JPEGs.
    fn coefficients(
        &mut self,
        parts: &Parts,
        workers: usize,
        (now, storage): (&WorkRates, &StorageRates),
    ) -> Result<Option<Alternative>> {
        let Some((records, growth)) = self.converted() else { return Ok(None) };
        let packed = self.measure(&records, self.recipe, parts)?;
        let slower = |rate: Rate| rate.scaled(1.0 / growth);
        let parts = Parts {
            one_reader: slower(storage.one_reader),
            many_readers: slower(storage.many_readers),
            more_readers: storage.more_readers.map(|more| ReadersRate { files: slower(more.files), ..more }),
            ..scaled(parts, now, &packed)
        };
        Ok(Some(Alternative {
            setting: "feedline pack --format coefficients".into(),
            together: parts.together(workers),
            note: format!("the same pixels; files are {growth:.2} times as large"),
            measured: true,
        }))
    }

    /// Some JPEGs as files of coefficients, and by how much they grow; none where few of the files are JPEGs.
    fn converted(&self) -> Option<(Arc<[Record]>, f64)> {
        let mut converter = Converter::new(&Limits::default(), Profile::default());
        let is_jpeg =
            |record: &&Record| parse_header(&record.bytes).is_ok_and(|header| header.format == Format::Jpeg);
        let some: Vec<&Record> = self.records.iter().take(TRIED).collect();
        let jpegs: Vec<&Record> = some.iter().copied().filter(is_jpeg).collect();
        if jpegs.len() * 2 < some.len() || jpegs.is_empty() {
            return None;
        }
        let (mut before, mut after, mut records) = (0, 0, Vec::new());
        for record in jpegs {
            let mut bytes = Vec::new();
            // What cannot be converted stays a JPEG.
            if converter.convert(&record.bytes, &mut bytes).is_ok() {
                (before, after) = (before + record.bytes.len(), after + bytes.len());
                records.push(record.with_bytes(bytes));
            }
        }
        (before > 0).then(|| (records.into(), after as f64 / before as f64))
    }
}

/// The parts with the work of `other` in place of that of `now`. Its rate follows from the processor time of a sample, which
/// a machine that is busy with something else changes less than the rate; not on a GPU, whose time that is not.
fn scaled(parts: &Parts, now: &WorkRates, other: &WorkRates) -> Parts {
    let slower = other.cpu_seconds / now.cpu_seconds.max(f64::MIN_POSITIVE);
    let faster = match slower > 0.0 && slower.is_finite() && !parts.on_gpu {
        true => 1.0 / slower,
        // Where the system does not tell the processor time, too.
        false => other.samples.per_s / now.samples.per_s.max(f64::MIN_POSITIVE),
    };
    Parts {
        one_worker: parts.one_worker.scaled(faster),
        all_cores: parts.all_cores.scaled(faster),
        cpu_seconds: if slower.is_finite() { parts.cpu_seconds * slower } else { parts.cpu_seconds },
        reads: other.reads,
        ..*parts
    }
}

/// The fewest workers that give about as much as any number does.
fn more_workers(parts: &Parts, workers: usize) -> Option<Alternative> {
    let most = MOST_WORKERS_A_CORE * parts.cores;
    let best = (1..=most).map(|count| parts.together(count).per_s).fold(0.0, f64::max);
    let count = (1..=most).find(|&count| parts.together(count).per_s >= 0.98 * best)?;
    // Whether the last of them still gained in proportion.
    let still_gains = parts.together(most).per_s > 1.1 * parts.together(most - most / 4).per_s;
    let note = match still_gains {
        true => format!("more than {most} were not tried"),
        false => "more of them only wait for the same".into(),
    };
    (count > workers).then(|| Alternative {
        setting: format!("workers = {count}"),
        together: parts.together(count),
        note,
        measured: false,
    })
}
