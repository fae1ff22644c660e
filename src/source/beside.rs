//! Files that belong to images, such as masks: those of a folder, or those below a URL.

use super::IoStats;
use super::files::Files;
#[cfg(feature = "remote")]
use crate::error::{Cause, Error};
use crate::error::{Result, bail};
use std::path::{Component, Path, PathBuf};
#[cfg(feature = "remote")]
use std::sync::Arc;

/// What lies below a URL, by number, in no order that matters.
#[cfg(feature = "remote")]
pub(super) trait Stored: std::fmt::Debug + Send + Sync {
    /// The URL of the object of this name, or of all of them for an empty one.
    fn shown(&self, name: &Path) -> String;

    /// The number of the object of this name, if there is one.
    fn find(&self, name: &Path) -> Option<u32>;

    /// The name of an object.
    fn key(&self, number: u32) -> &str;

    /// Replaces the content of `bytes` by the object's, if that is no larger than it may be.
    fn read(&self, number: u32, max_file_bytes: u64, bytes: &mut Vec<u8>) -> Result<(), Cause>;

    fn io_stats(&self) -> IoStats;
}

/// Files that were found by their names, by number.
#[derive(Clone, Debug)]
pub(super) enum Beside {
    Folder {
        folder: PathBuf,
        files: Files,
    },
    #[cfg(feature = "remote")]
    Url {
        objects: Arc<dyn Stored>,
        /// Which of the objects there each file is.
        chosen: Vec<u32>,
        max_file_bytes: u64,
    },
}

impl Beside {
    /// Those of a local folder; none is chosen yet.
    pub(super) fn folder(folder: &Path, max_file_bytes: Option<u64>) -> Self {
        Self::Folder { folder: folder.to_owned(), files: Files::below(folder, max_file_bytes) }
    }

    /// The folder, for messages.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Folder { folder, .. } => folder.display().to_string(),
            #[cfg(feature = "remote")]
            Self::Url { objects, .. } => objects.shown(Path::new("")),
        }
    }

    /// The file of this name, for messages.
    pub(super) fn shown(&self, name: &Path) -> String {
        match self {
            Self::Folder { folder, .. } => folder.join(name).display().to_string(),
            #[cfg(feature = "remote")]
            Self::Url { objects, .. } => objects.shown(name),
        }
    }

    /// Chooses the file of this name as the next one; false where there is none.
    pub(super) fn push(&mut self, name: &Path) -> Result<bool> {
        match self {
            Self::Folder { folder, files } => {
                let path = folder.join(name);
                let found = path.is_file();
                if found {
                    files.push(&path)?;
                }
                Ok(found)
            }
            #[cfg(feature = "remote")]
            Self::Url { objects, chosen, .. } => {
                let found = objects.find(name);
                chosen.extend(found);
                Ok(found.is_some())
            }
        }
    }

    /// How many files are chosen.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Folder { files, .. } => files.len(),
            #[cfg(feature = "remote")]
            Self::Url { chosen, .. } => chosen.len(),
        }
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        match self {
            Self::Folder { files, .. } => files.shrink(),
            #[cfg(feature = "remote")]
            Self::Url { chosen, .. } => chosen.shrink_to_fit(),
        }
    }

    /// Sets the largest file that is read.
    pub(super) fn limit(&mut self, bytes: u64) {
        match self {
            Self::Folder { files, .. } => files.max_file_bytes = bytes,
            #[cfg(feature = "remote")]
            Self::Url { max_file_bytes, .. } => *max_file_bytes = bytes,
        }
    }

    /// Replaces the content of `bytes` by that of file `number`, which must exist.
    ///
    /// # Errors
    /// [`crate::error::Error::Sample`] with the file's own name.
    pub(super) fn read(&self, number: usize, bytes: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Folder { files, .. } => files.read(number, bytes),
            #[cfg(feature = "remote")]
            Self::Url { objects, chosen, max_file_bytes } => {
                let object = chosen[number];
                objects.read(object, *max_file_bytes, bytes).map_err(|cause| {
                    bytes.clear();
                    Error::sample(objects.key(object), number as u64, cause)
                })
            }
        }
    }

    /// What reading cost.
    pub(super) fn io_stats(&self) -> IoStats {
        match self {
            Self::Folder { .. } => IoStats::default(),
            #[cfg(feature = "remote")]
            Self::Url { objects, .. } => objects.io_stats(),
        }
    }
}

/// Where below `folder` the file lies that belongs to the image with this key, with the image's own ending.
pub(super) fn place_below(key: &str, folder: impl FnOnce() -> String) -> Result<PathBuf> {
    let parts: Vec<Component> = Path::new(key).components().collect();
    let parents = &parts[..parts.len().saturating_sub(1)];
    let images = parents.iter().rposition(|part| part.as_os_str() == "images");
    let below = &parts[images.map_or(0, |at| at + 1)..];
    if below.is_empty() || !below.iter().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        bail!(
            "the image `{key}` has no place below {}: open the images by paths below a folder named `images`, or below \
             the folder of the data set",
            folder()
        );
    }
    Ok(below.iter().collect())
}
