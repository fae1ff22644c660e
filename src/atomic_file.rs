//! Files that are written as a whole or not at all, and never over a file of another kind.

use crate::error::{Error, Result};
use crate::regular_file;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// Number of names that are tried for a new file before something else must be wrong.
const MAX_NAMES: usize = 16;

/// A user's own file under a mistyped path must not be lost: the file at `path` must be empty or begin with `magic`.
pub(crate) fn refuse_other_file(path: &Path, magic: &[u8; 16], what: &str) -> Result<()> {
    let remedy = "make it readable, or give another path";
    let mut start = Vec::new();
    match regular_file::open(path) {
        Ok(file) => file.take(16).read_to_end(&mut start).map_err(|error| Error::io(path, error, remedy))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io(path, error, remedy)),
    };
    if start.is_empty() || start == magic {
        return Ok(());
    }
    Err(Error::config(format!(
        "{} is no {what}, so none is written over it: give another path, or remove the file",
        path.display()
    )))
}

/// Lets `write` fill the file at `path`, which is written as a whole or not at all: what was there stays until all is on the disk.
/// A device or a pipe is written to as it is; a named pipe must have a reader.
///
/// # Errors
/// Those of `write`, and those of the file system; a named pipe that nobody reads.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // What a link leads to is replaced, and not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
        let mut file = BufWriter::new(regular_file::open_pipe_or_device(&path)?);
        write(&mut file)?;
        return file.flush();
    }
    replace_file(&path, |file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)
    })
}

/// Lets `write` fill a new file beside `path`, which then replaces it. Where that fails, whatever was at `path` is
/// still there.
pub(crate) fn replace_file(path: &Path, write: impl FnOnce(File) -> io::Result<File>) -> io::Result<()> {
    replace_unsynced(path, |file| write(file).and_then(|file| file.sync_all().map(|()| file)))
}

/// The same without waiting for the disk: a power failure may lose or damage it, which a checksum must detect.
pub(crate) fn replace_unsynced(path: &Path, write: impl FnOnce(File) -> io::Result<File>) -> io::Result<()> {
    let (beside, new) = create_first_free((0..MAX_NAMES).map(|_| beside(path)))?;
    let written = write(new).and_then(|_| fs::rename(&beside, path));
    written.inspect_err(|_| {
        // The half-written file is ours alone; if even this fails it does no harm.
        drop(fs::remove_file(&beside));
    })
}

/// A file being written, and the hash of all that was.
pub(crate) struct Hashed {
    output: BufWriter<File>,
    hasher: XxHash3_64,
}

impl Hashed {
    pub(crate) fn new(file: File) -> Self {
        Self { output: BufWriter::new(file), hasher: XxHash3_64::new() }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.write(bytes);
        self.output.write_all(bytes)
    }

    /// Writes the hash after everything else.
    pub(crate) fn finish(mut self) -> io::Result<File> {
        self.output.write_all(&self.hasher.finish().to_le_bytes())?;
        self.output.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// What [`Hashed`] has written, being read. Errors of the kind `InvalidData` mean damage.
pub(crate) struct HashedReader<R> {
    input: BufReader<R>,
    hasher: XxHash3_64,
}

impl<R: Read> HashedReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input: BufReader::new(input), hasher: XxHash3_64::new() }
    }

    pub(crate) fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(),
            _ => error,
        })?;
        self.hasher.write(bytes);
        Ok(())
    }

    /// Compares the hash that follows; nothing may come after it.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let hash = self.hasher.finish();
        let is_right = u64::from_le_bytes(self.take()?) == hash;
        if is_right && self.input.read(&mut [0])? == 0 { Ok(()) } else { Err(damaged()) }
    }
}

pub(crate) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is damaged")
}

/// A new file under the first name that is free; the files of other processes are left alone.
fn create_first_free(names: impl IntoIterator<Item = PathBuf>) -> io::Result<(PathBuf, File)> {
    for name in names {
        match regular_file::create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (name, file)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every temporary name beside it is taken: remove *.tmp"))
}

/// A name of our own in the same directory, for a rename cannot leave its file system. Machines that share the directory
/// may have processes with the same id, so a random part keeps the names apart.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{:016x}.tmp", std::process::id(), RandomState::new().hash_one(())));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_file_of_another_process_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [taken, free] = ["taken", "free"].map(|name| folder.path().join(name));
        fs::write(&taken, "another's").unwrap();
        let (name, _) = create_first_free([taken.clone(), free.clone()]).unwrap();
        assert_eq!(name, free);
        let error = create_first_free([taken.clone(), free]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&taken).unwrap(), b"another's");
    }

    #[test]
    fn temporary_names_differ_and_none_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        assert_ne!(beside(&path), beside(&path));
        replace_file(&path, Ok).unwrap();
        replace_file(&path, |_| Err(io::Error::other("full"))).unwrap_err();
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["kept"]);
    }

    #[test]
    fn what_was_there_stays_until_all_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("state"), folder.path().join("link"));
        write_file(&path, |file| file.write_all(b"old")).unwrap();
        let broken = |file: &mut dyn Write| {
            file.write_all(b"half of the n")?;
            Err(io::Error::other("the disk is full"))
        };
        write_file(&path, broken).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no half-written file is left");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&path, &link).unwrap();
            write_file(&link, |file| file.write_all(b"new")).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&path).unwrap(), b"new");
            write_file(Path::new("/dev/null"), |file| file.write_all(b"gone")).unwrap();
        }
    }
}
