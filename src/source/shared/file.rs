//! The file of a shared cache, open: its entries are read and written by any number of threads and processes at once.

use super::layout::{END_AT, END_BYTES, ENTRY_BYTES, Entry, end_to_bytes, entry_at, hash, read_end};
use super::lock::{Byte, Hold, try_lock};
use crate::destination::Destination;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A half-written entry is read again: its writer needs less than a microsecond.
const ENTRY_TRIES: usize = 3;
/// How long the end is waited for, which others hold for some microseconds; one that was stopped meanwhile holds it for longer.
const END_WAIT: Duration = Duration::from_millis(100);
/// The pauses between tries.
const END_PAUSE: Duration = Duration::from_micros(50);
/// Where the end could not be had, so many records are not stored before it is tried again.
const REFUSED_AT_ONCE: u32 = 1000;
/// What is stored is compared with the file's length before memory of such a size is taken for it.
const LARGE: u64 = 1 << 20;
/// Seconds between two notes that a file on a disk is still used, which who looks for files without a use goes by.
const NOTED_EVERY: u64 = 3600;

/// A file that this process uses.
#[derive(Debug)]
pub(super) struct CacheFile {
    file: File,
    path: PathBuf,
    /// Whether it stays where nobody uses it.
    stays: bool,
    /// Which process opened it; a forked child has the same locks, and leaves them alone.
    process: u32,
    records: u64,
    /// Where the stored bytes begin.
    start: u64,
    limit: u64,
    /// Up to where room is taken, as far as this process knows.
    end: AtomicU64,
    /// The end is moved by one thread at a time, since all have the same locks: how many records are still not to be stored.
    refused: Mutex<u32>,
    /// Nothing more can be written.
    is_stopped: AtomicBool,
    opened: Instant,
    /// In which hour since then a use was noted last.
    noted: AtomicU64,
    full: AtomicU64,
    busy: AtomicU64,
    failures: AtomicU64,
    damaged: AtomicU64,
}

/// An entry that is neither empty nor sound.
struct Damaged;

/// What an open file is known by.
pub(super) struct Known {
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) stays: bool,
    pub(super) process: u32,
    pub(super) records: u64,
    pub(super) start: u64,
    pub(super) limit: u64,
    pub(super) end: u64,
}

/// What a file counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Bytes up to the end.
    pub(super) bytes: u64,
    /// How often there was no room for a record.
    pub(super) full: u64,
    /// How often one was not stored because another process held the end.
    pub(super) busy: u64,
    /// How often one could not be written.
    pub(super) failures: u64,
    /// How often what is stored was not what had been written.
    pub(super) damaged: u64,
}

impl CacheFile {
    /// A file whose byte of users is locked.
    pub(super) fn of(known: Known) -> Self {
        let Known { file, path, stays, process, records, start, limit, end } = known;
        let zero = || AtomicU64::new(0);
        Self {
            file,
            path,
            stays,
            process,
            records,
            start,
            limit,
            end: AtomicU64::new(end),
            refused: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            opened: Instant::now(),
            noted: zero(),
            full: zero(),
            busy: zero(),
            failures: zero(),
            damaged: zero(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is stored of a record, if anything is.
    pub(super) fn entry(&self, record: u64) -> Option<Entry> {
        self.find(record).unwrap_or_else(|Damaged| {
            self.damaged.fetch_add(1, Relaxed);
            None
        })
    }

    /// The same, which counts nothing.
    fn find(&self, record: u64) -> Result<Option<Entry>, Damaged> {
        if record >= self.records {
            return Ok(None);
        }
        for _ in 0..ENTRY_TRIES {
            let mut bytes = [0; ENTRY_BYTES];
            let read = self.file.read_exact_at(&mut bytes, entry_at(record));
            if read.is_err() || bytes == [0; ENTRY_BYTES] {
                return Ok(None);
            }
            if let Some(entry) = Entry::read(&bytes, record) {
                return Ok(self.is_inside(&entry).then_some(entry));
            }
        }
        Err(Damaged)
    }

    fn is_inside(&self, entry: &Entry) -> bool {
        let within =
            |end: u64| entry.offset >= self.start && entry.offset.saturating_add(entry.length) <= end;
        within(self.limit)
            && (entry.length < LARGE || self.file.metadata().is_ok_and(|about| within(about.len())))
    }

    /// Reads what is stored, to where `to` has room; false where it is not what was written.
    pub(super) fn read(&self, entry: &Entry, to: &mut dyn Destination) -> bool {
        let room = to.room(entry.length as usize);
        let is_sound = self.file.read_exact_at(room, entry.offset).is_ok() && hash(room) == entry.stored;
        if is_sound {
            self.note_use(self.opened.elapsed().as_secs() / NOTED_EVERY);
        } else {
            self.damaged.fetch_add(1, Relaxed);
        }
        is_sound
    }

    /// Dates a file that stays as used now, once in each hour since it was opened. One that is only read, by a process that is
    /// killed in the end, would look as if nobody had used it.
    pub(super) fn note_use(&self, hour: u64) {
        if self.stays && self.noted.load(Relaxed) < hour && self.noted.fetch_max(hour, Relaxed) < hour {
            date_as_used(&self.file);
        }
    }

    /// Whether so many bytes more would fit, as far as is known.
    pub(super) fn may_fit(&self, bytes: u64) -> bool {
        self.room() >= bytes
    }

    /// Bytes that are free, as far as is known.
    pub(super) fn room(&self) -> u64 {
        match self.is_stopped.load(Relaxed) {
            true => 0,
            false => self.limit.saturating_sub(self.end.load(Relaxed)),
        }
    }

    /// Counts a record that is known not to fit.
    pub(super) fn refuse(&self) {
        if !self.is_stopped.load(Relaxed) {
            self.full.fetch_add(1, Relaxed);
        }
    }

    /// Stores a record, unless another process has stored the same since the entry was `seen`; `about` lacks only its place. A
    /// budget that is spent or a place that cannot be written to costs the entry and nothing else.
    pub(super) fn store(&self, record: u64, seen: Option<Entry>, about: Entry, bytes: &[u8]) {
        if record >= self.records || self.is_stopped.load(Relaxed) || self.is_forked() {
            return;
        }
        match self.reserve((record, seen), &about, bytes.len() as u64) {
            Ok(Some(offset)) => {
                let entry = Entry { offset, length: bytes.len() as u64, ..about };
                let written = self.file.write_all_at(bytes, offset).and_then(|()| self.put(record, entry));
                if written.is_err() {
                    // There is no space left, or the disk is going: the next record would fare no better.
                    self.is_stopped.store(true, Relaxed);
                    self.failures.fetch_add(1, Relaxed);
                }
            }
            Ok(None) => {}
            Err(error) => {
                let is_busy = error.kind() == io::ErrorKind::WouldBlock;
                let count = if is_busy { &self.busy } else { &self.failures };
                count.fetch_add(1, Relaxed);
            }
        }
    }

    /// Whether this process is a child that was forked: a lock that it takes its parent has as well.
    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    /// Writes the entry of what is stored already.
    pub(super) fn renew(&self, record: u64, entry: Entry) {
        if !self.is_forked() && self.put(record, entry).is_err() {
            self.failures.fetch_add(1, Relaxed);
        }
    }

    fn put(&self, record: u64, entry: Entry) -> io::Result<()> {
        self.file.write_all_at(&entry.to_bytes(record), entry_at(record))
    }

    /// Takes room for so many bytes; none where there is too little, or where the record is there.
    fn reserve(&self, place: (u64, Option<Entry>), about: &Entry, bytes: u64) -> io::Result<Option<u64>> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if *refused > 0 {
            *refused -= 1;
            return Err(busy());
        }
        if !self.lock_end()? {
            *refused = REFUSED_AT_ONCE;
            return Err(busy());
        }
        let taken = self.take(place, about, bytes);
        try_lock(&self.file, Byte::End, Hold::Free)?;
        taken
    }

    fn take(
        &self,
        (record, seen): (u64, Option<Entry>),
        about: &Entry,
        bytes: u64,
    ) -> io::Result<Option<u64>> {
        let is_same = |entry: &Entry| (entry.version, entry.stored) == (about.version, about.stored);
        // One that is damaged was counted when it was seen.
        let now = self.find(record).unwrap_or_default();
        if now != seen && now.as_ref().is_some_and(is_same) {
            return Ok(None);
        }
        let offset = self.read_end()?;
        self.end.store(offset, Relaxed);
        let end = offset.checked_add(bytes).filter(|&end| end <= self.limit);
        let Some(end) = end else {
            self.full.fetch_add(1, Relaxed);
            return Ok(None);
        };
        self.file.write_all_at(&end_to_bytes(end), END_AT)?;
        self.end.store(end, Relaxed);
        Ok(Some(offset))
    }

    fn read_end(&self) -> io::Result<u64> {
        let mut bytes = [0; END_BYTES];
        self.file.read_exact_at(&mut bytes, END_AT)?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the end of the cache is damaged");
        read_end(&bytes).filter(|&end| end >= self.start).ok_or_else(damaged)
    }

    /// Locks the end; false where another process holds it for too long.
    fn lock_end(&self) -> io::Result<bool> {
        let until = Instant::now() + END_WAIT;
        loop {
            if try_lock(&self.file, Byte::End, Hold::Alone)? {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            std::thread::sleep(END_PAUSE);
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let of = |count: &AtomicU64| count.load(Relaxed);
        // Others write too.
        let bytes = self.read_end().unwrap_or_else(|_| of(&self.end));
        let (full, busy) = (of(&self.full), of(&self.busy));
        Counts { bytes, full, busy, failures: of(&self.failures), damaged: of(&self.damaged) }
    }
}

impl Drop for CacheFile {
    /// The last user of a file that does not stay removes it. Each first gives its own lock back: of two that go at the same
    /// moment and ask for the whole before that, none would get it.
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        if self.stays {
            date_as_used(&self.file);
        }
        // Closing alone does not free it while a child that is just being started has the file, too.
        let freed = try_lock(&self.file, Byte::Users, Hold::Free);
        if !self.stays && freed.is_ok() && matches!(try_lock(&self.file, Byte::Users, Hold::Alone), Ok(true))
        {
            remove(&self.file, &self.path);
        }
    }
}

/// Sets a file's date, by which it is known when it was used last. Who may not set it goes on.
pub(super) fn date_as_used(file: &File) {
    drop(file.set_modified(SystemTime::now()));
}

/// Removes the file at `path`, which is `file` and which nobody else uses; another one that has taken its name stays.
pub(super) fn remove(file: &File, path: &Path) -> bool {
    is_at(file, path) && fs::remove_file(path).is_ok()
}

/// Whether `path` names this file.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: fs::Metadata, other: fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(one, other)| same(one, other))
}

fn busy() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "another process holds the cache's lock")
}
