//! The libraries that are found: each loaded once, its version checked, never unloaded.

#![expect(unsafe_code, reason = "a call of a C library")]

use super::exit;
use nvjpeg_sys::{Functions, Library, MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// nvJPEG, ready to be called.
pub(crate) struct Nvjpeg {
    pub(crate) functions: Functions,
    /// The file; where the system does not tell it, the name by which it was found.
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
}

/// Major, minor and patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u32, pub(crate) u32, pub(crate) u32);

impl Version {
    /// The first version that interpolates chroma; without that its pixels are far from any other decoder's.
    pub(crate) const OLDEST: Version = Version(12, 1, 0);
    /// The first version whose interpolation is correct at the edges of a part of an image.
    pub(crate) const DECODES_PARTS: Version = Version(13, 3, 0);
}

/// Further folders with Python's packages, in which libraries are looked for.
static SITE_PACKAGES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has nvJPEG looked for in these folders with Python's packages as well, ahead of the system's own search, from now on
/// and in place of those that were named before. A library that is in use stays in use.
pub fn look_for_nvjpeg_in(site_packages: Vec<PathBuf>) {
    *SITE_PACKAGES.lock().unwrap_or_else(PoisonError::into_inner) = site_packages;
}

/// Where nvJPEG is looked for, in order; names without a folder are left to the system's search.
pub fn nvjpeg_candidates() -> Vec<PathBuf> {
    let site_packages = SITE_PACKAGES.lock().unwrap_or_else(PoisonError::into_inner);
    nvjpeg_sys::candidates(|name| std::env::var_os(name), nvjpeg_sys::loaded(), &site_packages)
}

impl Nvjpeg {
    /// Loads the library of this file or name, or why it cannot be used.
    pub(super) fn load(path: &Path) -> Result<&'static Self, String> {
        type Loaded = BTreeMap<PathBuf, Result<&'static Nvjpeg, String>>;
        static LOADED: Mutex<Loaded> = Mutex::new(Loaded::new());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.entry(path.to_owned()).or_insert_with(|| Self::open(path)).clone()
    }

    fn open(path: &Path) -> Result<&'static Self, String> {
        let Library { functions, path } = Library::load(path).map_err(|unusable| unusable.to_string())?;
        exit::watch();
        let part = |property| {
            let mut value = 0;
            // SAFETY: one number to be written; it stays 0 if the call fails.
            unsafe { (functions.nvjpegGetProperty)(property, &mut value) };
            u32::try_from(value).unwrap_or(0)
        };
        let version = Version(part(MAJOR_VERSION), part(MINOR_VERSION), part(PATCH_LEVEL));
        if version < Version::OLDEST {
            return Err(format!("is version {version}, and {} is the oldest that is used", Version::OLDEST));
        }
        // It is never unloaded.
        Ok(Box::leak(Box::new(Self { functions, path, version })))
    }

    /// Whether a part of an image may be decoded on its own.
    pub(crate) fn decodes_parts(&self) -> bool {
        self.version >= Version::DECODES_PARTS
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_part_by_part() {
        assert!(Version(12, 10, 0) > Version(12, 9, 9));
        assert!(Version(13, 2, 9) < Version::DECODES_PARTS);
        assert_eq!(Version(13, 3, 2).to_string(), "13.3.2");
    }

    #[test]
    fn a_file_that_is_no_library_is_told_from_one_that_is_not_nvjpeg() {
        let why = |path: &str| Nvjpeg::load(Path::new(path)).err().unwrap();
        assert!(why("/no/such/libnvjpeg.so.13").starts_with("cannot be loaded ("));
        #[cfg(target_os = "linux")]
        assert!(why("libc.so.6").starts_with("lacks nvjpegGetProperty"));
    }
}
