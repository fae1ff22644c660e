//! Where files of our own lie: never over somebody else's, and whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens a regular file; what is none (a pipe, a device) could make the reader wait for ever.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// A user's own file under a mistyped path must not be lost: what lies at `path` must be empty or begin with `magic`.
pub(crate) fn refuse_other_file(path: &Path, magic: &[u8; 16], what: &str) -> Result<()> {
    let remedy = "make it readable, or give another path";
    let mut start = Vec::new();
    match open(path) {
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

/// Lets `write` fill a new file beside `path`, which then takes its place. Where that fails, whatever was at `path` is
/// still there.
pub(crate) fn put_in_place(path: &Path, write: impl FnOnce(File) -> io::Result<File>) -> io::Result<()> {
    let beside = beside(path);
    let new = OpenOptions::new().write(true).create_new(true).open(&beside);
    let written =
        new.and_then(write).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| {
        // The half-written file is ours alone; if even this fails it does no harm.
        drop(fs::remove_file(&beside));
    })
}

/// A name of this process's own in the same directory, for a rename cannot leave its file system.
fn beside(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed)));
    name.into()
}
