//! What is stored comes back to every process as it was, or not at all, whatever happens to the file and to those who use it.

mod file;
mod killed;
mod records;
mod users;

use super::file::CacheFile;
use super::layout::{Entry, Of, hash};
use super::opening::Wanted;
use super::places::{Name, Place};
use crate::error::Result;
use std::num::NonZeroU64;
use std::path::Path;

/// Records of the caches below.
const RECORDS: u64 = 40;
const VERSION: Option<NonZeroU64> = NonZeroU64::new(7);

fn of(settings: u64) -> Of {
    Of { settings, keys: 5, records: RECORDS }
}

/// A cache in a file that the user named, which does not stay.
fn open_at(path: &Path, of: Of, limit: Option<u64>, stays: bool) -> Result<CacheFile> {
    let place = Place::of(stays, Some(path), Name { group: 1, own: 2 })?;
    Wanted { place, of, limit }.open()
}

/// The same, which stays, with room for all that the tests store.
fn staying(path: &Path) -> CacheFile {
    open_at(path, of(1), Some(1 << 24), true).unwrap()
}

/// Bytes that follow from the record, up to some kilobytes.
fn content(record: u64) -> Vec<u8> {
    let length = record.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51;
    (0..length).map(|at| (at ^ record) as u8).collect()
}

fn about(bytes: &[u8]) -> Entry {
    let hash = hash(bytes);
    Entry { offset: 0, length: 0, version: VERSION, content: hash, stored: hash, nanoseconds: 9 }
}

fn store(cache: &CacheFile, record: u64) {
    let bytes = content(record);
    cache.store(record, cache.entry(record), about(&bytes), &bytes);
}

/// What is stored of a record, if it is sound.
fn read(cache: &CacheFile, record: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let entry = cache.entry(record)?;
    cache.read(&entry, &mut bytes).then_some(bytes)
}
