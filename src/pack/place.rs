//! Where shards may lie: not among the images that are packed.

use crate::error::{Result, ensure};
use crate::source::Source;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Refuses a folder of shards within `data`, or within a folder that records of `source` lie in: shards there would be
/// taken for data.
pub(super) fn check(out: &Path, data: Option<&Path>, source: &dyn Source) -> Result<()> {
    // Folders of `out` that are not there yet are made below the first that is.
    let Some(there) = out.ancestors().find_map(real) else { return Ok(()) };
    let of_records = (0..source.len()).filter_map(|index| source.path(index)?.parent());
    let mut seen = HashSet::new();
    for folder in data.into_iter().chain(of_records).filter(|folder| seen.insert(*folder)) {
        let Some(folder) = real(folder).filter(|folder| folder.is_dir()) else { continue };
        ensure!(
            !there.starts_with(&folder),
            "{} is in the folder of the data set, {}: name a folder elsewhere",
            out.display(),
            folder.display()
        );
    }
    Ok(())
}

/// The path without links, if there is something; a relative path may be empty.
fn real(path: &Path) -> Option<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().ok()
}
