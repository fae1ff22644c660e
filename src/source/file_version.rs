//! Notices that a file has been replaced by another one since the source was opened.

use super::Version;
use super::read_at::read_at;
use std::fs::{File, Metadata};
use std::hash::Hasher;
use std::io;
use twox_hash::XxHash3_64;

/// How many bytes are looked at from the start and from the end: enough for the heads and tails of all formats, which differ
/// from file to file, and few enough to be read whenever one is opened.
const EDGE_BYTES: u64 = 4096;

/// How a file began and ended when it was opened first. Dates do not count: a copy that was restored is as good.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileVersion {
    /// Up to where the file reached; it may have grown since.
    bytes: u64,
    edges: u64,
    /// Its version by dates then, for those who keep what they read of it for others.
    dated: Version,
}

impl FileVersion {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let about = file.metadata()?;
        let bytes = about.len();
        Ok(Self { bytes, edges: edges(file, bytes)?, dated: Version::of_metadata(&about) })
    }

    /// The version by dates of a file that is as it was noted; unknown of any other, in which what was found means nothing.
    pub(super) fn version(self, about: &Metadata) -> Version {
        match self.dated {
            Version::Known(noted) if Version::of_metadata(about) != Version::Known(noted) => Version::Unknown,
            noted => noted,
        }
    }

    /// Refuses a file that is not the one that this was noted of: what was found in that one means nothing in it.
    pub(super) fn check(self, file: &File) -> io::Result<()> {
        match file.metadata()?.len() >= self.bytes && edges(file, self.bytes)? == self.edges {
            true => Ok(()),
            false => Err(io::Error::other("it was changed since the source was opened")),
        }
    }
}

/// A hash of the start and the end of a file of so many bytes.
fn edges(file: &File, bytes: u64) -> io::Result<u64> {
    let edge = EDGE_BYTES.min(bytes);
    let (mut hasher, mut buffer) = (XxHash3_64::new(), vec![0; edge as usize]);
    for offset in [0, bytes - edge] {
        read_at(file, offset, &mut buffer)?;
        hasher.write(&buffer);
    }
    Ok(hasher.finish())
}
