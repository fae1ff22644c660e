//! Looks through the folder of a cache, and deletes what was not used for the longest time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a process that died left half written is deleted when it is older than this.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);
/// A sweep leaves this part of the limit free, so that the next one is not due at once.
const SPARE: u64 = 10;

/// The entries of a cache.
#[derive(Default)]
pub(super) struct Found {
    pub(super) bytes: u64,
    /// Time of last use, size and path.
    entries: Vec<(SystemTime, u64, PathBuf)>,
}

/// Finds all entries; removes what was abandoned half written. What cannot be listed, such as another
/// user's folder, is left alone.
pub(super) fn look(folder: &Path) -> io::Result<Found> {
    let mut found = Found::default();
    for below in fs::read_dir(folder)? {
        let below = below?;
        if !is_of_two_digits(&below.file_name()) || !below.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(below.path()).into_iter().flatten() {
            found.add(&file?.path());
        }
    }
    Ok(found)
}

/// Deletes what was not used for the longest time until at most `max_bytes` less `size` are held, and a little more;
/// says how many bytes are left. What cannot be deleted, such as another user's file, stays.
pub(super) fn sweep(folder: &Path, max_bytes: u64, size: u64) -> io::Result<u64> {
    let mut found = look(folder)?;
    if found.bytes + size <= max_bytes {
        return Ok(found.bytes);
    }
    let goal = max_bytes.saturating_sub(size).min(max_bytes - max_bytes / SPARE);
    found.entries.sort();
    for (_, bytes, path) in &found.entries {
        if found.bytes <= goal {
            break;
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            // Another process was faster where it is not found.
            _ => found.bytes -= bytes,
        }
    }
    Ok(found.bytes)
}

impl Found {
    /// Notes an entry. Whatever is gone by now was deleted by another process.
    fn add(&mut self, path: &Path) {
        let Ok(about) = fs::metadata(path) else { return };
        let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let ending = path.extension().unwrap_or_default();
        if ending == "entry" {
            self.bytes += about.len();
            self.entries.push((used, about.len(), path.to_owned()));
        } else if ending == "tmp" && used.elapsed().is_ok_and(|age| age > ABANDONED_AFTER) {
            drop(fs::remove_file(path));
        }
    }
}

fn is_of_two_digits(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit)
}
