//! Which images a YOLO data set has, and where the labels of an image lie.

use crate::error::{Error, Result, bail};
use crate::regular_file;
use crate::source::folder::{EXTENSIONS, images_below};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The path of an image's labels: its own with `labels` for the last `images` in it; beside it where
/// there is none.
pub(super) fn label_path(image: &Path) -> PathBuf {
    let folder = image.parent().unwrap_or(Path::new(""));
    let parts: Vec<Component> = folder.components().collect();
    let images = parts.iter().rposition(|part| part.as_os_str() == "images");
    let swapped = parts.iter().enumerate().map(|(at, part)| match Some(at) == images {
        true => OsStr::new("labels"),
        false => part.as_os_str(),
    });
    let mut path: PathBuf = swapped.collect();
    path.push(image.file_name().unwrap_or_default());
    path.set_extension("txt");
    path
}

/// The images that an entry of a data.yaml names: those of a folder, at any depth, or those of a list.
pub(super) fn images(root: &Path, entry: &Path) -> Result<Vec<PathBuf>> {
    let is_list = entry.exists() && !entry.is_dir();
    let images = match is_list {
        true => listed(root, entry)?,
        false => images_below(entry)?,
    };
    if images.is_empty() {
        let what = match is_list {
            true => "lists no image: write one path on each line".to_owned(),
            false => {
                format!("holds no image at any depth: files must end in one of {}", EXTENSIONS.join(" "))
            }
        };
        bail!("{} {what}", entry.display());
    }
    Ok(images)
}

/// Paths are relative to the list's own folder; to the data set's where the first of them is only there.
fn listed(root: &Path, list: &Path) -> Result<Vec<PathBuf>> {
    let remedy = "name a folder of images, or a text file with a path on each line";
    let text = regular_file::read(list).map_err(|error| Error::io(list, error, remedy))?;
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    let text = std::str::from_utf8(text)
        .map_err(|_| Error::config(format!("{} is not UTF-8 text: {remedy}", list.display())))?;
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let own = list.parent().unwrap_or(Path::new(""));
    let first_is_in = |folder: &Path| lines().next().is_some_and(|line| folder.join(line).exists());
    let folder = if !first_is_in(own) && first_is_in(root) { root } else { own };
    Ok(lines().map(|line| folder.join(line.strip_prefix("./").unwrap_or(line))).collect())
}
