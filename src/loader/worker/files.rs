//! The compressed files of one sample: each is read once, whatever number of layers shows it.

use super::context::Context;
use crate::device::backend::FileMemory;
use crate::geometry::{Orientation, Size};
use crate::image::{Header, parse_header};
use crate::label::Label;
use crate::loader::planner::ImageInfo;
use crate::loader::report::errors::{Failure, Stage};
use crate::plan::{ImageRef, Modality};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Files read for one sample; memory that may be is used again for the next.
pub(in crate::loader) struct SampleFiles<'a, F> {
    context: &'a Context,
    files: Vec<File<F>>,
    /// Memory of earlier samples.
    spare: Vec<F>,
    reading: Duration,
    parsing: Duration,
}

struct File<F> {
    /// Of its record in the source.
    index: u64,
    modality: Modality,
    bytes: F,
    header: Header,
}

impl<'a, F: FileMemory> SampleFiles<'a, F> {
    pub(in crate::loader) fn new(context: &'a Context) -> Self {
        let (reading, parsing) = (Duration::ZERO, Duration::ZERO);
        Self { context, files: Vec::new(), spare: Vec::new(), reading, parsing }
    }

    /// Makes room for the next sample.
    pub(super) fn clear(&mut self) {
        self.spare.extend(self.files.drain(..).filter_map(|file| file.bytes.spare()));
        (self.reading, self.parsing) = (Duration::ZERO, Duration::ZERO);
    }

    /// Time spent reading for this sample.
    pub(super) fn reading(&self) -> Duration {
        self.reading
    }

    /// Time spent on headers for this sample.
    pub(super) fn parsing(&self) -> Duration {
        self.parsing
    }

    /// Reads the file `index`, unless that was done for this sample, and returns what its header says. The bytes lie in
    /// what `memory` makes of that of an earlier file.
    pub(in crate::loader) fn load_header(
        &mut self,
        index: u64,
        memory: impl FnOnce(Option<F>) -> F,
    ) -> Result<ImageInfo, Failure> {
        let is_it = |file: &File<F>| file.index == index && file.modality.is_image();
        let at = match self.files.iter().position(is_it) {
            Some(at) => at,
            None => {
                let memory = memory(self.spare.pop());
                self.read(index, memory)?
            }
        };
        let header = &self.files[at].header;
        Ok(self.info(index, header.size, header.orientation))
    }

    /// What is known of image `index`, whose file says this.
    pub(super) fn info(&self, index: u64, stored: Size, turned: Orientation) -> ImageInfo {
        let orientation = if self.context.exif { turned } else { Orientation::UPRIGHT };
        let objects = match self.context.source.label(index as usize) {
            Label::Objects(objects) => Some(objects),
            _ => None,
        };
        ImageInfo { stored, orientation, objects }
    }

    /// The file of a picture, if it was read for this sample.
    pub(super) fn file(&self, of: &ImageRef) -> Option<(&F, &Header)> {
        let file = self.files.iter().find(|file| (file.index, file.modality) == (of.index, of.modality))?;
        Some((&file.bytes, &file.header))
    }

    /// Keeps a picture beside an image, unless that was done for this sample; `read` makes it of memory that may be used
    /// again.
    pub(super) fn load_picture(
        &mut self,
        of: &ImageRef,
        read: impl FnOnce(Option<F>) -> Result<(F, Header), Failure>,
    ) -> Result<(), Failure> {
        if self.file(of).is_none() {
            let (bytes, header) = read(self.spare.pop())?;
            self.files.push(File { index: of.index, modality: of.modality, bytes, header });
        }
        Ok(())
    }

    fn read(&mut self, index: u64, mut bytes: F) -> Result<usize, Failure> {
        let Context { source, meters, clock, .. } = self.context;
        let started = clock.now();
        let read = match bytes.as_vec() {
            Some(bytes) => source.read(index as usize, bytes),
            None => source.read_into(index as usize, &mut bytes),
        };
        let took = clock.since(started);
        self.reading += took;
        self.context.note_stage(Stage::Read, Some(index), started, took);
        if let Err(error) = read {
            self.spare.extend(bytes.spare());
            return Err(self.context.unreadable(index, error));
        }
        meters.bytes.fetch_add(bytes.bytes().len() as u64, Relaxed);
        let started = clock.now();
        let parsed = parse_header(bytes.bytes());
        self.parsing += clock.since(started);
        match parsed {
            Ok(header) => {
                self.files.push(File { index, modality: Modality::Image, bytes, header });
                Ok(self.files.len() - 1)
            }
            Err(error) => {
                self.spare.extend(bytes.spare());
                Err(self.context.failure(Stage::Decode, index, error.into()))
            }
        }
    }
}
