//! Tar files of images, named as WebDataset names them, with any record at hand at any time.

mod open_files;
mod scan;

use super::{MAX_FILE_BYTES, Source, out_of_range};
use crate::error::{Cause, Error, Result};
use crate::label::Label;
use open_files::{OpenFiles, read_at};
use scan::Found;
use serde::Deserialize;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The images of tar files, shard after shard, in the order in which they lie there.
///
/// Members of one sample lie next to each other and share their path up to the first dot of the name: `n01/7.jpg` is an
/// image, `n01/7.cls` its class, an index from 0 as text. Other members (`7.json`, `7.txt`, `7.seg.png`) are left out,
/// and so are samples without an image. Opening reads the headers and the classes of all members, not the
/// images; 32 bytes and the key of each record are kept. Compressed archives are refused, since nothing in them can be
/// read without all that is ahead of it.
#[derive(Clone, Debug)]
pub struct Shards {
    paths: Vec<PathBuf>,
    /// How many records there are up to the end of each shard.
    ends: Vec<usize>,
    keys: String,
    records: Vec<Record>,
    /// Names of the classes, where a manifest beside the archives has them.
    classes: Vec<String>,
    open: OpenFiles,
    max_file_bytes: u64,
}

/// Where an image lies.
#[derive(Clone, Copy, Debug)]
struct Record {
    offset: u64,
    bytes: u64,
    /// -1 for none.
    class: i64,
    /// Where its key ends among all keys.
    key_end: u64,
}

impl Shards {
    /// The archives at `paths`, in this order.
    ///
    /// # Errors
    /// An archive that cannot be read, is compressed, damaged or cut short; members that are no sample. The archive and
    /// the member are named.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let mut shards = Self {
            paths: Vec::new(),
            ends: Vec::new(),
            keys: String::new(),
            records: Vec::new(),
            classes: Vec::new(),
            open: OpenFiles::default(),
            max_file_bytes: MAX_FILE_BYTES,
        };
        for path in paths {
            let path = path.as_ref();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            scan::scan(path, &mut |found| shards.push(&name, &found))?;
            shards.paths.push(path.to_owned());
            shards.ends.push(shards.records.len());
        }
        if shards.records.is_empty() {
            let remedy = "name archives that hold images (.jpg, .png, .webp)";
            return Err(Error::config(format!(
                "{} tar files were opened, and no image is in them: {remedy}",
                shards.paths.len()
            )));
        }
        shards.records.shrink_to_fit();
        shards.keys.shrink_to_fit();
        Ok(shards)
    }

    /// The archives directly in `folder`, those that end in `.tar`, in the order of their names. The names of classes are
    /// those of the `manifest.json` that `feedline pack` writes, if there is one.
    ///
    /// # Errors
    /// As [`Shards::open`]; a folder that cannot be read or holds none; a manifest that cannot be read.
    pub fn folder(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let paths = archives(folder).map_err(|error| {
            Error::io(folder, error, "name a folder that holds tar files, and can be read")
        })?;
        if paths.is_empty() {
            return Err(Error::config(format!(
                "{} holds no file that ends in .tar: name the folder of the archives",
                folder.display()
            )));
        }
        let classes = class_names(folder)?;
        Ok(Self { classes, ..Self::open(paths)? })
    }

    /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
    pub fn max_file_bytes(mut self, max_file_bytes: u64) -> Self {
        self.max_file_bytes = max_file_bytes;
        self
    }

    /// Whether the path's name is that of an archive, compressed ones included, which [`Shards::open`] refuses.
    pub fn is_archive(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let compressed = [".gz", ".xz", ".zst", ".bz2"].iter().find_map(|ending| name.strip_suffix(ending));
        compressed.unwrap_or(&name).ends_with(".tar") || name.ends_with(".tgz")
    }

    /// Whether archives lie directly in `folder`.
    pub fn are_in(folder: &Path) -> bool {
        archives(folder).is_ok_and(|paths| !paths.is_empty())
    }

    fn push(&mut self, shard: &str, found: &Found) {
        self.keys.push_str(shard);
        self.keys.push('/');
        self.keys.push_str(&found.path);
        let key_end = self.keys.len() as u64;
        let Found { offset, bytes, class, .. } = *found;
        self.records.push(Record { offset, bytes, class, key_end });
    }

    fn fill(&self, index: usize, record: &Record, bytes: &mut Vec<u8>) -> Result<()> {
        self.fill_from(index, record, bytes)
            .map_err(|cause| Error::sample(self.key(index), index as u64, cause))
    }

    fn fill_from(&self, index: usize, record: &Record, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        if record.bytes > self.max_file_bytes {
            return Err(format!(
                "the image has {} bytes, which is above max_file_bytes = {}: raise max_file_bytes or take the image \
                 out of the data set",
                record.bytes, self.max_file_bytes
            )
            .into());
        }
        let shard = self.ends.partition_point(|&end| end <= index);
        let path = &self.paths[shard];
        // Without clearing it first, so that only what it grows by is written twice.
        bytes.resize(record.bytes as usize, 0);
        let read = self.open.file(shard, path).and_then(|file| read_at(&file, record.offset, bytes));
        read.map_err(|error| {
            self.open.forget(shard);
            format!("cannot read {}: {error}; restore the archive, or open the source again", path.display())
                .into()
        })
    }
}

impl Source for Shards {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let read = match self.records.get(index) {
            Some(record) => self.fill(index, record, bytes),
            None => Err(out_of_range(index, self.len())),
        };
        read.inspect_err(|_| bytes.clear())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        let Some(record) = self.records.get(index) else { return Cow::Borrowed("") };
        let start = index.checked_sub(1).map_or(0, |before| self.records[before].key_end);
        Cow::Borrowed(&self.keys[start as usize..record.key_end as usize])
    }

    fn label(&self, index: usize) -> Label {
        match self.records.get(index) {
            Some(record) if record.class >= 0 => Label::Class(record.class),
            _ => Label::Unlabelled,
        }
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn shard_ends(&self) -> Vec<u64> {
        self.ends.iter().map(|&end| end as u64).collect()
    }
}

/// The part of a packed folder's manifest that is of use here.
#[derive(Deserialize)]
struct Names {
    kind: String,
    classes: Vec<String>,
}

/// The names of classes in the manifest that lies in `folder`, if one does.
fn class_names(folder: &Path) -> Result<Vec<String>> {
    let path = folder.join("manifest.json");
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(path, error, "make it readable, or remove it")),
    };
    // Somebody else's manifest is nothing to us.
    let names = serde_json::from_slice::<Names>(&text).ok().filter(|names| names.kind == "feedline shards");
    Ok(names.map_or_else(Vec::new, |names| names.classes))
}

/// The files directly in `folder` whose names end in `.tar`, sorted.
fn archives(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tar")) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
