//! Records that the processes of a machine share, in one file, around any source.

mod file;
mod found;
mod identity;
mod layout;
mod lock;
mod opening;
mod places;
#[cfg(test)]
mod tests;

pub use found::{FoundCache, shared_caches};

use super::{Destination, IoStats, Source, Version};
use crate::error::Result;
use file::{CacheFile, Counts};
use identity::Identity;
use layout::{Entry, hash};
use opening::Wanted;
use places::Place;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Buffers of more bytes are not kept for the next record.
const MOST_SPARE: usize = 16 << 20;

/// Keeps records in a file that other processes read as well, and returns them from there.
///
/// The file is read and written like any other, so that the system's page cache holds one copy for all processes of a machine; in
/// memory it lies there alone, and the last process that uses it removes it, or the next one that opens such a cache if that was
/// killed, unless the file was [named](SharedCacheOptions::file). What comes first stays, up to a limit of bytes. A record whose
/// file has changed is read again, and stored again if its bytes have. A process may be killed at any moment, and the machine may
/// lose its power: what is not whole is not believed. Masks and fields are not kept.
///
/// ```no_run
/// use feedline::source::{Folder, SharedCache};
///
/// let images = Folder::open("imagenet/train")?;
/// let source = SharedCache::in_memory().limit(200 << 30).open(images)?;
/// # Ok::<(), feedline::error::Error>(())
/// ```
pub struct SharedCache<S> {
    source: S,
    file: CacheFile,
    made: Option<Box<dyn Make>>,
    /// Buffers of what is stored in a record's place.
    spare: Mutex<Vec<Vec<u8>>>,
    hits: AtomicU64,
    misses: AtomicU64,
    /// What the records that were found took to make when they were stored, and to find now, in nanoseconds.
    worth: AtomicU64,
    finding: AtomicU64,
}

/// How a [`SharedCache`] is opened.
pub struct SharedCacheOptions {
    stays: bool,
    file: Option<PathBuf>,
    limit: Option<u64>,
    settings: String,
    made: Option<Box<dyn Make>>,
}

/// Makes of a record what is stored and handed out in its place.
pub(crate) trait Make: Send + Sync {
    /// Replaces the content of `made`; false for a record that is to be stored as it is. What would show in pixels is made
    /// always, and else only where it takes at most `room` bytes.
    fn make(&self, record: &[u8], room: u64, made: &mut Vec<u8>) -> bool;
}

impl SharedCacheOptions {
    fn of(stays: bool) -> Self {
        Self { stays, file: None, limit: None, settings: String::new(), made: None }
    }

    /// The cache's file, in place of one that is chosen: below /dev/shm in memory, below `$XDG_CACHE_HOME/feedline` or
    /// `~/.cache/feedline` on disk. In memory its last user removes it too; what is left of one that was killed stays until the
    /// same file is opened again, and [`shared_caches`] does not list it. On disk it is never removed.
    pub fn file(self, path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()), ..self }
    }

    /// The most bytes that the file may have. Half of what is free unless set: of the disk, or of memory and of /dev/shm. A file
    /// that others use has the limit of the first of them.
    pub fn limit(self, bytes: u64) -> Self {
        Self { limit: Some(bytes), ..self }
    }

    /// What the stored bytes depend on besides the records, such as the options that a loader reads them with.
    pub(crate) fn settings(self, settings: String) -> Self {
        Self { settings, ..self }
    }

    /// Stores what is made of the records.
    pub(crate) fn made(self, made: Option<Box<dyn Make>>) -> Self {
        Self { made, ..self }
    }

    /// The cache around `source`.
    ///
    /// # Errors
    /// Records of which nothing would tell that they have changed; a file that cannot be opened, is none of feedline's, is
    /// another user's or is in use for something else, each with the remedy; [`crate::error::Error::Unavailable`] for a file
    /// system without locks.
    pub fn open<S: Source>(self, source: S) -> Result<SharedCache<S>> {
        let identity = Identity::of(&source, &self.settings)?;
        let place = Place::of(self.stays, self.file.as_deref(), identity.name)?;
        place.make_folder()?;
        found::sweep(&place, identity.name);
        let file = Wanted { place, of: identity.of, limit: self.limit }.open()?;
        let zero = || AtomicU64::new(0);
        let (spare, made) = (Mutex::default(), self.made);
        Ok(SharedCache {
            source,
            file,
            made,
            spare,
            hits: zero(),
            misses: zero(),
            worth: zero(),
            finding: zero(),
        })
    }
}

impl SharedCache<()> {
    /// A cache in a file in memory (tmpfs), which the last process that uses it removes.
    pub fn in_memory() -> SharedCacheOptions {
        SharedCacheOptions::of(false)
    }

    /// A cache in a file on a disk, which stays for the next run.
    pub fn on_disk() -> SharedCacheOptions {
        SharedCacheOptions::of(true)
    }
}

impl<S> SharedCache<S> {
    /// The cache's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

impl<S: Source> SharedCache<S> {
    fn fetch(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        let started = Instant::now();
        let record = self.source.record(index) as u64;
        // Ahead of the record: what is read then is no older.
        let version = match self.source.version(index) {
            Version::Known(version) => Some(version),
            Version::Changing => None,
            Version::Unknown => return self.pass(index, to),
        };
        let entry = self.file.entry(record);
        let fresh = entry.filter(|entry| version.is_some() && entry.version == version);
        if let Some(entry) = fresh
            && self.file.read(&entry, to)
        {
            self.found(&entry, started.elapsed());
            return Ok(());
        }
        self.misses.fetch_add(1, Relaxed);
        self.source.read_into(index, to)?;
        let content = hash(to.bytes());
        // One of this version is damaged.
        let outdated = entry.filter(|entry| fresh.is_none() && entry.content == content);
        if let Some(entry) = outdated
            && self.take_again(&entry, to)
        {
            if entry.version != version {
                self.file.renew(record, Entry { version, ..entry });
            }
            return Ok(());
        }
        self.keep((record, entry), (version, content), started, to);
        Ok(())
    }

    fn found(&self, entry: &Entry, took: Duration) {
        self.hits.fetch_add(1, Relaxed);
        self.worth.fetch_add(entry.nanoseconds, Relaxed);
        self.finding.fetch_add(nanoseconds(took), Relaxed);
    }

    /// Hands out what is stored of a record whose file has other dates and the same bytes, which `to` holds.
    fn take_again(&self, entry: &Entry, to: &mut dyn Destination) -> bool {
        if entry.stored == entry.content {
            return true;
        }
        let mut stored = self.buffer();
        let is_sound = self.file.read(entry, &mut stored);
        if is_sound {
            to.room(stored.len()).copy_from_slice(&stored);
        }
        self.give_back(stored);
        is_sound
    }

    /// Stores the record that `to` holds, or what is made of it, and hands that out.
    fn keep(
        &self,
        (record, seen): (u64, Option<Entry>),
        (version, content): (Option<NonZeroU64>, u64),
        started: Instant,
        to: &mut dyn Destination,
    ) {
        let is_made = self.make(self.file.room(), to);
        let stored = if is_made { hash(to.bytes()) } else { content };
        let about = Entry {
            offset: 0,
            length: 0,
            version,
            content,
            stored,
            nanoseconds: nanoseconds(started.elapsed()),
        };
        if self.file.may_fit(to.bytes().len() as u64) {
            self.file.store(record, seen, about, to.bytes());
        } else {
            self.file.refuse();
        }
    }

    /// Puts what is made of a record in its place, with so much room to store it; false where it stays as it is.
    fn make(&self, room: u64, to: &mut dyn Destination) -> bool {
        let Some(make) = &self.made else { return false };
        let mut made = self.buffer();
        let is_made = make.make(to.bytes(), room, &mut made);
        if is_made {
            to.room(made.len()).copy_from_slice(&made);
        }
        self.give_back(made);
        is_made
    }

    /// Reads a record that is not kept.
    fn pass(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.misses.fetch_add(1, Relaxed);
        self.source.read_into(index, to)?;
        self.make(0, to);
        Ok(())
    }

    fn buffer(&self) -> Vec<u8> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give_back(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= MOST_SPARE {
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}

fn nanoseconds(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}

impl<S: Source> Source for SharedCache<S> {
    pass_on!([.source] len key path version label mask fields jpeg_sha256 classes shard_ends record);
    pass_on!([.source] is_known_ahead mix_order);

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.read_into(index, bytes).inspect_err(|_| bytes.clear())
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        match index < self.len() {
            true => self.fetch(index, to),
            false => self.source.read_into(index, to),
        }
    }

    fn io_stats(&self) -> IoStats {
        let of = |count: &AtomicU64| count.load(Relaxed);
        let Counts { bytes, full, busy, failures, damaged } = self.file.counts();
        IoStats {
            shared_hits: of(&self.hits),
            shared_misses: of(&self.misses),
            shared_bytes: bytes,
            shared_full: full,
            shared_busy: busy,
            shared_failures: failures,
            shared_damaged: damaged,
            shared_saved_ms: of(&self.worth).saturating_sub(of(&self.finding)) / 1_000_000,
            ..self.source.io_stats()
        }
    }
}
