//! Why a file at a path was not decoded.

use crate::image::ImageError;
use std::io;

/// A file that could not be read, or that was refused. The caller adds the path.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file system's error.
    #[error("the file cannot be read: {0}: check the path")]
    Io(#[from] io::Error),
    /// The decoder's error.
    #[error(transparent)]
    Image(#[from] ImageError),
}
