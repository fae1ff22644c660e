//! The files of a data set of labelled objects: below a folder, or in a store.

use super::folder::images_below;
use super::labels::cache::{FileStamp, stamp_of};
use crate::error::{Error, Result};
use crate::regular_file;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File,
    Folder,
}

/// Takes number and content of a file, or nothing in place of the content where there is no such file.
pub(super) type TakeFile<'t> = dyn FnMut(usize, Option<&[u8]>) -> Result<()> + 't;

/// Files and folders by their paths.
pub(super) trait Tree {
    /// The path, as people write it.
    fn shown(&self, path: &Path) -> String;

    /// What lies there, if anything does.
    fn look(&self, path: &Path) -> Result<Option<Entry>>;

    /// The images at any depth below a folder, in the order of a local folder.
    fn images_below(&self, folder: &Path) -> Result<Vec<PathBuf>>;

    /// Hands number and content of each file to `take`, in order, and nothing in place of the content of one that is not
    /// there. Of a file that is larger than `most_bytes` it is enough to hand out so many and one more.
    ///
    /// # Errors
    /// A file that is there and cannot be read, with `remedy`; those of `take`.
    fn read_each(
        &self,
        files: &mut dyn Iterator<Item = PathBuf>,
        most_bytes: u64,
        remedy: &'static str,
        take: &mut TakeFile<'_>,
    ) -> Result<()>;

    /// What says whether a file has changed, for each of them.
    fn stamps(&self, files: &mut dyn Iterator<Item = PathBuf>) -> Result<Vec<FileStamp>>;

    /// The content of one file, as [`Tree::read_each`] hands it out.
    ///
    /// # Errors
    /// Those of [`Tree::read_each`]; a file that is not there.
    fn read(&self, file: &Path, most_bytes: u64, remedy: &'static str) -> Result<Vec<u8>> {
        let mut content = None;
        self.read_each(&mut [file.to_owned()].into_iter(), most_bytes, remedy, &mut |_, bytes| {
            content = bytes.map(<[u8]>::to_vec);
            Ok(())
        })?;
        content.ok_or_else(|| Error::config(format!("{} is not there: {remedy}", self.shown(file))))
    }
}

/// The files of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disk;

impl Tree for Disk {
    fn shown(&self, path: &Path) -> String {
        path.display().to_string()
    }

    fn look(&self, path: &Path) -> Result<Option<Entry>> {
        Ok(fs::metadata(path).ok().map(|about| if about.is_dir() { Entry::Folder } else { Entry::File }))
    }

    fn images_below(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        images_below(folder)
    }

    fn read_each(
        &self,
        files: &mut dyn Iterator<Item = PathBuf>,
        most_bytes: u64,
        remedy: &'static str,
        take: &mut TakeFile<'_>,
    ) -> Result<()> {
        let mut bytes = Vec::new();
        for (number, path) in files.enumerate() {
            bytes.clear();
            let file = regular_file::open(&path);
            match file.and_then(|file| file.take(most_bytes + 1).read_to_end(&mut bytes)) {
                Ok(_) => take(number, Some(&bytes))?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => take(number, None)?,
                Err(error) => return Err(Error::io(path, error, remedy)),
            }
        }
        Ok(())
    }

    fn stamps(&self, files: &mut dyn Iterator<Item = PathBuf>) -> Result<Vec<FileStamp>> {
        Ok(files.map(|path| stamp_of(&path)).collect())
    }
}
