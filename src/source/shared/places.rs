//! Where caches lie that nobody has named a file for, and how large they may become.

use crate::error::{Error, Result};
use crate::machine;
use std::path::{Path, PathBuf};

/// The file system in memory that Linux has.
const SHARED_MEMORY: &str = "/dev/shm";
const ENDING: &str = ".cache";

/// Where a cache lies.
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// Whether the name is feedline's choice and not the user's.
    pub(super) is_chosen: bool,
    /// Whether it stays where nobody uses it.
    pub(super) stays: bool,
}

/// What a cache is called: caches of the same group are of data from the same place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) group: u32,
    pub(super) own: u64,
}

impl Name {
    fn text(self) -> String {
        format!("{}{:016x}{ENDING}", self.head(), self.own)
    }

    /// What the names of its group begin with.
    pub(super) fn head(self) -> String {
        format!("{:08x}-", self.group)
    }
}

impl Place {
    /// The file that the user names, or the one that is chosen for a cache of this name.
    ///
    /// # Errors
    /// A file that can have no absolute path, and no home folder.
    pub(super) fn of(stays: bool, named: Option<&Path>, name: Name) -> Result<Self> {
        let remedy = "name the file as a whole path (cache_file)";
        let path = match named {
            Some(path) => std::path::absolute(path).map_err(|error| Error::io(path, error, remedy))?,
            None if stays => disk_folder()?.join(name.text()),
            None => memory_folder().join(format!("{}{}", memory_head(), name.text())),
        };
        Ok(Self { path, is_chosen: named.is_none(), stays })
    }

    /// Makes the folder of a file on disk whose name was chosen.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub(super) fn make_folder(&self) -> Result<()> {
        let remedy = "name a file for the cache in a folder that can be written to (cache_file)";
        match self.path.parent() {
            Some(folder) if self.is_chosen && self.stays => {
                std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error, remedy))
            }
            _ => Ok(()),
        }
    }

    /// The most bytes that a cache has there of which nobody said so: half of what is free, with the `own` bytes that it has.
    pub(super) fn usual_limit(&self, own: u64) -> u64 {
        let half = |free: u64| free.saturating_add(own) / 2;
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let free = machine::free_in(folder).map_or(0, half);
        match self.stays {
            true => free,
            false => free.min(machine::available().map_or(u64::MAX, half)),
        }
    }

    /// What else may help where there is little room.
    pub(super) fn remedy(&self) -> &'static str {
        match self.is_chosen && !self.stays {
            true => ", or more memory in /dev/shm (docker run --shm-size), or use cache = \"disk\"",
            false => "",
        }
    }
}

/// Where caches in memory lie.
pub(super) fn memory_folder() -> &'static Path {
    Path::new(SHARED_MEMORY)
}

/// What the names of this user's begin with there.
pub(super) fn memory_head() -> String {
    format!("feedline-{}-", nix::unistd::geteuid())
}

/// Where caches on a disk lie.
///
/// # Errors
/// No home folder.
pub(super) fn disk_folder() -> Result<PathBuf> {
    let of =
        |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")));
    let none = || {
        Error::config(
            "neither XDG_CACHE_HOME nor HOME names a folder for the cache: name its file (cache_file)",
        )
    };
    folder.map(|folder| folder.join("feedline")).ok_or_else(none)
}

/// Whether a file is called as a cache is.
pub(super) fn is_name(name: &str, head: &str) -> bool {
    name.starts_with(head) && name.ends_with(ENDING)
}
