//! The library of this process: the first one found that starts on a device.
//!
//! Whether a library works is only known once it is opened on a device: one that is newer than the driver's CUDA loads,
//! and then does not start. So the next one is tried then, such as the copy that torchvision carries.

use super::handle::{Backend, Handle};
use super::library::{Nvjpeg, Version, nvjpeg_candidates};
use super::result::NvjpegError;
use crate::device::cuda::driver::Context;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The library that was chosen.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub(crate) library: &'static Nvjpeg,
    /// Those ahead of it that are there and do not work.
    pub(crate) passed_over: Vec<Refusal>,
}

/// Why nvJPEG cannot be used: all that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absent {
    tried: Vec<Refusal>,
}

/// A file or name under which no library works, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    path: PathBuf,
    /// Where it could be loaded.
    version: Option<Version>,
    why: String,
}

/// The choice, once there is one. It is locked while libraries are tried.
fn choice() -> MutexGuard<'static, Option<Chosen>> {
    static CHOICE: Mutex<Option<Chosen>> = Mutex::new(None);
    CHOICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The chosen library's hybrid decoder on this device, which every device has. The first call that succeeds chooses the
/// library, for all devices of this process: the first that is found and starts on this one.
///
/// # Errors
/// No library that was found starts here; or, where one was chosen before, that one does not.
pub(crate) fn start(context: &Context) -> Result<Handle, Absent> {
    let mut choice = choice();
    if let Some(Chosen { library, .. }) = *choice {
        let refused = |error: NvjpegError| Absent { tried: vec![Refusal::of(library, &error)] };
        return Handle::open(library, context, Backend::Hybrid).map_err(refused);
    }
    let mut tried: Vec<Refusal> = Vec::new();
    for path in nvjpeg_candidates() {
        let library = match Nvjpeg::load(&path) {
            Ok(library) => library,
            Err(why) => {
                tried.push(Refusal { path, version: None, why });
                continue;
            }
        };
        if tried.iter().any(|refusal| refusal.path == library.path) {
            continue; // The same file under another name.
        }
        match Handle::open(library, context, Backend::Hybrid) {
            Ok(handle) => {
                tried.retain(Refusal::is_of_a_file);
                *choice = Some(Chosen { library, passed_over: tried });
                return Ok(handle);
            }
            Err(error) => {
                tried.push(Refusal::of(library, &error));
                if !blames_the_library(&error) {
                    break;
                }
            }
        }
    }
    Err(Absent { tried })
}

/// Whether another library may do better: not where the device or its memory is to blame.
fn blames_the_library(error: &NvjpegError) -> bool {
    matches!(error, NvjpegError::Status { status, .. } if *status != nvjpeg_sys::ALLOCATOR_FAILURE)
}

/// The library of this process, where one was chosen.
pub(crate) fn chosen() -> Option<Chosen> {
    choice().clone()
}

/// The library of this process; where none was chosen, since no device has tried any, the first that can be loaded.
pub(crate) fn in_use() -> Result<&'static Nvjpeg, Absent> {
    if let Some(chosen) = chosen() {
        return Ok(chosen.library);
    }
    let mut tried = Vec::new();
    for path in nvjpeg_candidates() {
        match Nvjpeg::load(&path) {
            Ok(library) => return Ok(library),
            Err(why) => tried.push(Refusal { path, version: None, why }),
        }
    }
    Err(Absent { tried })
}

impl Refusal {
    fn of(library: &Nvjpeg, error: &NvjpegError) -> Self {
        Self {
            path: library.path.clone(),
            version: Some(library.version),
            why: format!("does not start ({error})"),
        }
    }

    /// Whether there is such a file, as far as can be told: that a name is not found needs no words.
    fn is_of_a_file(&self) -> bool {
        self.version.is_some() || !self.why.starts_with("cannot be loaded") || self.path.exists()
    }
}

impl Absent {
    /// Whether some library was loaded and did not start.
    pub(crate) fn is_for_not_starting(&self) -> bool {
        self.tried.iter().any(|refusal| refusal.version.is_some())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, version, why } = self;
        match version {
            Some(version) => write!(f, "{} (version {version}) {why}", path.display()),
            None => write!(f, "{} {why}", path.display()),
        }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |refusal: &&Refusal| self.tried.len() == 1 || refusal.is_of_a_file();
        let (files, names): (Vec<&Refusal>, Vec<&Refusal>) = self.tried.iter().partition(told);
        let mut words: Vec<String> = files.iter().map(ToString::to_string).collect();
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|refusal| refusal.path.display().to_string()).collect();
            words.push(format!("none of {} can be loaded", names.join(", ")));
        }
        f.write_str(&words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_each_library_with_its_version_and_the_names_without_one_together() {
        let refusal =
            |path: &str, version, why: &str| Refusal { path: path.into(), version, why: why.into() };
        let absent = Absent {
            tried: vec![
                refusal("/a/libnvjpeg.so.13", Some(Version(13, 3, 2)), "does not start (6)"),
                refusal("libnvjpeg.so.13", None, "cannot be loaded (no such file)"),
                refusal("/b/libnvjpeg.so.12", None, "lacks nvjpegDecodeBatchedEx"),
                refusal("libnvjpeg.so", None, "cannot be loaded (no such file)"),
            ],
        };
        assert_eq!(
            absent.to_string(),
            "/a/libnvjpeg.so.13 (version 13.3.2) does not start (6); /b/libnvjpeg.so.12 lacks \
             nvjpegDecodeBatchedEx; none of libnvjpeg.so.13, libnvjpeg.so can be loaded"
        );
        assert!(absent.is_for_not_starting());
    }

    #[test]
    fn asking_for_the_library_never_panics() {
        assert_eq!(in_use().is_ok(), in_use().is_ok());
    }
}
