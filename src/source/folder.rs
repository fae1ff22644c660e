//! A folder of images: one directory a class, as torchvision's `ImageFolder` reads it, or flat without labels.

use super::Source;
use super::files::{Files, readable};
use crate::error::{Error, Result, bail, ensure};
use crate::label::Label;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The endings that torchvision takes for images, in any case, and those of PNM and of files of coefficients. The bytes decide
/// later what a file really is.
pub(super) const EXTENSIONS: [&str; 11] =
    [".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp", ".pnm", ".fjc"];

/// Directories below each other; deeper ones are refused rather than left out in silence.
const MAX_DEPTH: usize = 64;

/// Image files below one folder, in torchvision's order: by directory, then by name.
#[derive(Clone, Debug)]
pub struct Folder {
    files: Files,
    classes: Vec<String>,
    /// Where each class ends in `files`; empty for a flat folder.
    ends: Vec<usize>,
    loose_images: usize,
}

/// How a folder is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderOptions {
    allow_empty: bool,
    max_file_bytes: Option<u64>,
}

impl Folder {
    /// A class for each directory directly below `path`, its images at any depth below it.
    ///
    /// Classes, files and their order are those of torchvision's `ImageFolder`: links are followed, directories with
    /// a leading dot are classes too, files directly in `path` are left out. A link that leads back to one of its
    /// own parents is followed no further.
    ///
    /// # Errors
    /// A directory that cannot be read, a class without an image, no class at all.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Every image file at any depth below `path`, without labels.
    ///
    /// # Errors
    /// A directory that cannot be read, no image at all.
    pub fn flat(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().flat(path)
    }

    /// [`Folder::open`] where a directory below `path` holds images, else [`Folder::flat`].
    ///
    /// # Errors
    /// Those of the chosen way.
    pub fn open_any(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open_any(path)
    }

    fn unlabelled(files: Files) -> Self {
        Self { files, classes: Vec::new(), ends: Vec::new(), loose_images: 0 }
    }

    /// Options to open a folder with.
    pub fn options() -> FolderOptions {
        FolderOptions::default()
    }

    /// Images directly in the folder, which belong to no class and were therefore left out.
    pub fn loose_images(&self) -> usize {
        self.loose_images
    }
}

impl FolderOptions {
    setters! {
        /// Lets classes be empty; by default they are refused, as torchvision does.
        allow_empty: bool;

        /// The largest file that is read; larger ones are bad samples.
        max_file_bytes: some u64;
    }

    /// See [`Folder::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Folder> {
        let (folder, empty) = self.collect_classes(path.as_ref())?;
        self.refuse_empty(path.as_ref(), folder, &empty)
    }

    /// See [`Folder::open_any`].
    pub fn open_any(self, path: impl AsRef<Path>) -> Result<Folder> {
        let (folder, empty) = self.collect_classes(path.as_ref())?;
        if folder.is_empty() { self.flat(path) } else { self.refuse_empty(path.as_ref(), folder, &empty) }
    }

    /// See [`Folder::flat`].
    pub fn flat(self, path: impl AsRef<Path>) -> Result<Folder> {
        let path = path.as_ref();
        let files = Files::at(path, self.max_file_bytes, images_below(path)?)?;
        ensure!(
            files.len() != 0,
            "{} holds no image at any depth: files must end in one of {}",
            path.display(),
            EXTENSIONS.join(" ")
        );
        Ok(Folder::unlabelled(files))
    }

    /// As [`Folder::flat`], but goes on where a directory cannot be read, and returns those errors beside the images, of which
    /// there may be none.
    ///
    /// # Errors
    /// `path` itself cannot be read.
    pub fn flat_readable(self, path: impl AsRef<Path>) -> Result<(Folder, Vec<Error>)> {
        let path = path.as_ref();
        fs::read_dir(path).map_err(|error| unreadable(path, error))?;
        let mut refused = Vec::new();
        let images = walk(path, &mut |error| {
            refused.push(error);
            Ok(())
        })?;
        let files = Files::at(path, self.max_file_bytes, images)?;
        Ok((Folder::unlabelled(files), refused))
    }

    /// The classes with their files, and the names of those without any.
    fn collect_classes(self, path: &Path) -> Result<(Folder, Vec<String>)> {
        let (names, loose_images) = class_names(path)?;
        let mut files = Files::below(path, self.max_file_bytes);
        let (mut ends, mut empty) = (Vec::with_capacity(names.len()), Vec::new());
        for name in &names {
            let before = files.len();
            for image in images_below(&path.join(name))? {
                files.push(&image)?;
            }
            if files.len() == before {
                empty.push(readable(name.as_encoded_bytes()).into_owned());
            }
            ends.push(files.len());
        }
        files.shrink();
        let classes = names.iter().map(|name| readable(name.as_encoded_bytes()).into_owned()).collect();
        Ok((Folder { files, classes, ends, loose_images }, empty))
    }

    fn refuse_empty(self, path: &Path, folder: Folder, empty: &[String]) -> Result<Folder> {
        let shown = path.display();
        if folder.classes.is_empty() && folder.loose_images > 0 {
            bail!(
                "{shown} holds {} images but no class directories: make one directory for each class, or open it \
                 without labels (Folder::flat)",
                folder.loose_images
            );
        }
        ensure!(
            !folder.classes.is_empty(),
            "{shown} holds neither class directories nor images: name the folder above the class directories"
        );
        if self.allow_empty || empty.is_empty() {
            return Ok(folder);
        }
        let first: Vec<&str> = empty.iter().take(5).map(String::as_str).collect();
        Err(Error::config(format!(
            "{shown}: {} of {} class directories hold no image ({}{}): remove them, or allow empty classes \
             (allow_empty)",
            empty.len(),
            folder.classes.len(),
            first.join(", "),
            if empty.len() > first.len() { ", ..." } else { "" }
        )))
    }
}

impl Source for Folder {
    pass_on!([.files] len read key path);

    fn label(&self, index: usize) -> Label {
        let class = self.ends.partition_point(|&end| end <= index);
        if class < self.ends.len() { Label::Class(class as i64) } else { Label::Unlabelled }
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}

/// The sorted directories directly below `path`, links included, and the number of images in `path` itself.
fn class_names(path: &Path) -> Result<(Vec<OsString>, usize)> {
    let (mut names, mut loose_images) = (Vec::new(), 0);
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, error))? {
        let entry = entry.map_err(|error| unreadable(path, error))?;
        let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), error))?;
        let is_directory = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
        if is_directory {
            names.push(entry.file_name());
        } else {
            loose_images += usize::from(is_image_name(&entry.file_name()));
        }
    }
    names.sort_by(|a, b| python_order(a, b));
    Ok((names, loose_images))
}

/// Image files at any depth below `path`, in the order of `sorted(os.walk(path))` with sorted names.
pub(super) fn images_below(path: &Path) -> Result<Vec<PathBuf>> {
    walk(path, &mut Err)
}

/// The same, where `refused` decides what becomes of a directory that cannot be read.
fn walk(path: &Path, refused: &mut dyn FnMut(Error) -> Result<()>) -> Result<Vec<PathBuf>> {
    let mut images = Vec::new();
    let mut entries = WalkDir::new(path).follow_links(true).max_depth(MAX_DEPTH + 1).into_iter();
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if entry.depth() > MAX_DEPTH => {
                let cause = io::Error::other(format!("more than {MAX_DEPTH} directories below each other"));
                refused(Error::io(entry.path(), cause, "move its files further up"))?;
                entries.skip_current_dir();
            }
            // What is no regular file (a pipe, a device) would make the reader wait for ever.
            Ok(entry) if entry.file_type().is_file() => images.extend(image(entry.into_path())),
            Ok(_) => {}
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => match dangling(path, error) {
                Ok(link) => images.extend(image(link)),
                Err(error) => refused(error)?,
            },
        }
    }
    images.sort_by(|a, b| {
        python_order(directory(a), directory(b)).then_with(|| python_order(name(a), name(b)))
    });
    Ok(images)
}

/// The path of a link that leads nowhere, which becomes a bad sample as in torchvision; any other error stays one.
fn dangling(path: &Path, error: walkdir::Error) -> Result<PathBuf> {
    let at = error.path().unwrap_or(path).to_owned();
    let leads_nowhere = at.is_symlink() && fs::metadata(&at).is_err();
    if leads_nowhere {
        return Ok(at);
    }
    Err(unreadable(&at, error.into()))
}

fn image(path: PathBuf) -> Option<PathBuf> {
    path.file_name().is_some_and(is_image_name).then_some(path)
}

fn directory(path: &Path) -> &OsStr {
    path.parent().map(Path::as_os_str).unwrap_or_default()
}

fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

pub(super) fn is_image_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    EXTENSIONS.iter().any(|ending| {
        let head = name.len().checked_sub(ending.len());
        head.is_some_and(|head| name[head..].eq_ignore_ascii_case(ending.as_bytes()))
    })
}

fn unreadable(path: &Path, error: io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::NotADirectory => {
            "name the folder that holds the images, or open a list of paths with List::open"
        }
        _ => "make it readable for this user, or move it out of the data set",
    };
    Error::io(path, error, remedy)
}

/// The order of Python's strings: by code point, each byte that is not UTF-8 as U+DC00 plus the byte.
fn python_order(a: &OsStr, b: &OsStr) -> std::cmp::Ordering {
    let (a, b) = (a.as_encoded_bytes(), b.as_encoded_bytes());
    if std::str::from_utf8(a).is_ok() && std::str::from_utf8(b).is_ok() {
        return a.cmp(b);
    }
    code_points(a).cmp(code_points(b))
}

fn code_points(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = chunk.invalid().iter().map(|&byte| 0xDC00 + u32::from(byte));
        chunk.valid().chars().map(u32::from).chain(invalid)
    })
}
