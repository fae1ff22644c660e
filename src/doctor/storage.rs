//! How fast records are read: by one reader, and by many at once.

use super::held::Record;
use super::patience::Patience;
use super::rate::{Rate, Slices};
use crate::error::{Error, Result};
use crate::loader::spread;
use crate::source::Source;
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The most records that are read, and held, of a data set.
const MOST_RECORDS: usize = 512;
/// The most bytes of each round of reading.
const MOST_BYTES: usize = 128 << 20;
/// Read however long it takes, so that there is something to decode.
const FEWEST_RECORDS: usize = 16;
/// Reads of each reader, if the time is long enough: a data set of few records has them read again.
const READS_OF_EACH: usize = 8;
/// Measurements that a rate is made of.
const SLICES: f64 = 8.0;

/// What reading gave.
#[derive(Clone, Debug, Serialize)]
pub struct StorageRates {
    /// Files a second, by one reader.
    pub one_reader: Rate,
    /// Files a second, by [`StorageRates::readers`] at once.
    pub many_readers: Rate,
    /// How many those are.
    pub readers: usize,
    /// The same by more of them than the loader may have workers, where that was tried.
    pub more_readers: Option<ReadersRate>,
    /// Mean bytes of a file.
    pub mean_bytes: f64,
    /// Variance of the files' bytes over their mean squared: 0 where all are equally large.
    pub size_variation: f64,
    /// Whether the files were dropped from the system's cache first. Where they lie in larger files or not on a disk they are
    /// read as they are found.
    pub cold: bool,
    /// Files that were read.
    pub files: usize,
    /// Files that could not be read, and what was said of the first.
    pub unreadable: usize,
    /// The error that names it.
    pub first_unreadable: Option<String>,
}

/// How fast so many readers are together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadersRate {
    /// How many.
    pub readers: usize,
    /// Files a second of all of them.
    pub files: Rate,
}

/// Who reads: one, then so many at once as there may be workers, and then more where that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Readers {
    pub(super) many: usize,
    pub(super) more: Option<usize>,
}

/// Reads records that lie all over the data set for about `seconds`, others for each number of readers.
///
/// # Errors
/// The first file's, where none can be read; [`Patience::ask`]'s.
pub(super) fn measure(
    source: &dyn Source,
    readers: Readers,
    seconds: f64,
    patience: &mut Patience<'_>,
) -> Result<(StorageRates, Vec<Record>)> {
    let chosen = chosen(source.len());
    let cold =
        chosen.iter().filter(|&&index| source.path(index).is_some_and(drop_pages)).count() == chosen.len();
    let rounds: Vec<usize> = [1, readers.many].into_iter().chain(readers.more).collect();
    let (mut rates, mut records, mut bad) = (Vec::new(), Vec::new(), Vec::new());
    for (number, &together) in rounds.iter().enumerate() {
        let own = chosen.iter().copied().skip(number).step_by(rounds.len()).collect();
        // Of fewer records than rounds each has all.
        let own: Vec<usize> = if chosen.len() < rounds.len() { chosen.clone() } else { own };
        // So many that all readers are at work most of the time.
        let wanted = own.len().max(READS_OF_EACH * together);
        let reads =
            (0..wanted).zip(own.iter().cycle()).map(|(at, &index)| Read { index, again: at >= own.len() });
        let round = read(source, reads.collect(), together, seconds / rounds.len() as f64, patience)?;
        rates.push((!round.records.is_empty()).then_some(round.rate));
        if number == 0 || chosen.len() >= rounds.len() {
            records.extend(round.records);
            bad.extend(round.bad);
        }
    }
    let first_bad = bad.first().map(ToString::to_string);
    let unreadable = bad.len();
    if records.is_empty()
        && let Some(error) = bad.into_iter().next()
    {
        return Err(error);
    }
    // Where all files of a round were bad the others tell.
    let known =
        rates.iter().zip(&rounds).find_map(|(rate, &by)| rate.map(|rate| rate.scaled(1.0 / by as f64)));
    let rate = |at: usize| rates.get(at).copied().flatten().or(known).unwrap_or(Rate::exactly(0.0));
    let more_readers = readers.more.map(|readers| ReadersRate { readers, files: rate(2) });
    let sizes: Vec<f64> = records.iter().map(|record| record.bytes.len() as f64).collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
    let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / sizes.len().max(1) as f64;
    let rates = StorageRates {
        one_reader: rate(0),
        many_readers: rate(1),
        readers: readers.many,
        more_readers,
        mean_bytes: mean,
        size_variation: variance / (mean * mean).max(1.0),
        cold,
        files: records.len(),
        unreadable,
        first_unreadable: first_bad,
    };
    Ok((rates, records))
}

/// Indices all over a data set of `len` records, in no order that storage could guess, the same each time.
fn chosen(len: usize) -> Vec<usize> {
    let count = len.min(MOST_RECORDS);
    let spread = (0..count).map(|at| at * len / count.max(1));
    let mut keyed: Vec<(u64, usize)> =
        spread.map(|index| ((index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15), index)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, index)| index).collect()
}

/// A record that is to be read.
struct Read {
    index: usize,
    /// Not for the first time: what the system has kept of it since is dropped.
    again: bool,
}

/// What one round of reading gave.
struct Round {
    rate: Rate,
    records: Vec<Record>,
    bad: Vec<Error>,
}

fn read(
    source: &dyn Source,
    reads: Vec<Read>,
    readers: usize,
    seconds: f64,
    patience: &mut Patience<'_>,
) -> Result<Round> {
    let slices = Mutex::new(Slices::of(seconds / SLICES));
    let (taken, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let started = Instant::now();
    let now = || started.elapsed().as_secs_f64();
    let work = |Read { index, again }: Read| {
        let enough = now() > seconds || held.load(Relaxed) > MOST_BYTES;
        if taken.fetch_add(1, Relaxed) >= FEWEST_RECORDS && enough {
            return None;
        }
        if again {
            source.path(index).map(drop_pages);
        }
        let record = Record::read(source, index);
        if record.is_ok() {
            slices.lock().unwrap_or_else(PoisonError::into_inner).add(1.0, now());
        }
        let record = (!again).then_some(record)?;
        held.fetch_add(record.as_ref().map_or(0, |record| record.bytes.len()), Relaxed);
        Some(record)
    };
    let results = spread(reads, readers, work, &mut || patience.ask().is_ok()).unwrap_or_default();
    patience.ask()?;
    let took = now().max(1e-9);
    let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().flatten().partition(Result::is_ok);
    let records: Vec<Record> = good.into_iter().filter_map(Result::ok).collect();
    let slices = slices.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rate = slices.rate(took).unwrap_or(Rate::exactly(records.len() as f64 / took));
    Ok(Round { rate, records, bad: bad.into_iter().filter_map(Result::err).collect() })
}

/// Asks the system to forget what it holds of a file; false where it cannot be asked.
#[cfg(target_os = "linux")]
fn drop_pages(path: &Path) -> bool {
    use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
    let Ok(file) = crate::regular_file::open(path) else { return false };
    !is_in_memory(&file) && posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED).is_ok()
}

/// Whether a file lies in memory and nowhere else, from where nothing can be dropped.
#[cfg(target_os = "linux")]
fn is_in_memory(file: &std::fs::File) -> bool {
    use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
    fstatfs(file).is_ok_and(|about| about.filesystem_type() == TMPFS_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(_path: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;
    use crate::source::{Folder, Memory, Storage, Throttled};
    use std::collections::BTreeSet;

    fn measured(source: &dyn Source, many: usize, seconds: f64) -> Result<(StorageRates, Vec<Record>)> {
        measure(source, Readers { many, more: None }, seconds, &mut Patience::of(&mut || true))
    }

    #[test]
    fn records_lie_all_over_the_data_set_and_each_comes_once() {
        for len in [0, 1, 3, 512, 513, 1_000_000] {
            let chosen = chosen(len);
            let each: BTreeSet<usize> = chosen.iter().copied().collect();
            assert_eq!((chosen.len(), each.len()), (len.min(512), len.min(512)), "{len}");
            assert!(each.iter().all(|&index| index < len));
            assert!(len < 1000 || each.last().is_some_and(|last| last * 10 > len * 9));
        }
    }

    #[test]
    fn the_rates_are_those_of_the_storage() {
        // So many that none of the chosen lies just behind another.
        let records = (0..20_000).map(|at| (at.to_string(), vec![0; 100], Label::Unlabelled)).collect();
        let storage = Storage { latency: std::time::Duration::from_millis(50), parallel: 4, ..Storage::NVME };
        let source = Throttled::new(Memory::new(records), storage);
        let (rates, read) = measured(&source, 8, 2.0).unwrap();
        assert!((5.0..=20.5).contains(&rates.one_reader.per_s), "{rates:?}");
        assert!(rates.many_readers.per_s > 1.5 * rates.one_reader.per_s, "{rates:?}");
        assert_eq!((rates.mean_bytes, rates.size_variation, rates.cold), (100.0, 0.0, false));
        assert_eq!(read.len(), rates.files);
    }

    #[test]
    fn more_readers_than_workers_are_tried_on_other_records() {
        let records = (0..20_000).map(|at| (at.to_string(), vec![0; 100], Label::Unlabelled)).collect();
        let storage =
            Storage { latency: std::time::Duration::from_millis(20), parallel: 64, ..Storage::NVME };
        let source = Throttled::new(Memory::new(records), storage);
        let readers = Readers { many: 2, more: Some(32) };
        let (rates, read) = measure(&source, readers, 2.0, &mut Patience::of(&mut || true)).unwrap();
        let more = rates.more_readers.unwrap();
        assert!(more.readers == 32 && more.files.per_s > 2.0 * rates.many_readers.per_s, "{rates:?}");
        let each: BTreeSet<usize> = read.iter().map(|record| record.index).collect();
        assert_eq!(each.len(), read.len());
        let nobody = measure(&source, readers, 2.0, &mut Patience::of(&mut || false));
        assert!(nobody.is_err(), "nobody waits for it");
    }

    #[test]
    fn few_records_are_read_again_by_many_readers() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        for name in 0..6 {
            std::fs::write(folder.path().join(format!("a/{name}.jpg")), [0xFF, 0xD8]).unwrap();
        }
        let storage =
            Storage { latency: std::time::Duration::from_millis(100), parallel: 64, ..Storage::NVME };
        let source = Throttled::new(Folder::open(folder.path()).unwrap(), storage);
        let (rates, read) = measured(&source, 16, 2.0).unwrap();
        assert_eq!((read.len(), rates.files), (6, 6), "each is held once");
        // Three at a time are 30 a second at most.
        assert!(rates.many_readers.per_s > 60.0, "{rates:?}");
    }

    #[test]
    fn a_round_of_bad_files_has_the_rate_of_the_others() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        for name in ["one.jpg", "two.jpg"] {
            std::fs::write(folder.path().join("a").join(name), [0xFF, 0xD8]).unwrap();
        }
        let source = Folder::open(folder.path()).unwrap();
        let first = chosen(2)[0];
        std::fs::remove_file(source.path(first).unwrap()).unwrap();
        let rates = measured(&source, 4, 0.1).unwrap().0;
        assert!(
            rates.one_reader.per_s > 0.0 && rates.many_readers.per_s > rates.one_reader.per_s,
            "{rates:?}"
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let path = folder.path().join("a/gone.jpg");
        std::fs::write(&path, [0xFF, 0xD8]).unwrap();
        let source = Folder::open(folder.path()).unwrap();
        let on_disk = !is_in_memory(&std::fs::File::open(&path).unwrap());
        assert_eq!(measured(&source, 2, 0.1).unwrap().0.cold, on_disk);
        std::fs::write(folder.path().join("a/there.jpg"), [0xFF, 0xD8]).unwrap();
        let both = Folder::open(folder.path()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let error = measured(&source, 2, 0.1).unwrap_err().to_string();
        assert!(error.contains("gone.jpg"), "{error}");
        let (rates, read) = measured(&both, 2, 0.1).unwrap();
        assert_eq!((read.len(), rates.files, rates.unreadable), (1, 1, 1), "the others are measured");
        assert!(rates.first_unreadable.is_some_and(|error| error.contains("gone.jpg")));
    }
}
