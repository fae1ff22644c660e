//! The compressed files of the sample at hand: read once each, whatever number of layers shows them.

use super::gallery::Gallery;
use super::planner::Looked;
use super::policy::{Failure, Stage};
use super::stats::Meters;
use crate::device::cpu::Input;
use crate::device::cuda;
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

/// Where decoded images that samples share are kept.
#[derive(Clone, Copy)]
pub(super) enum Shared<'a> {
    Host(&'a Gallery),
    Device(&'a cuda::Gallery),
}

/// One of them.
#[derive(Clone)]
pub(super) enum Picture {
    Host(Arc<Image>),
    Device(Arc<cuda::Exhibit>),
}

impl Picture {
    /// The one in the host's memory.
    pub(super) fn host(self) -> Option<Arc<Image>> {
        match self {
            Picture::Host(picture) => Some(picture),
            Picture::Device(_) => None,
        }
    }

    /// The one in a device's memory.
    pub(super) fn device(self) -> Option<Arc<cuda::Exhibit>> {
        match self {
            Picture::Device(picture) => Some(picture),
            Picture::Host(_) => None,
        }
    }
}

/// Files read for one sample; their memory is used again for the next.
pub(super) struct Shelf<'a> {
    source: &'a dyn Source,
    meters: &'a Meters,
    exif: bool,
    /// Decoded images that samples share; `None` where each has its own.
    shared: Option<Shared<'a>>,
    /// Whether the sample at hand has each of its images for itself all the same.
    alone: bool,
    files: Vec<File>,
    /// Shared images that this sample reads, by their index.
    pictures: Vec<(u64, Picture)>,
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
        shared: Option<Shared<'a>>,
    ) -> Self {
        Self {
            source,
            meters,
            exif,
            shared,
            alone: false,
            files: Vec::new(),
            pictures: Vec::new(),
            spare: Vec::new(),
            reading: Duration::ZERO,
            parsing: Duration::ZERO,
        }
    }

    /// Makes room for the next sample; one that is `alone` shares no images.
    pub(super) fn clear(&mut self, alone: bool) {
        self.alone = alone;
        self.spare.extend(self.files.drain(..).map(|file| file.bytes));
        self.pictures.clear();
        (self.reading, self.parsing) = (Duration::ZERO, Duration::ZERO);
    }

    /// Whether the sample at hand shares no images.
    pub(super) fn is_alone(&self) -> bool {
        self.alone
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
            Some(Picture::Host(picture)) => (picture.stored, picture.orientation),
            Some(Picture::Device(picture)) => (picture.stored(), picture.orientation()),
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

    /// The plan's images in its order; what this sample has not found yet comes from `make(record, file)`.
    ///
    /// # Errors
    /// The number of the image that cannot be made, and why.
    pub(super) fn pictures(
        &mut self,
        plan: &Plan,
        mut make: impl FnMut(u64, &Input<'_>) -> Result<Picture, Cause>,
    ) -> Result<Vec<Picture>, (usize, Cause)> {
        let mut pictures = Vec::with_capacity(plan.images.len());
        for (number, image) in plan.images.iter().enumerate() {
            if let Some(picture) = self.find(image.index) {
                pictures.push(picture);
                continue;
            }
            let lost =
                || (number, "an image of the plan was not read; this is a bug, please report it".into());
            let file = self.files.iter().find(|file| file.index == image.index).ok_or_else(lost)?;
            let input = Input { bytes: &file.bytes, header: &file.header };
            let picture = make(self.record(image.index), &input).map_err(|cause| (number, cause))?;
            self.pictures.push((image.index, picture.clone()));
            pictures.push(picture);
        }
        Ok(pictures)
    }

    /// The image, if this sample has it at hand or another one has.
    fn find(&mut self, index: u64) -> Option<Picture> {
        if self.alone {
            return None;
        }
        if let Some((_, picture)) = self.pictures.iter().find(|(own, _)| *own == index) {
            return Some(picture.clone());
        }
        let record = self.record(index);
        let picture = match self.shared? {
            Shared::Host(gallery) => Picture::Host(gallery.find(record)?),
            Shared::Device(gallery) => Picture::Device(gallery.find(record)?),
        };
        self.pictures.push((index, picture.clone()));
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
