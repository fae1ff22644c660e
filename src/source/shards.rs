//! Tar files of images, named as WebDataset names them, with any record at hand at any time.

pub(super) mod scan;
pub(super) mod table;

use super::{MAX_FILE_BYTES, Source, out_of_range};
use crate::error::{Cause, Error, Result};
use crate::index::place::{put_in_place, refuse_other_file};
use crate::label::Label;
use scan::Found;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
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
    /// How many bytes each shard had.
    sizes: Vec<u64>,
    keys: String,
    records: Vec<Record>,
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
            sizes: Vec::new(),
            keys: String::new(),
            records: Vec::new(),
            max_file_bytes: MAX_FILE_BYTES,
        };
        for path in paths {
            let path = path.as_ref();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let size = scan::scan(path, &mut |found| shards.push(&name, &found))?;
            shards.sizes.push(size);
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

    /// The archives directly in `folder`, those that end in `.tar`, in the order of their names.
    ///
    /// # Errors
    /// As [`Shards::open`]; a folder that cannot be read or holds none.
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
        Self::open(paths)
    }

    /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
    pub fn max_file_bytes(mut self, max_file_bytes: u64) -> Self {
        self.max_file_bytes = max_file_bytes;
        self
    }

    /// Writes a table of each archive beside it, under its name and `.index` behind that: where its images lie, and
    /// their classes. With it a remote archive is opened by one request; put it next to the archive there. The paths of
    /// the tables come back.
    ///
    /// # Errors
    /// A place that cannot be written to, or that holds a file of another kind.
    pub fn write_tables(&self) -> Result<Vec<PathBuf>> {
        let mut written = Vec::with_capacity(self.paths.len());
        let mut begin = 0;
        for ((path, &end), &size) in self.paths.iter().zip(&self.ends).zip(&self.sizes) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let found: Vec<Found> = (begin..end).map(|index| self.found(index, name.len() + 1)).collect();
            let mut place = path.as_os_str().to_owned();
            place.push(table::ENDING);
            let place = PathBuf::from(place);
            refuse_other_file(&place, table::MAGIC, "table of a tar file")?;
            let text = table::write(size, &found);
            put_in_place(&place, |mut file| file.write_all(text.as_bytes()).map(|()| file))
                .map_err(|error| Error::io(&place, error, "make the folder of the archives writable"))?;
            written.push(place);
            begin = end;
        }
        Ok(written)
    }

    /// What was found of a record, whose key has `head` bytes ahead of the path in the archive.
    fn found(&self, index: usize, head: usize) -> Found {
        let Record { offset, bytes, class, .. } = self.records[index];
        Found { path: self.key(index)[head..].to_owned(), offset, bytes, class }
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

    fn fill(&self, index: usize, record: &Record, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        if record.bytes > self.max_file_bytes {
            return Err(format!(
                "the image has {} bytes, which is above max_file_bytes = {}: raise max_file_bytes or take the image \
                 out of the data set",
                record.bytes, self.max_file_bytes
            )
            .into());
        }
        let path = &self.paths[self.ends.partition_point(|&end| end <= index)];
        let failed = |error: io::Error| -> Cause {
            format!("cannot read {}: {error}; restore the archive, or open the source again", path.display())
                .into()
        };
        let mut file = File::open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(record.offset)).map_err(failed)?;
        bytes.reserve(record.bytes as usize);
        match file.take(record.bytes).read_to_end(bytes).map_err(failed)? as u64 {
            read if read == record.bytes => Ok(()),
            _ => Err(failed(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

impl Source for Shards {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let record = self.records.get(index).ok_or_else(|| out_of_range(index, self.len()))?;
        self.fill(index, record, bytes).map_err(|cause| {
            bytes.clear();
            Error::sample(self.key(index), index as u64, cause)
        })
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
