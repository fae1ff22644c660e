//! Reads image files from an LMDB environment, with random access to its records.

mod tree;

use super::byte_ranges::ByteRanges;
use super::classes::{Classes, Gathering, RawLabel};
use super::files::readable;
use super::listed::listed;
use super::paths::head_of;
use super::read_error::ReadError;
use super::{Destination, Source};
use crate::error::{Error, Result};
use crate::regular_file;
use std::path::{Path, PathBuf};
use tree::Tree;

/// Entries whose values are looked at when an environment is opened.
const LOOKED_AT: usize = 8;

/// The values of an LMDB environment, in the order of their keys.
///
/// A value is the bytes of an image file. The class is the key's first directory, `cat` in `cat/7.jpg`, counted in the
/// sorted order of names; keys without one are unlabelled. Keys that begin with two underscores (`__len__`, `__keys__`)
/// are left out. Values that are something else (Python's pickles, NumPy's arrays) are refused.
///
/// Opening reads the pages that hold keys, but not the images; 32 bytes and the key of each record are kept. The file is
/// only read, in pieces and without LMDB's lock, so that it may lie where nothing can be written, on a network as well,
/// and so that a damaged one makes bad samples and ends no process. Nobody may write to the environment meanwhile:
/// values that are replaced under a reader become bad samples.
#[derive(Clone, Debug)]
pub struct Lmdb {
    ranges: ByteRanges,
    classes: Classes,
}

/// How an LMDB environment is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LmdbOptions {
    database: Option<String>,
}

impl Lmdb {
    /// The environment at `path`: a folder with a `data.mdb` in it, or the file itself.
    ///
    /// # Errors
    /// Those of [`LmdbOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Options to open an environment with.
    pub fn options() -> LmdbOptions {
        LmdbOptions::default()
    }

    setters! {
        /// The largest value that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes in ranges.max_file_bytes: u64;
    }

    /// Whether `path` looks like an LMDB environment: a folder with a `data.mdb` in it, or a file that begins as one.
    pub fn is_at(path: &Path) -> bool {
        head_of(&file_of(path), 20).get(16..) == Some(b"\xDE\xC0\xEF\xBE")
    }
}

impl LmdbOptions {
    /// The named database in the environment; its main one unless set.
    pub fn database(self, name: impl Into<String>) -> Self {
        Self { database: Some(name.into()) }
    }

    /// Opens the environment at `path`: a folder with a `data.mdb` in it, or the file itself.
    ///
    /// # Errors
    /// A file that cannot be read, is none of LMDB's, is cut short or damaged; several values for a key; no record; a
    /// database that is not there; values that are no image files.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Lmdb> {
        let path = file_of(path.as_ref());
        let (mut ranges, mut labels, mut databases) =
            (ByteRanges::of("environment"), Gathering::default(), Vec::new());
        ranges.begin_file(&path);
        let walked = regular_file::open(&path).map_err(ReadError::Io).and_then(|file| {
            Tree::open(file)?.walk(self.database.as_deref(), &mut |entry| {
                let key = readable(entry.key);
                if entry.is_database() {
                    databases.push(key.into_owned());
                } else if !key.starts_with("__") {
                    let class = key.split_once('/').filter(|(class, _)| !class.is_empty());
                    let class = class.map_or(RawLabel::Nothing, |(class, _)| RawLabel::Name(class));
                    labels.push(&class, String::new).map_err(ReadError::Bad)?;
                    ranges.push(&[&key], entry.start, entry.bytes);
                }
                Ok(())
            })
        });
        let refused = |what: String| Error::config(format!("{}: {what}", path.display()));
        walked.map_err(|error| error.of(&path, "name an LMDB environment that can be read"))?;
        if ranges.len() == 0 {
            return Err(refused(match databases.is_empty() {
                true => "it holds no record: name an environment of images".to_owned(),
                false => format!("it holds no record, but databases: name one ({})", listed(&databases)),
            }));
        }
        ranges.end_file();
        ranges.shrink();
        let source = Lmdb { ranges, classes: labels.finish() };
        source.refuse_other_values().map_err(refused)?;
        Ok(source)
    }
}

impl Lmdb {
    /// Looks at the first values, since the keys do not show what they are. A value that cannot be read stays
    /// what it is, a bad sample.
    fn refuse_other_values(&self) -> Result<(), String> {
        let mut bytes = Vec::new();
        for index in 0..self.len().min(LOOKED_AT) {
            if let Some(what) = self.read(index, &mut bytes).ok().and_then(|()| other_value(&bytes)) {
                return Err(format!(
                    "the value of `{}` is {what}, and no image file: write the bytes of the image files as values, and \
                     the class as the keys' first directory (`cat/7.jpg`)",
                    self.key(index)
                ));
            }
        }
        Ok(())
    }
}

impl Source for Lmdb {
    pass_on!([.ranges] len key version);
    pass_on!([.classes] label classes);

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.ranges.read(index, bytes, |_| Ok(()))
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.ranges.read_into(index, to)
    }
}

fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("data.mdb") } else { path.to_owned() }
}

/// What a value is that cannot be an image file, as writers for PyTorch and Caffe make them.
fn other_value(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x80, 2..=5, .., b'.'] => Some("a Python pickle"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some("a NumPy array"),
        [0x1f, 0x8b, ..] => Some("compressed with gzip"),
        // Channels, height and width of a `Datum`: fields 1, 2 and 3, numbers.
        [0x08, 1..=4, 0x10, ..] => Some("a Caffe Datum"),
        _ => None,
    }
}
