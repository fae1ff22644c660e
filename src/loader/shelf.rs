//! The compressed files of the sample at hand: read once each, whatever number of layers shows them.

use super::planner::Looked;
use super::policy::{Failure, Stage};
use super::stats::Meters;
use crate::device::cpu::Input;
use crate::error::Error;
use crate::geometry::Orientation;
use crate::image::{Header, parse_header};
use crate::label::Label;
use crate::plan::Plan;
use crate::source::Source;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Files read for one sample; their memory is used again for the next.
pub(super) struct Shelf<'a> {
    source: &'a dyn Source,
    meters: &'a Meters,
    exif: bool,
    files: Vec<File>,
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
    pub(super) fn new(source: &'a dyn Source, meters: &'a Meters, exif: bool) -> Self {
        let (files, spare) = (Vec::new(), Vec::new());
        Self { source, meters, exif, files, spare, reading: Duration::ZERO, parsing: Duration::ZERO }
    }

    /// Makes room for the next sample.
    pub(super) fn clear(&mut self) {
        self.spare.extend(self.files.drain(..).map(|file| file.bytes));
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

    /// Reads the file `index`, if it is not here yet, and tells how its image is stored.
    pub(super) fn look(&mut self, index: u64) -> Result<Looked, Failure> {
        let at = match self.files.iter().position(|file| file.index == index) {
            Some(at) => at,
            None => self.fetch(index)?,
        };
        let header = &self.files[at].header;
        let orientation = if self.exif { header.orientation } else { Orientation::UPRIGHT };
        let objects = match self.source.label(index as usize) {
            Label::Objects(objects) => Some(objects),
            _ => None,
        };
        Ok(Looked { stored: header.size, orientation, objects })
    }

    /// The plan's images in its order; every one was looked at while it was planned.
    pub(super) fn inputs(&self, plan: &Plan) -> Vec<Input<'_>> {
        let of = |index: u64| self.files.iter().find(|file| file.index == index);
        let files = plan.images.iter().filter_map(|image| of(image.index));
        files.map(|file| Input { bytes: &file.bytes, header: &file.header }).collect()
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
