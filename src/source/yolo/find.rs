//! Which images a YOLO data set has, and where the labels of an image lie.

use crate::error::{Error, Result, bail, ensure};
use crate::source::folder::EXTENSIONS;
use crate::source::tree::{Entry, Tree};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Maximal size of a list of images; ten million paths take less.
const MAX_LIST_BYTES: u64 = 1 << 30;

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

/// The folder of the labels of the images directly in `images`.
#[cfg(feature = "remote")]
pub(in crate::source) fn label_folder(images: &Path) -> PathBuf {
    let mut folder = label_path(&images.join("x"));
    folder.pop();
    folder
}

/// The images that an entry of a data.yaml names: those of a folder, at any depth, or those of a list.
pub(super) fn images(tree: &dyn Tree, root: &Path, entry: &Path) -> Result<Vec<PathBuf>> {
    let is_list = tree.look(entry)? == Some(Entry::File);
    let images = match is_list {
        true => listed(tree, root, entry)?,
        false => tree.images_below(entry)?,
    };
    if images.is_empty() {
        let what = match is_list {
            true => "lists no image: write one path on each line".to_owned(),
            false => {
                format!("holds no image at any depth: files must end in one of {}", EXTENSIONS.join(" "))
            }
        };
        bail!("{} {what}", tree.shown(entry));
    }
    Ok(images)
}

/// Paths are relative to the list's own folder; to the data set's where the first of them is only there.
fn listed(tree: &dyn Tree, root: &Path, list: &Path) -> Result<Vec<PathBuf>> {
    let remedy = "name a folder of images, or a text file with a path on each line";
    let text = tree.read(list, MAX_LIST_BYTES, remedy)?;
    ensure!(text.len() as u64 <= MAX_LIST_BYTES, "{} has too many bytes: {remedy}", tree.shown(list));
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    let text = std::str::from_utf8(text)
        .map_err(|_| Error::config(format!("{} is not UTF-8 text: {remedy}", tree.shown(list))))?;
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let own = list.parent().unwrap_or(Path::new(""));
    let first_is_in = |folder: &Path| match lines().next() {
        Some(line) => tree.look(&folder.join(line)).map(|found| found.is_some()),
        None => Ok(false),
    };
    let folder = if !first_is_in(own)? && first_is_in(root)? { root } else { own };
    Ok(lines().map(|line| folder.join(line.strip_prefix("./").unwrap_or(line))).collect())
}
