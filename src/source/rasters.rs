//! Images of one size whose levels lie one after another in a few files, without compression: each is handed out as a PNM.

use super::file_version::FileVersion;
use super::read_at::read_at;
use super::{Destination, MAX_FILE_BYTES, Version, out_of_range, too_large};
use crate::error::{Cause, Error, Result};
use crate::geometry::Size;
use crate::label::Label;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a file's bytes are.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// In the file, which stays open: one that takes its place later is not looked at.
    File(Arc<File>),
    /// In memory, for a file that can only be read from its start.
    Memory(Arc<Vec<u8>>),
}

impl Content {
    /// Fills `bytes` from `offset` on.
    pub(super) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let content = match self {
            Content::File(file) => return read_at(file, offset, bytes),
            Content::Memory(content) => content,
        };
        let found = usize::try_from(offset).ok().and_then(|start| content.get(start..start + bytes.len()));
        bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Images by index, file after file. Each costs the byte of its class.
#[derive(Clone, Debug)]
pub(super) struct Rasters {
    /// What stands before the levels of each image, so that they are a file.
    head: Vec<u8>,
    /// Bytes of an image's levels.
    levels: usize,
    parts: Vec<Part>,
    /// The number of images up to the end of each part.
    ends: Vec<usize>,
    classes: Vec<u8>,
    pub(super) names: Vec<String>,
    /// Larger images are refused.
    pub(super) max_file_bytes: u64,
}

/// The images of a file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    /// What the keys of its images begin with.
    pub(super) name: String,
    pub(super) content: Content,
    /// Noted before the content was read.
    pub(super) version: FileVersion,
    /// Where the levels of the first image begin.
    pub(super) first: u64,
    /// Bytes from the levels of an image to those of the next.
    pub(super) stride: u64,
}

impl Rasters {
    /// No images yet, all of `size` and with so many channels of eight bits, 1 or 3.
    pub(super) fn of(size: Size, channels: usize) -> Self {
        let kind = if channels == 1 { 5 } else { 6 };
        let Size { width, height } = size;
        Self {
            head: format!("P{kind}\n{width} {height}\n255\n").into_bytes(),
            levels: width as usize * height as usize * channels,
            parts: Vec::new(),
            ends: Vec::new(),
            classes: Vec::new(),
            names: Vec::new(),
            max_file_bytes: MAX_FILE_BYTES,
        }
    }

    /// Adds the images of a file, of which there is a class for each.
    pub(super) fn push(&mut self, part: Part, classes: &[u8]) {
        self.parts.push(part);
        self.classes.extend_from_slice(classes);
        self.ends.push(self.classes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The file's name, with its folder where files lie in several, and the number of the image in it.
    pub(super) fn key(&self, index: usize) -> Cow<'_, str> {
        if index >= self.len() {
            return Cow::Borrowed("");
        }
        let (part, number) = self.place(index);
        format!("{}/{number}", part.name.trim_end_matches(".gz")).into()
    }

    /// The file that the image lies in.
    pub(super) fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        (index < self.len()).then(|| Cow::Borrowed(&*self.place(index).0.path))
    }

    /// See [`super::Source::version`]: unknown once the file has changed, since what is read is what was opened.
    pub(super) fn version(&self, index: usize) -> Version {
        if index >= self.len() {
            return Version::Unknown;
        }
        let Part { path, version, .. } = self.place(index).0;
        fs::metadata(path).map_or(Version::Unknown, |about| version.version(&about))
    }

    pub(super) fn label(&self, index: usize) -> Label {
        self.classes.get(index).map_or(Label::Unlabelled, |&class| Label::Class(class.into()))
    }

    pub(super) fn classes(&self) -> &[String] {
        &self.names
    }

    /// The part of an image, and its number there.
    fn place(&self, index: usize) -> (&Part, usize) {
        let part = self.ends.partition_point(|&end| end <= index);
        let before = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        (&self.parts[part], index - before)
    }

    /// Replaces the content of `to` by the image's PNM; `fill` reads the levels, which lie from an offset on.
    ///
    /// # Errors
    /// Those of [`super::Source::read`].
    pub(super) fn read(
        &self,
        index: usize,
        to: &mut dyn Destination,
        fill: impl FnOnce(&Content, u64, &mut [u8]) -> io::Result<()>,
    ) -> Result<()> {
        if index >= self.len() {
            return Err(out_of_range(index, self.len()));
        }
        let read = || {
            let (part, number) = self.place(index);
            let bytes = self.head.len() + self.levels;
            if bytes as u64 > self.max_file_bytes {
                return Err(too_large("the image", bytes as u64, self.max_file_bytes));
            }
            let (head, levels) = to.room(bytes).split_at_mut(self.head.len());
            head.copy_from_slice(&self.head);
            let offset = part.first + number as u64 * part.stride;
            fill(&part.content, offset, levels).map_err(|error| unreadable(&part.path, &error))
        };
        read().map_err(|cause| Error::sample(self.key(index), index as u64, cause))
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Cause {
    format!("cannot read {}: {error}; restore the file, or open the source again", path.display()).into()
}
