//! The file that keeps indexes from run to run: written whole and put in place in one step, checked whole when read.
//!
//! All numbers are little-endian. A head (magic, version, number of samples, hash of their keys); for each image its
//! sample (u64), the record's length (u32) and the record; after the last one the mark `u64::MAX` and the number of
//! records (u32); then XXH3-64 of everything before it.

use super::store::IndexStore;
use crate::atomic_file::{Hashed, HashedReader, damaged, refuse_other_file, replace_file};
use crate::error::{Error, Result};
use crate::jpeg::Index;
use crate::regular_file;
use std::fs::File;
use std::hash::Hasher;
use std::io;
use std::path::Path;
use twox_hash::XxHash3_64;

const MAGIC: &[u8; 16] = b"feedline index\r\n";
/// Counts up with every change of the format, of [`Index`]'s records, or of what a decoder makes of them. Files of other
/// versions are not read: those before 5 may have indexes of JPEGs that now count as damaged, and such files must have none.
const VERSION: u32 = 5;
const LAST: u64 = u64::MAX;

/// The data set that a sidecar belongs to: indexes go by sample index, which changes when files come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSet {
    samples: u64,
    keys: u64,
}

impl DataSet {
    /// The data set whose samples have these keys, in this order.
    pub fn of<K: AsRef<str>>(keys: impl Iterator<Item = K>) -> Self {
        let (mut hasher, mut samples) = (XxHash3_64::new(), 0);
        for key in keys {
            hasher.write(key.as_ref().as_bytes());
            hasher.write(&[0]);
            samples += 1;
        }
        Self { samples, keys: hasher.finish() }
    }
}

/// Fills `store`, which must be empty, from the sidecar at `path`. It stays empty where that fails.
///
/// # Errors
/// Why the file cannot be used, as a sentence: it is not there, of another data set or version, or damaged.
pub fn load(store: &IndexStore, path: &Path, set: DataSet) -> std::result::Result<String, String> {
    let file = regular_file::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "is not there yet".to_owned(),
        _ => format!("was ignored: {error}"),
    })?;
    let loaded = read_into(store, file, set);
    let _ = store.settle();
    loaded.map_err(|error| {
        store.clear();
        format!("was ignored: {error}")
    })
}

fn read_into(store: &IndexStore, file: File, set: DataSet) -> io::Result<String> {
    let mut input = HashedReader::new(file);
    check_head(&mut input, set)?;
    let (mut index, mut record) = (Index::default(), Vec::new());
    let (mut records, mut kept) = (0u32, 0u32);
    loop {
        let (sample, length) = (u64::from_le_bytes(input.take()?), u32::from_le_bytes(input.take()?));
        if sample == LAST && length == records {
            return input.finish().map(|()| told(kept, records));
        }
        if sample >= set.samples || length as usize > Index::MAX_BYTES {
            return Err(damaged());
        }
        record.resize(length as usize, 0);
        input.fill(&mut record)?;
        if !index.read(&record) {
            return Err(damaged());
        }
        records += 1;
        kept += u32::from(store.put(sample, record.as_slice().into(), false));
    }
}

fn check_head(input: &mut HashedReader<File>, set: DataSet) -> io::Result<()> {
    if input.take::<16>()? != *MAGIC {
        return Err(io::Error::other("it is no decode index"));
    }
    if u32::from_le_bytes(input.take()?) != VERSION {
        return Err(io::Error::other("it was written by another version"));
    }
    let found =
        DataSet { samples: u64::from_le_bytes(input.take()?), keys: u64::from_le_bytes(input.take()?) };
    if found != set {
        return Err(io::Error::other("it belongs to another list of files"));
    }
    Ok(())
}

fn told(kept: u32, records: u32) -> String {
    match records - kept {
        0 => format!("gave the indexes of {kept} images"),
        left => format!("gave the indexes of {kept} images; {left} more did not fit: raise index_budget"),
    }
}

/// Writes the store's indexes to `path`: to a new file beside it, which then replaces it.
///
/// # Errors
/// [`Error::Config`] where `path` names a file that is no sidecar, and so is not overwritten; [`Error::Io`] where
/// writing fails. Whatever was at `path` is still there then.
pub fn save(store: &IndexStore, path: &Path, set: DataSet) -> Result<()> {
    refuse_other_file(path, MAGIC, "decode index")?;
    // Before anything is copied, so that what comes meanwhile counts as not saved.
    let unsaved = store.settle();
    replace_file(path, |file| write(store, file, set)).map_err(|error| {
        store.unsettle(unsaved);
        Error::io(path, error, "give another path for the decode index, or keep it in memory")
    })
}

fn write(store: &IndexStore, file: File, set: DataSet) -> io::Result<File> {
    let mut output = Hashed::new(file);
    output.put(MAGIC)?;
    output.put(&VERSION.to_le_bytes())?;
    output.put(&set.samples.to_le_bytes())?;
    output.put(&set.keys.to_le_bytes())?;
    let mut records = 0u32;
    for (sample, record) in store.records().flatten() {
        output.put(&sample.to_le_bytes())?;
        output.put(&(record.len() as u32).to_le_bytes())?;
        output.put(&record)?;
        records += 1;
    }
    output.put(&LAST.to_le_bytes())?;
    output.put(&records.to_le_bytes())?;
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_written_still_counts_as_not_saved() {
        let folder = tempfile::tempdir().unwrap();
        let (store, set) = (IndexStore::new(1000), DataSet::of(["a.jpg"].iter()));
        store.put(0, vec![1; 50].into(), false);
        save(&store, &folder.path().join("gone/sidecar"), set).unwrap_err();
        assert_eq!(store.unsaved_share(), 1.0);
        save(&store, &folder.path().join("sidecar"), set).unwrap();
        assert_eq!(store.unsaved_share(), 0.0);
    }
}
