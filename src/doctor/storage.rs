//! How fast records are read: by one reader, and by many at once.

use super::held::Record;
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
/// The most bytes of them.
const MOST_BYTES: usize = 256 << 20;
/// Read however long it takes, so that there is something to decode.
const FEWEST_RECORDS: usize = 16;
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

/// Reads records that lie all over the data set for about `seconds`, first with one reader and then, others, with many.
pub(super) fn measure(
    source: &dyn Source,
    readers: usize,
    seconds: f64,
) -> Result<(StorageRates, Vec<Record>)> {
    let chosen = chosen(source.len());
    let cold =
        chosen.iter().filter(|&&index| source.path(index).is_some_and(drop_pages)).count() == chosen.len();
    let (first, second): (Vec<_>, Vec<_>) = chosen.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let plain = |half: Vec<(usize, &usize)>| half.into_iter().map(|(_, &index)| index).collect::<Vec<_>>();
    let (first, second) = (plain(first), plain(second));
    // A data set of one record has it in both.
    let second = if second.is_empty() { first.clone() } else { second };
    let one = read(source, first, 1, seconds / 2.0);
    let many = read(source, second, readers, seconds / 2.0);
    let (one_reader, many_readers) = (one.rate, many.rate);
    let mut bad = one.bad.into_iter().chain(many.bad);
    let (first_bad, unreadable) = (bad.next(), bad.count());
    let records: Vec<Record> = one.records.into_iter().chain(many.records).collect();
    let first_unreadable = match first_bad {
        Some(error) if records.is_empty() => return Err(error),
        other => other.map(|error| error.to_string()),
    };
    let sizes: Vec<f64> = records.iter().map(|record| record.bytes.len() as f64).collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
    let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / sizes.len().max(1) as f64;
    let rates = StorageRates {
        one_reader,
        many_readers,
        readers,
        mean_bytes: mean,
        size_variation: variance / (mean * mean).max(1.0),
        cold,
        files: records.len(),
        unreadable: unreadable + usize::from(first_unreadable.is_some()),
        first_unreadable,
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

/// What one round of reading gave.
struct Read {
    rate: Rate,
    records: Vec<Record>,
    bad: Vec<Error>,
}

fn read(source: &dyn Source, indices: Vec<usize>, readers: usize, seconds: f64) -> Read {
    let slices = Mutex::new(Slices::of(seconds / SLICES));
    let (taken, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let started = Instant::now();
    let now = || started.elapsed().as_secs_f64();
    let work = |index: usize| {
        let enough = now() > seconds || held.load(Relaxed) > MOST_BYTES / 2;
        if taken.fetch_add(1, Relaxed) >= FEWEST_RECORDS && enough {
            return None;
        }
        let mut bytes = Vec::new();
        if let Err(error) = source.read(index, &mut bytes) {
            return Some(Err(error));
        }
        held.fetch_add(bytes.len(), Relaxed);
        slices.lock().unwrap_or_else(PoisonError::into_inner).add(1.0, now());
        Some(Ok(Record { index, bytes: bytes.into() }))
    };
    let results = spread(indices, readers, work, &mut || true).unwrap_or_default();
    let took = now().max(1e-9);
    let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().flatten().partition(Result::is_ok);
    let records: Vec<Record> = good.into_iter().filter_map(Result::ok).collect();
    let slices = slices.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rate = slices.rate(took).unwrap_or(Rate::exactly(records.len() as f64 / took));
    Read { rate, records, bad: bad.into_iter().filter_map(Result::err).collect() }
}

/// Asks the system to forget what it holds of a file; false where it cannot be asked.
#[cfg(target_os = "linux")]
fn drop_pages(path: &Path) -> bool {
    use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
    let opened = crate::regular_file::open(path);
    opened.is_ok_and(|file| posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED).is_ok())
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
        let (rates, read) = measure(&source, 8, 2.0).unwrap();
        assert!((5.0..=20.5).contains(&rates.one_reader.per_s), "{rates:?}");
        assert!(rates.many_readers.per_s > 1.5 * rates.one_reader.per_s, "{rates:?}");
        assert_eq!((rates.mean_bytes, rates.size_variation, rates.cold), (100.0, 0.0, false));
        assert_eq!(read.len(), rates.files);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let path = folder.path().join("a/gone.jpg");
        std::fs::write(&path, [0xFF, 0xD8]).unwrap();
        let source = Folder::open(folder.path()).unwrap();
        assert!(measure(&source, 2, 0.1).unwrap().0.cold);
        std::fs::write(folder.path().join("a/there.jpg"), [0xFF, 0xD8]).unwrap();
        let both = Folder::open(folder.path()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let error = measure(&source, 2, 0.1).unwrap_err().to_string();
        assert!(error.contains("gone.jpg"), "{error}");
        let (rates, read) = measure(&both, 2, 0.1).unwrap();
        assert_eq!((read.len(), rates.files, rates.unreadable), (1, 1, 1), "the others are measured");
        assert!(rates.first_unreadable.is_some_and(|error| error.contains("gone.jpg")));
    }
}
