//! The compressed files of the sample at hand: read once each, whatever number of layers shows them.

use super::gallery::{Asked, Gallery};
use super::planner::Looked;
use super::policy::{Failure, Stage};
use super::stats::Meters;
use crate::device::cpu::Input;
use crate::error::Cause;
use crate::error::Error;
use crate::geometry::Orientation;
use crate::image::{Header, Image, parse_header};
use crate::label::Label;
use crate::plan::Plan;
use crate::source::Source;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Files read for one sample; their memory is used again for the next.
pub(super) struct Shelf<'a> {
    source: &'a dyn Source,
    meters: &'a Meters,
    exif: bool,
    /// Decoded images that samples share; `None` where each has its own.
    gallery: Option<&'a Gallery>,
    files: Vec<File>,
    /// Images of the gallery that this sample reads, by their index.
    pictures: Vec<(u64, Arc<Image>)>,
    /// Buffers of earlier samples.
    spare: Vec<Vec<u8>>,
    reading: Duration,
    parsing: Duration,
}

struct File {
    index: u64,
    bytes: Vec<u8>,
    header: Header,
}

impl<'a> Shelf<'a> {
    /// An empty shelf; with `exif`, images are turned as they ask to be.
    pub(super) fn new(
        source: &'a dyn Source,
        meters: &'a Meters,
        exif: bool,
        gallery: Option<&'a Gallery>,
    ) -> Self {
        Self {
            source,
            meters,
            exif,
            gallery,
            files: Vec::new(),
            pictures: Vec::new(),
            spare: Vec::new(),
            reading: Duration::ZERO,
            parsing: Duration::ZERO,
        }
    }

    /// Makes room for the next sample.
    pub(super) fn clear(&mut self) {
        self.spare.extend(self.files.drain(..).map(|file| file.bytes));
        self.pictures.clear();
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

    /// Reads the file `index`, unless it or its pixels are here already, and tells what it shows.
    pub(super) fn look(&mut self, index: u64) -> Result<Looked, Failure> {
        let (stored, turned) = match self.find(index) {
            Some(picture) => (picture.stored, picture.orientation),
            None => {
                let at = match self.files.iter().position(|file| file.index == index) {
                    Some(at) => at,
                    None => self.fetch(index)?,
                };
                let header = &self.files[at].header;
                (header.size, header.orientation)
            }
        };
        let orientation = if self.exif { turned } else { Orientation::UPRIGHT };
        let objects = match self.source.label(index as usize) {
            Label::Objects(objects) => Some(objects),
            _ => None,
        };
        Ok(Looked { stored, orientation, objects })
    }

    /// The plan's images in its order; every one was looked at while it was planned.
    pub(super) fn inputs(&self, plan: &Plan) -> Vec<Input<'_>> {
        let of = |index: u64| self.files.iter().find(|file| file.index == index);
        let files = plan.images.iter().filter_map(|image| of(image.index));
        files.map(|file| Input { bytes: &file.bytes, header: &file.header }).collect()
    }

    /// The plan's images in its order, decoded whole by `decode` where nobody has yet.
    ///
    /// # Errors
    /// The number of the image that cannot be decoded, and why.
    pub(super) fn pictures(
        &mut self,
        plan: &Plan,
        mut decode: impl FnMut(Input<'_>, &mut Image) -> Result<(), Cause>,
    ) -> Result<Vec<Arc<Image>>, (usize, Cause)> {
        let mut pictures = Vec::with_capacity(plan.images.len());
        for (number, image) in plan.images.iter().enumerate() {
            if let Some(picture) = self.find(image.index) {
                pictures.push(picture);
                continue;
            }
            let lost =
                || (number, "an image of the plan was not read; this is a bug, please report it".into());
            let (gallery, record) =
                self.gallery.map(|gallery| (gallery, self.record(image.index))).ok_or_else(lost)?;
            let picture = match gallery.ask(record) {
                Asked::Here(picture) => picture,
                Asked::Mine(claim) => {
                    let file = self.files.iter().find(|file| file.index == image.index).ok_or_else(lost)?;
                    let mut pixels = gallery.blank();
                    decode(Input { bytes: &file.bytes, header: &file.header }, &mut pixels)
                        .map_err(|cause| (number, cause))?;
                    self.meters.images.fetch_add(1, Relaxed);
                    claim.keep(pixels)
                }
            };
            self.pictures.push((image.index, Arc::clone(&picture)));
            pictures.push(picture);
        }
        Ok(pictures)
    }

    /// The image, if this sample has it at hand or the gallery has.
    fn find(&mut self, index: u64) -> Option<Arc<Image>> {
        if let Some((_, picture)) = self.pictures.iter().find(|(own, _)| *own == index) {
            return Some(Arc::clone(picture));
        }
        let picture = self.gallery?.find(self.record(index))?;
        self.pictures.push((index, Arc::clone(&picture)));
        Some(picture)
    }

    fn record(&self, index: u64) -> u64 {
        self.source.record(index as usize) as u64
    }

    fn fetch(&mut self, index: u64) -> Result<usize, Failure> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        let started = Instant::now();
        let read = self.source.read(index as usize, &mut bytes);
        let took = started.elapsed();
        self.reading += took;
        self.meters.stage(Stage::Read).record(took);
        if let Err(error) = read {
            self.spare.push(bytes);
            return Err(self.unreadable(index, error));
        }
        self.meters.bytes.fetch_add(bytes.len() as u64, Relaxed);
        let started = Instant::now();
        let parsed = parse_header(&bytes);
        self.parsing += started.elapsed();
        match parsed {
            Ok(header) => {
                self.files.push(File { index, bytes, header });
                Ok(self.files.len() - 1)
            }
            Err(error) => {
                self.spare.push(bytes);
                let key = self.source.key(index as usize).into_owned();
                Err(Failure { stage: Stage::Decode, key, index, cause: error.into() })
            }
        }
    }

    fn unreadable(&self, index: u64, error: Error) -> Failure {
        match error {
            // A source that names the sample itself has said everything; naming it twice helps nobody.
            Error::Sample { key, index, source } => Failure { stage: Stage::Read, key, index, cause: source },
            other => {
                let key = self.source.key(index as usize).into_owned();
                Failure { stage: Stage::Read, key, index, cause: other.into() }
            }
        }
    }
}
