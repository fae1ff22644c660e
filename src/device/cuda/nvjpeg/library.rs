//! The library of this process: found once, its version checked, never unloaded.

#![expect(unsafe_code, reason = "a call of a C library")]

use super::exit;
use nvjpeg_sys::{Functions, Library, MAJOR_VERSION, MINOR_VERSION, OpenError, PATCH_LEVEL};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// nvJPEG, ready to be called.
pub(crate) struct Nvjpeg {
    pub(crate) functions: Functions,
    /// The file or name under which it was found.
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
}

/// Why nvJPEG cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// No library, or one that lacks functions.
    Library(OpenError),
    /// One that is too old.
    TooOld { path: PathBuf, version: Version },
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

impl Nvjpeg {
    /// The library of this process.
    pub(crate) fn get() -> Result<&'static Self, &'static Absent> {
        static LIBRARY: OnceLock<Result<Nvjpeg, Absent>> = OnceLock::new();
        LIBRARY.get_or_init(Self::open).as_ref()
    }

    fn open() -> Result<Self, Absent> {
        let Library { functions, path } = Library::open().map_err(Absent::Library)?;
        exit::watch();
        let part = |property| {
            let mut value = 0;
            // SAFETY: one number to be written; it stays 0 if the call fails.
            unsafe { (functions.nvjpegGetProperty)(property, &mut value) };
            u32::try_from(value).unwrap_or(0)
        };
        let version = Version(part(MAJOR_VERSION), part(MINOR_VERSION), part(PATCH_LEVEL));
        if version < Version::OLDEST {
            return Err(Absent::TooOld { path, version });
        }
        Ok(Self { functions, path, version })
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

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absent::Library(error) => error.fmt(f),
            Absent::TooOld { path, version } => {
                write!(
                    f,
                    "{} is version {version}, and {} is the oldest that is used",
                    path.display(),
                    Version::OLDEST
                )
            }
        }
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
    fn asking_for_the_library_never_panics() {
        assert_eq!(Nvjpeg::get().is_ok(), Nvjpeg::get().is_ok());
    }
}
