//! Where this Python has its packages: among them may be nvJPEG, which no environment variable leads to.

use pyo3::prelude::*;
use std::path::PathBuf;

/// Tells the library the folders in which this Python looks for packages, as they are now.
pub(crate) fn tell(py: Python<'_>) -> PyResult<()> {
    let path = py.import("sys")?.getattr("path")?;
    let mut folders = Vec::new();
    for entry in path.try_iter()? {
        // Python passes over what is no text. Relative ones are of the working folder, which is nobody's package.
        folders.extend(entry?.extract::<PathBuf>().ok().filter(|folder| folder.is_absolute()));
    }
    look_in(folders);
    Ok(())
}

#[cfg(feature = "cuda")]
fn look_in(folders: Vec<PathBuf>) {
    feedline::device::cuda::look_for_nvjpeg_in(folders);
}

#[cfg(not(feature = "cuda"))]
fn look_in(_: Vec<PathBuf>) {}

/// Where nvJPEG is looked for, in order, since the last loader was made.
#[pyfunction]
pub(crate) fn nvjpeg_candidates() -> Vec<PathBuf> {
    #[cfg(feature = "cuda")]
    let found = feedline::device::cuda::nvjpeg_candidates();
    #[cfg(not(feature = "cuda"))]
    let found = Vec::new();
    found
}
