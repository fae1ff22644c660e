//! Any source as it would be on storage that is slower than this machine's.

use super::{Destination, IoStats, Source};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Records that a system reads ahead of those that it was asked for one after another; so far readers overtake each other.
const READ_AHEAD: usize = 8;
/// Sequences that are read at once.
const SEQUENCES: usize = 2;

/// How fast storage is: a delay ahead of each read, a rate for each read, a rate for all together, and how many reads
/// are served at once. The rates are in bytes a second.
///
/// ```
/// use feedline::source::Storage;
///
/// let disk: Storage = "hdd".parse()?;
/// assert_eq!((disk.parallel, disk.latency.as_millis()), (1, 8));
/// assert_eq!("300".parse::<Storage>()?.bytes_per_s, 300e6);
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Storage {
    /// From a read's request to its first byte. A read that goes on where the last one ended has none, where records lie one
    /// behind the other in a larger file.
    pub latency: Duration,
    /// Of one read.
    pub bytes_per_read_s: f64,
    /// Of all reads together.
    pub bytes_per_s: f64,
    /// Reads that are served at once; others wait.
    pub parallel: usize,
}

impl Storage {
    /// A hard disk of 7,200 revolutions a minute: 8 ms to a file, one after another, 200 MB/s.
    pub const HDD: Self = Self::new(8_000, 200e6, 200e6, 1);
    /// A solid-state disk on SATA: 0.1 ms, 32 at once, 530 MB/s.
    pub const SATA: Self = Self::new(100, 530e6, 530e6, 32);
    /// A solid-state disk on NVMe: 0.08 ms, 64 at once, 3,500 MB/s, of which one read has 1,500.
    pub const NVME: Self = Self::new(80, 1.5e9, 3.5e9, 64);
    /// An object store in the same data centre: 30 ms to the first byte, 90 MB/s a request, and a network of 10 Gbit/s.
    pub const S3: Self = Self::new(30_000, 90e6, 1.25e9, 512);

    /// Those that have a word.
    pub const NAMED: [(&'static str, Self); 4] =
        [("hdd", Self::HDD), ("sata", Self::SATA), ("nvme", Self::NVME), ("s3", Self::S3)];

    const fn new(latency_us: u64, bytes_per_read_s: f64, bytes_per_s: f64, parallel: usize) -> Self {
        Self { latency: Duration::from_micros(latency_us), bytes_per_read_s, bytes_per_s, parallel }
    }

    /// What can be reckoned with.
    fn bounded(self) -> Self {
        Self {
            latency: self.latency.min(Duration::from_secs(3600)),
            bytes_per_read_s: self.bytes_per_read_s.max(1.0),
            bytes_per_s: self.bytes_per_s.max(1.0),
            parallel: self.parallel.clamp(1, 1 << 16),
        }
    }
}

impl FromStr for Storage {
    type Err = Error;

    /// `hdd`, `sata`, `nvme` or `s3`, or a rate in MB of 1,000,000 bytes a second, of which each read has its turn.
    fn from_str(text: &str) -> Result<Self> {
        let named = Self::NAMED.iter().find(|(name, _)| *name == text).map(|(_, storage)| *storage);
        let rated = || {
            let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.001)?;
            Some(Self::new(0, rate * 1e6, rate * 1e6, 1))
        };
        named.or_else(rated).ok_or_else(|| {
            Error::config(format!(
                "`{text}` is no storage: say hdd, sata, nvme, s3, or a rate in MB/s of at least 0.001"
            ))
        })
    }
}

/// Hands out what another source does, no sooner than [`Storage`] would.
///
/// For measuring: what would become of a pipeline whose data lay elsewhere. Reads that take longer by themselves than the
/// storage would are not slowed. What is read beside images (masks, fields) is not slowed either.
#[derive(Debug)]
pub struct Throttled<S> {
    source: S,
    storage: Storage,
    schedule: Mutex<Schedule>,
}

/// When what was asked for until now is there.
#[derive(Debug)]
struct Schedule {
    /// When each of the reads that are served at once is done.
    lanes: Vec<Instant>,
    /// When the bytes of all have passed.
    passed: Instant,
    /// How far sequences of records have come, and in which file, the one that was read last behind the others.
    sequences: VecDeque<(PathBuf, usize)>,
}

impl<S: Source> Throttled<S> {
    /// `source` as if it lay on `storage`. A rate below a byte a second counts as that, a latency above an hour as an hour, and of
    /// reads at once there are between one and 65,536.
    pub fn new(source: S, storage: Storage) -> Self {
        let now = Instant::now();
        let storage = storage.bounded();
        let schedule =
            Schedule { lanes: vec![now; storage.parallel], passed: now, sequences: VecDeque::new() };
        Self { source, storage, schedule: Mutex::new(schedule) }
    }

    /// Waits until a read that began at `asked` would have had its bytes.
    fn wait(&self, index: usize, asked: Instant, bytes: usize) {
        let there = {
            let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
            let file = || self.source.file(index).map(Cow::into_owned).unwrap_or_default();
            let goes_on =
                self.source.path(index).is_none() && schedule.goes_on(file(), self.source.record(index));
            let latency = if goes_on { Duration::ZERO } else { self.storage.latency };
            schedule.serve(&self.storage, latency, asked, bytes as f64)
        };
        thread::sleep(there.saturating_duration_since(Instant::now()));
    }
}

impl Schedule {
    /// Whether a record of a file belongs to a sequence that is being read.
    fn goes_on(&mut self, file: PathBuf, record: usize) -> bool {
        let is_near = |(other, at): &(PathBuf, usize)| *other == file && at.abs_diff(record) <= READ_AHEAD;
        let known = self.sequences.iter().position(is_near);
        let before = known.and_then(|place| self.sequences.remove(place));
        self.sequences.push_back((file, before.map_or(record, |(_, at)| at.max(record))));
        if self.sequences.len() > SEQUENCES {
            self.sequences.pop_front();
        }
        known.is_some()
    }

    fn serve(&mut self, storage: &Storage, latency: Duration, asked: Instant, bytes: f64) -> Instant {
        // There is at least one.
        let Some(lane) = self.lanes.iter_mut().min() else { return asked };
        let first_byte = asked.max(*lane) + latency;
        self.passed = self.passed.max(first_byte) + Duration::from_secs_f64(bytes / storage.bytes_per_s);
        let alone = first_byte + Duration::from_secs_f64(bytes / storage.bytes_per_read_s);
        *lane = alone.max(self.passed);
        *lane
    }
}

impl<S: Source> Source for Throttled<S> {
    pass_on!([.source] len key path version label mask fields jpeg_sha256 classes shard_ends record is_known_ahead);
    pass_on!([.source] mix_order);

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let asked = Instant::now();
        self.source.read(index, bytes)?;
        self.wait(index, asked, bytes.len());
        Ok(())
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        let asked = Instant::now();
        self.source.read_into(index, to)?;
        self.wait(index, asked, to.bytes().len());
        Ok(())
    }

    fn io_stats(&self) -> IoStats {
        self.source.io_stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;
    use crate::source::Memory;

    fn served(storage: Storage, requests: &[(u64, f64)]) -> Vec<u64> {
        let start = Instant::now();
        let mut schedule =
            Schedule { lanes: vec![start; storage.parallel], passed: start, sequences: VecDeque::new() };
        let at = |ms| start + Duration::from_millis(ms);
        let there = requests.iter().map(|&(asked, bytes)| {
            let there = schedule.serve(&storage, storage.latency, at(asked), bytes);
            (there - start).as_millis() as u64
        });
        there.collect()
    }

    #[test]
    fn a_disk_serves_one_after_another_and_a_store_many_at_once() {
        // 8 ms to each file, and 10 ms for 2 MB.
        assert_eq!(served(Storage::HDD, &[(0, 2e6), (0, 2e6), (100, 2e6)]), [18, 36, 118]);
        // 30 ms to each, 100 ms for 9 MB, side by side until the network is full: 9 MB take 7.2 ms there.
        assert_eq!(served(Storage::S3, &[(0, 9e6), (0, 9e6), (50, 9e6)]), [130, 130, 180]);
        let many = served(Storage::S3, &[(0, 9e6); 40]);
        assert_eq!(*many.last().unwrap(), 30 + 288);
    }

    #[test]
    fn what_lies_near_the_last_record_of_a_larger_file_is_read_on() {
        let (lanes, passed) = (Vec::new(), Instant::now());
        let mut schedule = Schedule { lanes, passed, sequences: VecDeque::new() };
        let mut reads = |records: &[usize], file: &str| {
            records.iter().map(|&record| schedule.goes_on(file.into(), record)).collect::<Vec<_>>()
        };
        assert_eq!(reads(&[0, 2, 1, 50, 3, 90, 4], "a"), [false, true, true, false, true, false, true]);
        assert_eq!(reads(&[5, 6], "b"), [false, true], "another file begins");
    }

    #[test]
    fn storage_that_nothing_comes_from_is_slow_and_no_panic() {
        let storage = Storage {
            latency: Duration::MAX,
            bytes_per_read_s: f64::NAN,
            bytes_per_s: -3.0,
            parallel: usize::MAX,
        };
        let storage = storage.bounded();
        assert_eq!((storage.latency.as_secs(), storage.parallel), (3600, 1 << 16));
        assert_eq!(served(Storage { parallel: 1, ..storage }, &[(0, 5.0)]), [3_605_000]);
        assert_eq!(Storage::S3.bounded(), Storage::S3);
    }

    #[test]
    fn a_read_takes_as_long_as_the_storage_would_and_gives_what_the_source_does() {
        let records = vec![("a".to_owned(), vec![7; 10], Label::Class(3))];
        let storage = Storage { latency: Duration::from_millis(30), ..Storage::NVME };
        let source = Throttled::new(Memory::new(records), storage);
        let (started, mut bytes) = (Instant::now(), Vec::new());
        source.read(0, &mut bytes).unwrap();
        assert!(started.elapsed() >= storage.latency);
        assert_eq!((bytes, source.label(0)), (vec![7; 10], Label::Class(3)));
    }

    #[test]
    fn a_word_that_is_no_storage_is_refused_with_those_that_are() {
        for text in ["", "floppy", "-3", "nan", "inf", "0"] {
            let refusal = text.parse::<Storage>().unwrap_err().to_string();
            assert!(refusal.contains("hdd, sata, nvme, s3"), "{refusal}");
        }
    }
}
