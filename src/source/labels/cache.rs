//! The file that keeps the labels of a data set from run to run, so that opening does not read every label file again.
//!
//! A head (magic, version, hash of what was opened and how, number of label files), time
//! and size of each label file, then each part after its length in bytes (u64): what the source notes about
//! itself as JSON, and the parts of the [`Table`] as they are in memory; then XXH3-64 of everything before it. Written whole and put in
//! place in one step, checked whole when read.

use super::table::{PARTS, Table};
use crate::atomic_file::{Hashed, refuse_other_file, replace_file};
use crate::error::{Error, Result};
use crate::regular_file;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;
use twox_hash::XxHash3_64;

const MAGIC: &[u8; 16] = b"feedline labels\n";
/// Counts up with every change of the format, or of what is made of a label. A machine with the other order of bytes
/// writes another version, since the table in the file is the one in memory.
const VERSION: u32 = if cfg!(target_endian = "little") { 1 } else { 1 << 31 | 1 };

/// What a cache was made from: it is of use only while all of it is the same.
#[derive(Debug, PartialEq)]
pub(in crate::source) struct Stamp {
    /// Hash of the list of files and of the options.
    list: u64,
    files: Vec<FileStamp>,
}

/// Time of the last change in nanoseconds, and size, or of an object in a store version and size; [`NO_FILE`] where there
/// is none.
pub(in crate::source) type FileStamp = [u64; 2];

/// What stands for a label file that is not there.
pub(in crate::source) const NO_FILE: FileStamp = [u64::MAX; 2];

/// The stamp of a local file, which may be missing.
pub(in crate::source) fn stamp_of(path: &Path) -> FileStamp {
    let stamp = fs::metadata(path).ok().map(|about| {
        let changed = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        [changed.map_or(0, |time| time.as_nanos() as u64), about.len()]
    });
    stamp.unwrap_or(NO_FILE)
}

/// Collects a [`Stamp`].
pub(in crate::source) struct Stamping {
    hasher: XxHash3_64,
    files: Vec<FileStamp>,
}

impl Stamping {
    /// `kind` keeps the caches of different sources apart.
    pub(in crate::source) fn new(kind: &str) -> Self {
        let mut stamping = Self { hasher: XxHash3_64::new(), files: Vec::new() };
        stamping.add(kind.as_bytes());
        stamping
    }

    /// Something that the labels depend on.
    pub(in crate::source) fn add(&mut self, bytes: &[u8]) {
        self.hasher.write(&(bytes.len() as u64).to_le_bytes());
        self.hasher.write(bytes);
    }

    /// A label file of this name.
    pub(in crate::source) fn add_file(&mut self, name: &[u8], stamp: FileStamp) {
        self.add(name);
        self.files.push(stamp);
    }

    /// The stamp of all that was added.
    pub(in crate::source) fn finish(self) -> Stamp {
        Stamp { list: self.hasher.finish(), files: self.files }
    }
}

/// The labels in the cache at `path`, and what the source noted about itself, if they still belong to `stamp`.
///
/// # Errors
/// Why they cannot be used, as a sentence; `file` names a label file by its index.
pub(in crate::source) fn load<M: DeserializeOwned>(
    path: &Path,
    stamp: &Stamp,
    file: impl Fn(usize) -> String,
) -> std::result::Result<(M, Table), String> {
    let ignored = |why: &dyn std::fmt::Display| format!("was ignored and written anew: {why}");
    let bytes = read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "was not there yet and has been written".to_owned(),
        _ => ignored(&error),
    })?;
    parse(&bytes, stamp, file).map_err(|why| ignored(&why))
}

/// The bytes of the file, or only its head where that is not one of a cache: another file may be of any size.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (regular_file::open(path)?, Vec::new());
    let head = MAGIC.len() + VERSION.to_le_bytes().len();
    file.by_ref().take(head as u64).read_to_end(&mut bytes)?;
    if bytes.starts_with(MAGIC) && bytes.ends_with(&VERSION.to_le_bytes()) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn parse<M: DeserializeOwned>(
    bytes: &[u8],
    stamp: &Stamp,
    file: impl Fn(usize) -> String,
) -> std::result::Result<(M, Table), String> {
    let damaged = || "it is damaged".to_owned();
    let mut rest = Rest(bytes);
    if rest.take(16) != Some(MAGIC) {
        return Err("it holds no labels".to_owned());
    }
    if rest.take(4) != Some(&VERSION.to_le_bytes()) {
        return Err("it was written by another version".to_owned());
    }
    let (body, hash) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
    if XxHash3_64::oneshot(body) != u64::from_le_bytes(*hash) {
        return Err(damaged());
    }
    rest.0 = rest.0.strip_suffix(hash).ok_or_else(damaged)?;
    let list = rest.number().ok_or_else(damaged)?;
    let count = rest.number().ok_or_else(damaged)?;
    if list != stamp.list || count != stamp.files.len() as u64 {
        return Err("it belongs to another list of files, or to other options".to_owned());
    }
    for (number, now) in stamp.files.iter().enumerate() {
        let then = [rest.number().ok_or_else(damaged)?, rest.number().ok_or_else(damaged)?];
        if then != *now {
            return Err(format!("{} has changed since", file(number)));
        }
    }
    let about = rest.part().ok_or_else(damaged)?;
    let mut parts = [&[][..]; PARTS];
    for part in &mut parts {
        *part = rest.part().ok_or_else(damaged)?;
    }
    let table = Table::from_parts(parts).filter(|_| rest.0.is_empty()).ok_or_else(damaged)?;
    let about = serde_json::from_slice(about).map_err(|_| damaged())?;
    Ok((about, table))
}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, bytes: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(bytes).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let bytes = self.number()?;
        self.take(bytes)
    }
}

/// Keeps labels at `path`.
///
/// # Errors
/// [`Error::Config`] where `path` names a file that is no cache of labels, and so is not overwritten; [`Error::Io`]
/// where writing fails. Whatever was at `path` is still there then.
pub(in crate::source) fn save<M: Serialize>(
    path: &Path,
    stamp: &Stamp,
    about: &M,
    table: &Table,
) -> Result<()> {
    refuse_other_file(path, MAGIC, "cache of labels")?;
    let about = serde_json::to_vec(about).map_err(io::Error::from);
    replace_file(path, |file| write(file, stamp, &about?, table))
        .map_err(|error| Error::io(path, error, "give another path for the cache of labels, or none"))
}

fn write(file: File, stamp: &Stamp, about: &[u8], table: &Table) -> io::Result<File> {
    let mut output = Hashed::new(file);
    output.put(MAGIC)?;
    output.put(&VERSION.to_le_bytes())?;
    output.put(&stamp.list.to_le_bytes())?;
    output.put(&(stamp.files.len() as u64).to_le_bytes())?;
    for number in stamp.files.iter().flatten() {
        output.put(&number.to_le_bytes())?;
    }
    for part in [about].into_iter().chain(table.parts()) {
        output.put(&(part.len() as u64).to_le_bytes())?;
        output.put(part)?;
    }
    output.finish()
}
