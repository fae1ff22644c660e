//! A folder of fetched data with a limit of bytes, which several processes may share.
//!
//! An entry is one file, named by the hash of its key: magic, the key's length (u32) and the content's (u64), key,
//! content, and XXH3-64 of all that; numbers are little-endian. It is written under another name and then renamed, so
//! that a process that dies at any point leaves no entry that is not whole. The time of the file is that of its last
//! use.

mod sweep;
#[cfg(test)]
mod tests;

use super::IoStats;
use crate::atomic_file::{Hashed, HashedReader, damaged, replace_file, replace_unsynced};
use crate::error::{Error, Result};
use crate::regular_file;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use twox_hash::XxHash3_128;

const MAGIC: &[u8; 16] = b"feedline entry\r\n";
/// Magic, both lengths, and the hash after the content.
const FRAME_BYTES: u64 = 16 + 4 + 8 + 8;
/// Longest key: a URL, a version and a range.
const MAX_KEY_BYTES: usize = 1 << 16;
/// The file that marks a folder as such a cache, so that no other folder's files are ever deleted.
const MARKER: &str = "feedline-cache";
const MARKER_TEXT: &[u8] = b"Entries of feedline's cache, deleted and made again as needed.\n";
/// The folder is looked through at the latest when this part of the limit was written, for other processes write too.
const LOOK_AFTER: u64 = 8;
/// Where no room could be made, so many entries are dropped before it is tried again.
const REFUSED_AT_ONCE: u32 = 1000;

/// The cache; reading and writing need no lock.
#[derive(Debug)]
pub(super) struct DiskCache {
    folder: PathBuf,
    max_bytes: u64,
    held: Mutex<Held>,
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
    failures: AtomicU64,
}

/// What the folder holds, as far as this process knows.
#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    /// Written by this process since the folder was last looked through.
    written: u64,
    /// How many entries are still to be dropped, since no room could be made.
    refused: u32,
}

impl DiskCache {
    /// The cache in `folder`, which is made if it is not there, and must be empty or a cache already.
    ///
    /// # Errors
    /// A folder that cannot be made or written to, or that holds anything else.
    pub(super) fn open(folder: &Path, max_bytes: u64) -> Result<Self> {
        mark(folder)?;
        let remedy = "make the cache's folder readable, or give another one";
        let found = sweep::look(folder).map_err(|error| Error::io(folder, error, remedy))?;
        let zero = || AtomicU64::new(0);
        let cache = Self {
            folder: folder.to_owned(),
            max_bytes,
            held: Mutex::new(Held { bytes: found.bytes, ..Held::default() }),
            hits: zero(),
            misses: zero(),
            damaged: zero(),
            failures: zero(),
        };
        if found.bytes > max_bytes {
            cache.make_room(&mut cache.lock(), 0);
        }
        Ok(cache)
    }

    /// Replaces the content of `bytes` by the entry's; false, and nothing in `bytes`, where there is none that is sound.
    pub(super) fn read(&self, key: &str, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let path = self.path(key);
        let outcome = regular_file::open(&path).and_then(|file| {
            let sound = read_entry(&file, key, bytes)?;
            // The least recently used entry is deleted first; where the time cannot be set, the entry goes a little early.
            drop(file.set_modified(SystemTime::now()));
            Ok(sound)
        });
        let found = match outcome {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                self.damaged.fetch_add(1, Relaxed);
                drop(fs::remove_file(&path));
                false
            }
            Err(_) => false,
        };
        if found { &self.hits } else { &self.misses }.fetch_add(1, Relaxed);
        if !found {
            bytes.clear();
        }
        found
    }

    /// Keeps the content for the next time. A disk that is full or cannot be written to costs the entry and nothing else.
    pub(super) fn write(&self, key: &str, content: &[u8]) {
        let size = FRAME_BYTES + key.len() as u64 + content.len() as u64;
        if key.len() > MAX_KEY_BYTES || size > self.max_bytes {
            return;
        }
        {
            let mut held = self.lock();
            if held.refused > 0 {
                held.refused -= 1;
                return;
            }
            if held.bytes + size > self.max_bytes || held.written > self.max_bytes / LOOK_AFTER {
                self.make_room(&mut held, size);
            }
            if held.bytes + size > self.max_bytes {
                // The entries cannot be deleted, for example because another user owns them. Trying each time would cost more
                // than the cache saves.
                self.failures.fetch_add(1, Relaxed);
                held.refused = REFUSED_AT_ONCE;
                return;
            }
            held.bytes += size;
            held.written += size;
        }
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        let written = fs::create_dir_all(folder)
            .and_then(|()| replace_unsynced(&path, |file| entry(file, key, content)));
        if written.is_err() {
            self.failures.fetch_add(1, Relaxed);
            let mut held = self.lock();
            held.bytes = held.bytes.saturating_sub(size);
        }
    }

    /// Adds what the cache counted.
    pub(super) fn count(&self, stats: IoStats) -> IoStats {
        let of = |count: &AtomicU64| count.load(Relaxed);
        IoStats {
            disk_hits: of(&self.hits),
            disk_misses: of(&self.misses),
            disk_bytes: self.lock().bytes,
            disk_damaged: of(&self.damaged),
            disk_failures: of(&self.failures),
            ..stats
        }
    }

    /// Looks through the folder, and deletes what was not used for the longest time until `size` bytes more fit.
    fn make_room(&self, held: &mut Held, size: u64) {
        match sweep::sweep(&self.folder, self.max_bytes, size) {
            Ok(bytes) => *held = Held { bytes, ..Held::default() },
            // Other processes may be deleting the same folders; the next write looks again.
            Err(_) => {
                self.failures.fetch_add(1, Relaxed);
            }
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        let name = format!("{:032x}.entry", XxHash3_128::oneshot(key.as_bytes()));
        self.folder.join(&name[..2]).join(&name[2..])
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the folder and its marker, unless they are there.
fn mark(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| unmarked(folder, error))?;
    let marker = folder.join(MARKER);
    if marker.exists() { Ok(()) } else { mark_new(folder, &marker) }
}

/// Makes the marker of a folder that had none a moment ago.
fn mark_new(folder: &Path, marker: &Path) -> Result<()> {
    let failed = |error| unmarked(folder, error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        // Another process may be writing the marker at this moment, or have written it and its first entries since.
        if !name.as_encoded_bytes().starts_with(MARKER.as_bytes()) && !marker.exists() {
            return Err(Error::config(format!(
                "{} holds {} and is no cache of feedline's, so nothing is kept there: name an empty folder",
                folder.display(),
                name.display()
            )));
        }
    }
    replace_file(marker, |mut file| file.write_all(MARKER_TEXT).map(|()| file)).map_err(failed)
}

fn unmarked(folder: &Path, error: io::Error) -> Error {
    Error::io(folder, error, "name a folder for the cache that can be made and written to")
}

fn entry(file: File, key: &str, content: &[u8]) -> io::Result<File> {
    let mut output = Hashed::new(file);
    output.put(MAGIC)?;
    output.put(&(key.len() as u32).to_le_bytes())?;
    output.put(&(content.len() as u64).to_le_bytes())?;
    output.put(key.as_bytes())?;
    output.put(content)?;
    output.finish()
}

/// Whether the file holds the entry of `key`; another key of the same hash is no entry of it.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] where it is damaged.
fn read_entry(file: &File, key: &str, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut input = HashedReader::new(file);
    let magic: [u8; 16] = input.take()?;
    let (key_bytes, content_bytes) = (u32::from_le_bytes(input.take()?), u64::from_le_bytes(input.take()?));
    let whole = content_bytes.checked_add(FRAME_BYTES + u64::from(key_bytes)) == Some(length);
    if magic != *MAGIC || !whole || key_bytes as usize > MAX_KEY_BYTES {
        return Err(damaged());
    }
    let mut own = vec![0; key_bytes as usize];
    input.fill(&mut own)?;
    bytes.resize(content_bytes as usize, 0);
    input.fill(bytes)?;
    input.finish()?;
    Ok(own == key.as_bytes())
}
