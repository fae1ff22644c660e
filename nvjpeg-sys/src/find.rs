//! Where the library is looked for, and what is said when it is not there.

use crate::functions::Functions;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The environment variable that names the library's file; if it is set, nothing else is tried.
pub const VARIABLE: &str = "FEEDLINE_NVJPEG";

/// The names that the system's own search knows it by, newest first.
#[cfg(not(windows))]
const NAMES: &[&str] = &["libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so"];
#[cfg(windows)]
const NAMES: &[&str] = &["nvjpeg64_13.dll", "nvjpeg64_12.dll"];

/// nvJPEG, loaded, with all of its functions. It is never unloaded: its exit handlers run its code.
pub struct Library {
    /// What is called.
    pub functions: Functions,
    /// The file or name by which it was found.
    pub path: PathBuf,
}

/// Why nvJPEG cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// None of these could be loaded; the linker's words for each.
    NotFound(Vec<(PathBuf, String)>),
    /// It was loaded, and lacks these functions.
    Missing {
        /// The library.
        path: PathBuf,
        /// What it lacks.
        functions: Vec<&'static str>,
    },
}

impl Library {
    /// Loads the first of [`candidates`] that can be loaded.
    ///
    /// # Errors
    /// No library, or one without all of [`Functions::REQUIRED`].
    pub fn open() -> Result<Self, OpenError> {
        Self::open_first(candidates(|name| std::env::var_os(name)))
    }

    /// Loads the first of these that can be loaded.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn open_first(paths: Vec<PathBuf>) -> Result<Self, OpenError> {
        let mut tried = Vec::new();
        for path in paths {
            // SAFETY: what a library does as it is loaded is as sound as the library; this one was asked for by name.
            let library = match unsafe { libloading::Library::new(&path) } {
                Ok(library) => library,
                Err(error) => {
                    let said = std::error::Error::source(&error).map(ToString::to_string);
                    tried.push((path, said.unwrap_or_else(|| error.to_string())));
                    continue;
                }
            };
            return match Functions::find(&library) {
                Ok(functions) => {
                    std::mem::forget(library);
                    Ok(Self { functions, path })
                }
                Err(functions) => Err(OpenError::Missing { path, functions }),
            };
        }
        Err(OpenError::NotFound(tried))
    }
}

/// Where the library is looked for, in order: the file that `FEEDLINE_NVJPEG` names, and nothing else then; the
/// system's own search; then the packages of an active Python environment, NVIDIA's before torchvision's copy.
pub fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if let Some(path) = variable(VARIABLE).filter(|path| !path.is_empty()) {
        return vec![path.into()];
    }
    let mut found: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if let Some(root) = variable(environment).filter(|root| !root.is_empty()) {
            found.extend(packages(Path::new(&root)));
        }
    }
    found
}

/// The libraries in `lib/python*/site-packages` of a Python environment: `nvidia/*/lib`, then `torchvision.libs`.
fn packages(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for python in entries(&root.join("lib"), |name| name.starts_with("python")) {
        let site = python.join("site-packages");
        let mut folders: Vec<PathBuf> =
            entries(&site.join("nvidia"), |_| true).into_iter().map(|package| package.join("lib")).collect();
        folders.push(site.join("torchvision.libs"));
        for folder in folders {
            found.extend(entries(&folder, |name| name.starts_with("libnvjpeg") && name.contains(".so")));
        }
    }
    found
}

/// The entries of a folder whose names are wanted, the greatest name first so that newer versions are; none if the
/// folder cannot be read.
fn entries(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = listed
        .filter(|entry| entry.file_name().to_str().is_some_and(&wanted))
        .map(|entry| entry.path())
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::NotFound(tried) => {
                let list: Vec<String> = tried.iter().map(|(path, _)| path.display().to_string()).collect();
                write!(f, "none of {} can be loaded", list.join(", "))?;
                // That a name is not found needs no more words; that a file which is there does not load does.
                let broken = tried.iter().find(|(path, _)| path.exists() || tried.len() == 1);
                broken.map_or(Ok(()), |(_, said)| write!(f, " ({said})"))
            }
            OpenError::Missing { path, functions } => {
                write!(f, "{} lacks {}", path.display(), functions.join(", "))
            }
        }
    }
}

impl std::error::Error for OpenError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_named_is_the_only_one_tried() {
        let only = |name: &str| (name == VARIABLE).then(|| OsString::from("/opt/libnvjpeg.so.13"));
        assert_eq!(candidates(only), [PathBuf::from("/opt/libnvjpeg.so.13")]);
    }

    #[cfg(not(windows))]
    #[test]
    fn without_an_environment_only_the_systems_search_is_left() {
        assert_eq!(candidates(|_| None), NAMES.iter().map(PathBuf::from).collect::<Vec<_>>());
    }

    #[cfg(not(windows))]
    #[test]
    fn the_packages_of_an_active_environment_come_last_and_nvidias_before_torchvisions() {
        let root = std::env::temp_dir().join(format!("nvjpeg-sys-{}", std::process::id()));
        let site = root.join("lib/python3.11/site-packages");
        let files = [
            "nvidia/cu13/lib/libnvjpeg.so.13",
            "torchvision.libs/libnvjpeg-0b8f.so.12",
            "nvidia/cu13/lib/x.so",
        ];
        for file in files {
            let file = site.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let found = candidates(|name| (name == "VIRTUAL_ENV").then(|| root.clone().into()));
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(found[NAMES.len()..], [site.join(files[0]), site.join(files[1])]);
    }

    #[test]
    fn a_library_that_is_not_there_is_told_with_all_that_was_tried() {
        let error = Library::open_first(vec!["libno-such-nvjpeg.so.13".into(), "libno-other.so".into()])
            .err()
            .unwrap();
        let said = error.to_string();
        assert!(said.contains("libno-such-nvjpeg.so.13, libno-other.so"), "{said}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_without_the_functions_is_told_by_their_names() {
        let error = Library::open_first(vec!["libc.so.6".into()]).err().unwrap();
        assert!(error.to_string().contains("libc.so.6 lacks nvjpegGetProperty, "), "{error}");
    }
}
