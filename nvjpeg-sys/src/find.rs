//! Where the library is looked for, and what is said when it is not there.

use crate::functions::Functions;
use crate::loaded::{file_of, is_nvjpeg, loaded};
use std::collections::BTreeSet;
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

/// nvJPEG, loaded, with its functions. It is never unloaded: its exit handlers run its code.
pub struct Library {
    /// What is called.
    pub functions: Functions,
    /// The file; where the system does not tell it, the name by which it was found.
    pub path: PathBuf,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It cannot be loaded; the linker's words.
    NotLoaded(String),
    /// It lacks these functions.
    Lacks(Vec<&'static str>),
}

/// Why nvJPEG cannot be used: all that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError(pub Vec<(PathBuf, Unusable)>);

impl Library {
    /// Loads the first of [`candidates`] that can be used.
    ///
    /// # Errors
    /// None can.
    pub fn open() -> Result<Self, OpenError> {
        Self::open_first(candidates(|name| std::env::var_os(name), loaded(), &[]))
    }

    /// Loads the first of these that can be used.
    ///
    /// # Errors
    /// None can.
    pub fn open_first(paths: Vec<PathBuf>) -> Result<Self, OpenError> {
        let mut tried = Vec::new();
        for path in paths {
            match Self::load(&path) {
                Ok(library) => return Ok(library),
                Err(unusable) => tried.push((path, unusable)),
            }
        }
        Err(OpenError(tried))
    }

    /// Loads this one.
    ///
    /// # Errors
    /// It cannot be loaded, or lacks one of [`Functions::REQUIRED`].
    pub fn load(path: &Path) -> Result<Self, Unusable> {
        // SAFETY: what a library does as it is loaded is as sound as the library; this one was asked for by name.
        let library = unsafe { libloading::Library::new(path) }.map_err(|error| {
            let said = std::error::Error::source(&error).map(ToString::to_string);
            Unusable::NotLoaded(said.unwrap_or_else(|| error.to_string()))
        })?;
        let functions = Functions::find(&library).map_err(Unusable::Lacks)?;
        std::mem::forget(library);
        let file = file_of(functions.nvjpegGetProperty as *const () as usize);
        Ok(Self { functions, path: file.unwrap_or_else(|| path.to_owned()) })
    }
}

/// Where the library is looked for, in order: the file that `FEEDLINE_NVJPEG` names, and nothing else then; what the
/// process has [`loaded`] already; these folders with Python's packages, which are those of the running Python; the
/// system's own search; and the packages of an environment that is active. Of packages, NVIDIA's own come before
/// torchvision's copy.
pub fn candidates(
    variable: impl Fn(&str) -> Option<OsString>,
    loaded: Vec<PathBuf>,
    site_packages: &[PathBuf],
) -> Vec<PathBuf> {
    if let Some(path) = variable(VARIABLE).filter(|path| !path.is_empty()) {
        return vec![path.into()];
    }
    let mut found = loaded;
    found.extend(site_packages.iter().flat_map(|site| packages(site)));
    found.extend(NAMES.iter().map(PathBuf::from));
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if let Some(root) = variable(environment).filter(|root| !root.is_empty()) {
            let pythons = entries(&Path::new(&root).join("lib"), |path| named(path, "python"));
            found.extend(pythons.iter().flat_map(|python| packages(&python.join("site-packages"))));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

/// The libraries in a folder with Python's packages: in `nvidia/*/lib`, then in `torchvision.libs`.
fn packages(site: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        entries(&site.join("nvidia"), |_| true).into_iter().map(|package| package.join("lib")).collect();
    folders.push(site.join("torchvision.libs"));
    folders.iter().flat_map(|folder| entries(folder, is_nvjpeg)).collect()
}

fn named(path: &Path, prefix: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
}

/// The entries of a folder that are wanted, the greatest name first so that newer versions are; none if the folder
/// cannot be read.
fn entries(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = listed.map(|entry| entry.path()).filter(|path| wanted(path)).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // That a name is not found needs no more words; that a file which is there is of no use does.
        let told = |(path, unusable): &&(PathBuf, Unusable)| {
            self.0.len() == 1 || path.exists() || matches!(unusable, Unusable::Lacks(_))
        };
        let (found, absent): (Vec<_>, Vec<_>) = self.0.iter().partition(told);
        let mut words: Vec<String> =
            found.iter().map(|(path, why)| format!("{} {why}", path.display())).collect();
        if !absent.is_empty() {
            let names: Vec<String> = absent.iter().map(|(path, _)| path.display().to_string()).collect();
            words.push(format!("none of {} can be loaded", names.join(", ")));
        }
        f.write_str(&words.join("; "))
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::NotLoaded(said) => write!(f, "cannot be loaded ({said})"),
            Unusable::Lacks(functions) => write!(f, "lacks {}", functions.join(", ")),
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
        let loaded = vec![PathBuf::from("/usr/lib/libnvjpeg.so.12")];
        assert_eq!(candidates(only, loaded, &["/".into()]), [PathBuf::from("/opt/libnvjpeg.so.13")]);
    }

    #[cfg(not(windows))]
    #[test]
    fn without_an_environment_only_the_systems_search_is_left() {
        let system: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
        assert_eq!(candidates(|_| None, vec![], &[]), system);
    }

    #[cfg(not(windows))]
    #[test]
    fn what_is_loaded_comes_first_then_this_pythons_packages_and_an_active_environments_last() {
        let root = std::env::temp_dir().join(format!("nvjpeg-sys-{}", std::process::id()));
        let site = root.join("lib/python3.11/site-packages");
        let files = [
            "nvidia/cu13/lib/libnvjpeg.so.13",
            "torchvision.libs/libnvjpeg-0b8f.so.12",
            "nvidia/cu13/lib/x.so",
            "nvidia/nvjpeg2k/lib/libnvjpeg2k.so.0",
        ];
        for file in files {
            let file = site.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let active = |name: &str| (name == "VIRTUAL_ENV").then(|| root.clone().into());
        let loaded = vec![PathBuf::from("/opt/libnvjpeg.so.12")];
        let of_environment = candidates(active, loaded.clone(), &[]);
        let of_python = candidates(active, loaded.clone(), std::slice::from_ref(&site));
        std::fs::remove_dir_all(&root).unwrap();
        let own = [site.join(files[0]), site.join(files[1])];
        let system: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
        assert_eq!(of_environment, [&loaded[..], &system, &own].concat());
        // Each is named once.
        assert_eq!(of_python, [&loaded[..], &own, &system].concat());
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
    fn a_library_without_the_functions_is_told_by_their_names_and_the_next_is_tried() {
        let error = Library::open_first(vec!["libc.so.6".into(), "libno-other.so".into()]).err().unwrap();
        let said = error.to_string();
        assert!(said.contains("libc.so.6 lacks nvjpegGetProperty, "), "{said}");
        assert!(said.ends_with("; none of libno-other.so can be loaded"), "{said}");
    }
}
