//! Why a file of some format cannot be read.

use crate::error::Error;
use std::io;
use std::path::Path;

/// Why a file of some format cannot be read.
pub(super) enum ReadError {
    Io(io::Error),
    /// What is wrong with the file, and the remedy.
    Bad(String),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl ReadError {
    /// The error of a file that cannot be opened; `remedy` is for one that cannot be read at all.
    pub(super) fn of(self, path: &Path, remedy: &'static str) -> Error {
        match self {
            ReadError::Io(error) => Error::io(path, error, remedy),
            ReadError::Bad(what) => Error::config(format!("{}: {what}", path.display())),
        }
    }
}
