//! Paths of many files, close together in memory, and reading one of them into a buffer that is used again.

use super::{Destination, MAX_FILE_BYTES, out_of_range};
use crate::error::{Cause, Error, Result};
use crate::regular_file;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Files by index. A path costs its length and eight bytes, so 1.3 million files cost about 100 MB.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// All paths, one after the other; whole, so that opening one needs no joining and no memory.
    paths: Vec<u8>,
    /// Where each path ends in `paths`.
    ends: Vec<u64>,
    /// The head of paths below the root, which keys leave out.
    root: Vec<u8>,
    /// Larger files are refused.
    pub(super) max_file_bytes: u64,
}

impl Files {
    /// No files yet; keys will be relative to `root`.
    pub(super) fn below(root: &Path, max_file_bytes: Option<u64>) -> Self {
        let mut root = root.join("x").into_os_string().into_encoded_bytes();
        root.pop();
        Self {
            paths: Vec::new(),
            ends: Vec::new(),
            root,
            max_file_bytes: max_file_bytes.unwrap_or(MAX_FILE_BYTES),
        }
    }

    /// The files at these paths.
    pub(super) fn at<P: AsRef<Path>>(
        root: &Path,
        max_file_bytes: Option<u64>,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self> {
        let mut files = Self::below(root, max_file_bytes);
        paths.into_iter().try_for_each(|path| files.push(path.as_ref()))?;
        files.shrink();
        Ok(files)
    }

    pub(super) fn push(&mut self, path: &Path) -> Result<()> {
        let bytes = path.as_os_str().as_encoded_bytes();
        if path_of(bytes).is_none() {
            let cause = io::Error::new(io::ErrorKind::InvalidData, "the name is not valid Unicode");
            return Err(Error::io(path, cause, "rename the file"));
        }
        self.paths.extend_from_slice(bytes);
        self.ends.push(self.paths.len() as u64);
        Ok(())
    }

    /// Gives back what growing had set aside.
    pub(super) fn shrink(&mut self) {
        self.paths.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn bytes(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.paths[start..end])
    }

    pub(super) fn path(&self, index: usize) -> Option<&Path> {
        self.bytes(index).and_then(path_of)
    }

    /// The path below the root, or the whole path of a file elsewhere; bytes that are not UTF-8 are shown as `\xNN`, so
    /// that keys stay unique.
    pub(super) fn key(&self, index: usize) -> Cow<'_, str> {
        readable(self.bytes(index).map_or(&[][..], |path| path.strip_prefix(&self.root[..]).unwrap_or(path)))
    }

    /// Replaces the content of `bytes` by the file's.
    pub(super) fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let read = self.at_path(index, |path| {
            let (file, size) = open(path, self.max_file_bytes)?;
            bytes.reserve(size as usize);
            read_all(file, path, self.max_file_bytes, bytes)
        });
        read.inspect_err(|_| bytes.clear())
    }

    /// The bytes of another file, at a path below the root or a whole one.
    pub(super) fn read_beside(&self, path: &str) -> Result<Vec<u8>, Cause> {
        let root = path_of(&self.root).unwrap_or(Path::new(""));
        let (path, mut bytes) = (root.join(path), Vec::new());
        let (file, size) = open(&path, self.max_file_bytes)?;
        bytes.reserve(size as usize);
        read_all(file, &path, self.max_file_bytes, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the file to where `to` has room for as many bytes as it should have.
    pub(super) fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.at_path(index, |path| {
            let (mut file, size) = open(path, self.max_file_bytes)?;
            if file.read_exact(to.room(size as usize)).is_ok() && matches!(file.read(&mut [0]), Ok(0)) {
                return Ok(());
            }
            // It has another size by now, or cannot be read, which is found out again.
            let mut bytes = Vec::new();
            let (file, _) = open(path, self.max_file_bytes)?;
            read_all(file, path, self.max_file_bytes, &mut bytes)?;
            to.room(bytes.len()).copy_from_slice(&bytes);
            Ok(())
        })
    }

    /// Lets `read` read the file, and names it where that fails.
    fn at_path(&self, index: usize, read: impl FnOnce(&Path) -> Result<(), Cause>) -> Result<()> {
        let path = self.path(index).ok_or_else(|| out_of_range(index, self.len()))?;
        read(path).map_err(|cause| Error::sample(self.key(index), index as u64, cause))
    }
}

/// Opens a file of at most `max_file_bytes`, and says how many it should have.
fn open(path: &Path, max_file_bytes: u64) -> Result<(File, u64), Cause> {
    match regular_file::open_sized(path) {
        Ok((_, bytes)) if bytes > max_file_bytes => Err(too_large(bytes, max_file_bytes)),
        opened => opened.map_err(|error| unreadable(path, &error)),
    }
}

/// Reads the whole file, but never more than `max_file_bytes`.
fn read_all(file: File, path: &Path, max_file_bytes: u64, bytes: &mut Vec<u8>) -> Result<(), Cause> {
    // One byte beyond the bound shows that a file has grown meanwhile.
    let read = file.take(max_file_bytes.saturating_add(1)).read_to_end(bytes);
    match read.map_err(|error| unreadable(path, &error))? as u64 {
        size if size > max_file_bytes => Err(too_large(size, max_file_bytes)),
        _ => Ok(()),
    }
}

fn too_large(size: u64, max_file_bytes: u64) -> Cause {
    format!(
        "the file has {size} bytes or more, which is above max_file_bytes = {max_file_bytes}: raise max_file_bytes or \
         take the file out of the data set"
    )
    .into()
}

fn unreadable(path: &Path, error: &io::Error) -> Cause {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "restore the file, or open the source again",
        io::ErrorKind::InvalidInput => "take it out of the data set",
        io::ErrorKind::PermissionDenied => "make the file readable for this user",
        _ => "check the disk or the mount that holds it",
    };
    format!("cannot read {}: {error}; {remedy}", path.display()).into()
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;
    Some(Path::new(OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes).ok().map(|text| Path::new(OsStr::new(text)))
}

/// The bytes of a name as text, those that are not UTF-8 as `\xNN`: what keys and reports show.
pub fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    Cow::Owned(text)
}
