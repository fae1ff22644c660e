//! The files of a data set, named by a path, a folder or a pattern, and the splits in their names.

use crate::error::{Error, Result, bail, ensure};
use crate::regular_file;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Words in file names that stand for a split, and the split.
const SPLIT_WORDS: [(&str, &str); 9] = [
    ("train", "train"),
    ("training", "train"),
    ("val", "validation"),
    ("valid", "validation"),
    ("validation", "validation"),
    ("dev", "validation"),
    ("eval", "validation"),
    ("test", "test"),
    // MNIST's: ten thousand.
    ("t10k", "test"),
];

/// What is looked for.
pub(super) struct Wanted<'a> {
    /// The files' name in messages, such as `TFRecord files (.tfrecord)`.
    pub(super) what: &'a str,
    /// Whether a file of a folder is one, by its name.
    pub(super) is_one: fn(&str) -> bool,
    pub(super) split: Option<&'a str>,
}

impl Wanted<'_> {
    /// The file at `path`; those directly in the folder `path`, or in its folder `data`; those that the pattern `path`
    /// matches (`*`, `?`, `[...]`, `**`). Sorted by name.
    pub(super) fn find(&self, path: &Path) -> Result<Vec<PathBuf>> {
        let about = fs::metadata(path);
        let is_pattern = path.to_str().is_some_and(|text| text.contains(['*', '?', '[']));
        let paths = match about {
            Ok(about) if about.is_dir() => self.in_folder(path)?,
            Ok(_) => vec![path.to_owned()],
            Err(_) if is_pattern => matches(path)?,
            Err(error) => return Err(Error::io(path, error, "check the path")),
        };
        self.of_split(&path.display(), paths, |path| path)
    }

    fn in_folder(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let remedy = "name a folder that can be read";
        let listed =
            |folder: &Path| files_in(folder, self.is_one).map_err(|error| Error::io(folder, error, remedy));
        let mut paths = listed(folder)?;
        if paths.is_empty() && folder.join("data").is_dir() {
            paths = listed(&folder.join("data"))?;
        }
        ensure!(
            !paths.is_empty(),
            "{} holds no {}: name the folder that the files lie in, a file, or a pattern such as 'train-*'",
            folder.display(),
            self.what
        );
        Ok(paths)
    }

    /// The files of the split that is wanted, of those that were found at `place`; `path` has a file's name.
    pub(super) fn of_split<F>(
        &self,
        place: &dyn std::fmt::Display,
        files: Vec<F>,
        path: impl Fn(&F) -> &Path,
    ) -> Result<Vec<F>> {
        let splits: BTreeSet<&str> = files.iter().filter_map(|file| split_of(path(file))).collect();
        let listed = || splits.iter().copied().collect::<Vec<_>>().join(", ");
        let Some(split) = self.split else {
            if splits.len() < 2 || files.len() < 2 {
                return Ok(files);
            }
            bail!(
                "{} holds the splits {}, by the names of its files: choose one (split, --split), or name the files by \
                 a pattern",
                place,
                listed()
            );
        };
        let wanted = SPLIT_WORDS.iter().find(|(word, _)| *word == split).map_or(split, |(_, split)| split);
        let all = files.len();
        let there = if splits.is_empty() { String::new() } else { format!(" (there are {})", listed()) };
        let files: Vec<F> = files.into_iter().filter(|file| split_of(path(file)) == Some(wanted)).collect();
        ensure!(
            !files.is_empty(),
            "{place}: none of {all} {} says `{split}` in its name{there}: leave the split out, or choose another",
            self.what
        );
        Ok(files)
    }
}

/// Whether the path names files of this kind: by its name, or as a folder or pattern of such.
pub(super) fn names_any(path: &Path, is_one: fn(&str) -> bool) -> bool {
    let holds_one = |folder: &Path| {
        fs::read_dir(folder)
            .is_ok_and(|entries| entries.flatten().any(|entry| is_file_of(&entry.path(), is_one)))
    };
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => holds_one(path) || holds_one(&path.join("data")),
        Ok(_) => is_one(&name_of(path)),
        Err(_) => matches(path).is_ok_and(|paths| paths.iter().all(|path| is_one(&name_of(path)))),
    }
}

/// The first bytes of a file, at most `bytes`; none where it is no regular file (opening a pipe would wait for its other
/// end) or cannot be read.
pub(super) fn head_of(path: &Path, bytes: u64) -> Vec<u8> {
    let mut head = Vec::new();
    if path.is_file()
        && let Ok(file) = regular_file::open(path)
    {
        // What was read before an error is too short to mean anything.
        let _ = file.take(bytes).read_to_end(&mut head);
    }
    head
}

/// What to call each of the files: its path below the folder that all of them lie in.
pub(super) fn short_names(paths: &[PathBuf]) -> Vec<String> {
    let mut above = paths.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
    for path in paths {
        while !path.starts_with(above) {
            above = above.parent().unwrap_or(Path::new(""));
        }
    }
    paths.iter().map(|path| path.strip_prefix(above).unwrap_or(path).to_string_lossy().into_owned()).collect()
}

/// The files directly in `folder` whose names are wanted, sorted.
pub(super) fn files_in(folder: &Path, is_one: fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if is_file_of(&path, is_one) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn is_file_of(path: &Path, is_one: fn(&str) -> bool) -> bool {
    is_one(&name_of(path)) && path.is_file()
}

/// The files that a pattern matches, sorted.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>> {
    let shown = pattern.display();
    let text = pattern.to_str().unwrap_or_default();
    let found = glob::glob(text).map_err(|error| {
        Error::config(format!("{shown} is no pattern: {error}; mend it, or check the path"))
    })?;
    let mut paths = Vec::new();
    for path in found {
        let path = path.map_err(|error| {
            let at = error.path().to_owned();
            Error::io(at, error.into(), "make the folder readable for this user")
        })?;
        if path.is_file() {
            paths.push(path);
        }
    }
    ensure!(!paths.is_empty(), "no file matches {shown}: check the pattern");
    paths.sort();
    Ok(paths)
}

/// The split in a file's name: the first of its words that stands for one.
fn split_of(path: &Path) -> Option<&'static str> {
    let name = name_of(path);
    let split = |word: &str| SPLIT_WORDS.iter().find(|(known, _)| *known == word).map(|(_, split)| *split);
    let said = name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(split);
    // CIFAR-10's name for its training images.
    said.or_else(|| name.starts_with("data_batch_").then_some("train"))
}

/// The last part of the path in lower case.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}
