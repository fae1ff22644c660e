//! Caches that lie about: those that nobody uses any more are removed, and all can be listed.

use super::file::remove;
use super::layout::MAGIC;
use super::lock::{Byte, Hold, is_locked, try_lock};
use super::places::{self, Name, Place, is_name};
use crate::regular_file;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A cache on a disk is superseded when it was used so much earlier than the one of the same data that is opened. What is used
/// beside it in every run, such as a validation set's, is not.
const SUPERSEDED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A cache that processes share or have shared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FoundCache {
    /// Its file.
    pub path: PathBuf,
    /// Bytes that it takes, in memory or on a disk.
    pub bytes: u64,
    /// Whether a process uses it.
    pub is_used: bool,
}

/// The caches of this user that lie where they lie unless somebody names another file: in memory, then on disk.
pub fn shared_caches() -> Vec<FoundCache> {
    let in_memory = caches_in(places::memory_folder(), &places::memory_head());
    let on_disk = places::disk_folder().map_or_else(|_| Vec::new(), |folder| caches_in(&folder, ""));
    [in_memory, on_disk].concat()
}

/// The caches in a folder whose names begin so.
pub(super) fn caches_in(folder: &Path, head: &str) -> Vec<FoundCache> {
    let found = files(folder, head).into_iter().filter_map(|path| {
        let file = regular_file::open_unfollowed(&path).ok().filter(is_cache)?;
        let bytes = file.metadata().ok()?.blocks() * 512;
        Some(FoundCache { is_used: is_locked(&file, Byte::Users).unwrap_or(true), path, bytes })
    });
    found.collect()
}

/// Removes what nobody needs any more where the cache of this name is about to be opened.
pub(super) fn sweep(place: &Place, name: Name) {
    match place.stays {
        false => sweep_memory(places::memory_folder(), &place.path),
        // What has a user's name is the user's.
        true if place.is_chosen => sweep_disk(&place.path, name),
        true => {}
    }
}

/// Removes what killed processes left in the folder of memory; the file at `except` is left to who opens it.
pub(super) fn sweep_memory(folder: &Path, except: &Path) {
    for path in files(folder, &places::memory_head()) {
        if path != except {
            remove_unused(&path, |_| true);
        }
    }
}

/// Removes the caches on disk of the same data as the one at `own` that nobody has used for long when that was used last, or now
/// where it is new.
fn sweep_disk(own: &Path, name: Name) {
    let last_use = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let now = last_use(own).unwrap_or_else(SystemTime::now);
    // Asked after its date: who uses it already has swept, and has dated it as used now, and not when it was used last.
    let own_file = regular_file::open_unfollowed(own);
    if own_file.is_ok_and(|file| is_locked(&file, Byte::Users).unwrap_or(true)) {
        return;
    }
    let is_superseded = |file: &File| {
        let used = file.metadata().and_then(|about| about.modified());
        used.is_ok_and(|used| used + SUPERSEDED_AFTER < now)
    };
    for path in own.parent().map_or_else(Vec::new, |folder| files(folder, &name.head())) {
        if path != own {
            remove_unused(&path, is_superseded);
        }
    }
}

fn remove_unused(path: &Path, is_wanted: impl Fn(&File) -> bool) {
    let Ok(file) = regular_file::open_unfollowed(path) else { return };
    let is_own = file.metadata().is_ok_and(|about| about.uid() == nix::unistd::geteuid().as_raw());
    // One that another process has just made is empty; its maker will see that it is gone, and make it again.
    let is_ours = is_own && (is_cache(&file) || file.metadata().is_ok_and(|about| about.len() == 0));
    if is_ours && is_wanted(&file) && matches!(try_lock(&file, Byte::Users, Hold::Alone), Ok(true)) {
        remove(&file, path);
    }
}

/// The paths in a folder whose names are those of caches.
fn files(folder: &Path, head: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| is_name(name, head)));
    let mut paths: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Whether a file begins as a cache does.
pub(super) fn is_cache(file: &File) -> bool {
    let mut start = [0; MAGIC.len()];
    file.read_exact_at(&mut start, 0).is_ok() && start == *MAGIC
}
