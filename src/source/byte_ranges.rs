//! Records that are byte ranges of a few large files: their positions and keys, and reading one of them.

use super::file_version::FileVersion;
use super::open_files::OpenFiles;
use super::packed::Parts;
use super::read_at::read_at;
use super::{Destination, MAX_FILE_BYTES, Version, out_of_range, too_large};
use crate::error::{Cause, Error, Result};
use crate::regular_file;
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Byte ranges by index, file after file. Each costs 24 bytes and its key.
#[derive(Clone, Debug)]
pub(super) struct ByteRanges {
    /// What the files are called in messages.
    what: &'static str,
    paths: Vec<PathBuf>,
    /// Of each file, noted before it was read; `None` for one that could not be opened then.
    versions: Vec<Option<FileVersion>>,
    /// The number of records up to the end of each file.
    ends: Vec<usize>,
    keys: String,
    records: Vec<Record>,
    open: OpenFiles,
    /// Larger records are refused.
    pub(super) max_file_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    offset: u64,
    bytes: u64,
    /// The end of its key among all keys.
    key_end: u64,
}

impl ByteRanges {
    /// No files yet; messages call them `what`.
    pub(super) fn of(what: &'static str) -> Self {
        let (paths, versions, ends, keys, records, open) = Default::default();
        Self { what, paths, versions, ends, keys, records, open, max_file_bytes: MAX_FILE_BYTES }
    }

    /// Adds a record of the file that is being read, at `offset` in it; its key is the concatenation of the parts.
    pub(super) fn push(&mut self, key: &[&str], offset: u64, bytes: u64) {
        key.iter().for_each(|part| self.keys.push_str(part));
        self.records.push(Record { offset, bytes, key_end: self.keys.len() as u64 });
    }

    /// Begins a file, of which nothing has been read yet: another one that takes its place from now on is noticed.
    pub(super) fn begin_file(&mut self, path: &Path) {
        self.versions.push(regular_file::open(path).and_then(|file| FileVersion::of(&file)).ok());
        self.paths.push(path.to_owned());
    }

    /// Ends a file: the records pushed since it was begun are its own.
    pub(super) fn end_file(&mut self) {
        self.ends.push(self.records.len());
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.records.shrink_to_fit();
        self.keys.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The file of a record.
    #[cfg(feature = "tfrecord")]
    pub(super) fn path(&self, index: usize) -> &Path {
        self.numbered(index).1
    }

    /// The file of a record, and its index.
    fn numbered(&self, index: usize) -> (usize, &Path) {
        let number = self.ends.partition_point(|&end| end <= index);
        (number, &self.paths[number])
    }

    /// See [`super::Source::file`].
    pub(super) fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        (index < self.len()).then(|| Cow::Borrowed(self.numbered(index).1))
    }

    /// See [`super::Source::version`]: unknown once the file has changed, since its records may lie elsewhere by now.
    pub(super) fn version(&self, index: usize) -> Version {
        if index >= self.len() {
            return Version::Unknown;
        }
        let (number, path) = self.numbered(index);
        let about = self.open.file(number, path, self.versions[number]).and_then(|file| file.metadata());
        let noted = about.ok().zip(self.versions[number]);
        // Other options may find another range under the same key.
        let Record { offset, bytes, .. } = self.records[index];
        noted.map_or(Version::Unknown, |(about, noted)| noted.version(&about).of_part(&[offset, bytes]))
    }

    /// Where the records of each file end.
    pub(super) fn shard_ends(&self) -> Vec<u64> {
        self.ends.iter().map(|&end| end as u64).collect()
    }

    /// The index of a record in its file, from 0, and its offset there.
    #[cfg(feature = "tfrecord")]
    pub(super) fn place(&self, index: usize) -> (usize, u64) {
        let (file, _) = self.numbered(index);
        let first = file.checked_sub(1).map_or(0, |before| self.ends[before]);
        (index - first, self.records[index].offset)
    }

    pub(super) fn key(&self, index: usize) -> Cow<'_, str> {
        let Some(record) = self.records.get(index) else { return Cow::Borrowed("") };
        let start = index.checked_sub(1).map_or(0, |before| self.records[before].key_end);
        Cow::Borrowed(&self.keys[start as usize..record.key_end as usize])
    }

    /// Replaces the content of `bytes` by the record's, as `finish` leaves it; it is empty where that fails.
    pub(super) fn read(
        &self,
        index: usize,
        bytes: &mut Vec<u8>,
        finish: impl FnOnce(&mut Vec<u8>) -> Result<(), Cause>,
    ) -> Result<()> {
        let read = self.checked(index, |record| {
            self.fill(index, record, bytes)?;
            finish(bytes)
        });
        read.inspect_err(|_| bytes.clear())
    }

    /// The same, for a record that is the range as it is.
    pub(super) fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.checked(index, |record| self.fill(index, record, to))
    }

    /// Lets `read` read the record, and names it where that fails.
    fn checked(&self, index: usize, read: impl FnOnce(&Record) -> Result<(), Cause>) -> Result<()> {
        let record = self.records.get(index).ok_or_else(|| out_of_range(index, self.len()))?;
        read(record).map_err(|cause| Error::sample(self.key(index), index as u64, cause))
    }

    fn fill(&self, index: usize, record: &Record, to: &mut dyn Destination) -> Result<(), Cause> {
        if record.bytes > self.max_file_bytes {
            return Err(too_large("the image", record.bytes, self.max_file_bytes));
        }
        self.read_range(index, [record.offset, record.bytes], to)
    }

    /// Reads so many bytes from an offset in the file of record `index`, which must exist: something that lies beside it.
    pub(super) fn read_range(
        &self,
        index: usize,
        [offset, bytes]: [u64; 2],
        to: &mut dyn Destination,
    ) -> Result<(), Cause> {
        let (number, path) = self.numbered(index);
        let room = to.room(bytes as usize);
        let opened = self.open.file(number, path, self.versions[number]);
        let read = opened.and_then(|file| read_at(&file, offset, room));
        read.map_err(|error| {
            self.open.forget(number);
            self.unreadable(path, &error)
        })
    }

    fn unreadable(&self, path: &Path, error: &io::Error) -> Cause {
        let (what, path) = (self.what, path.display());
        format!("cannot read {path}: {error}; restore the {what}, or open the source again").into()
    }
}

impl Parts for ByteRanges {
    fn len(&self) -> usize {
        self.len()
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.key(index)
    }

    fn max_file_bytes(&self) -> u64 {
        self.max_file_bytes
    }

    fn read_beside(&self, index: usize, range: [u64; 2], bytes: &mut Vec<u8>) -> Result<(), Cause> {
        self.read_range(index, range, bytes)
    }

    fn after(&self, index: usize) -> Result<Range<u64>, Cause> {
        let ((number, path), record) = (self.numbered(index), self.records[index]);
        let opened = self.open.file(number, path, self.versions[number]);
        let about = opened.and_then(|file| file.metadata());
        let about = about.map_err(|error| self.unreadable(path, &error))?;
        Ok(record.offset + record.bytes..about.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_replaced_while_it_is_searched_gives_none_of_its_records() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["file", "other"].map(|name| folder.path().join(name));
        std::fs::write(&file, [1; 100]).unwrap();
        std::fs::write(&other, [2; 100]).unwrap();
        let mut ranges = ByteRanges::of("file");
        ranges.begin_file(&file);
        ranges.push(&["a"], 10, 20);
        std::fs::rename(&other, &file).unwrap();
        ranges.end_file();
        let mut bytes = Vec::new();
        let error = ranges.read(0, &mut bytes, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("it was changed since the source was opened"), "{error}");
    }
}
