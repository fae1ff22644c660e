//! Prepares one record for a shard: reads it, resizes it on request, and lays it out in the shard's format.

use super::beside::{Read, of_record};
use super::{Chroma, Format, QUALITY, Settings, shard};
use crate::coefficients::{ConvertError, Converter};
use crate::error::{Cause, Error, Result};
use crate::geometry::Size;
use crate::image::{self, Header, Limits};
use crate::loader::Upright;
use crate::output::Output;
use crate::source::Source;
use crate::source::packed::holds::Holds;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

/// Prepares records and reuses its memory.
pub(super) struct Preparer<'a> {
    settings: &'a Settings,
    holds: &'a Holds,
    /// Whether images that stay as they are are decoded, to find out whether they can be.
    decodes_all: bool,
    bytes: Vec<u8>,
    upright: Upright,
    beside: Read,
    converter: Converter,
    coefficients: Vec<u8>,
}

impl<'a> Preparer<'a> {
    pub(super) fn new(settings: &'a Settings, holds: &'a Holds, decodes_all: bool) -> Self {
        Self {
            settings,
            holds,
            decodes_all,
            bytes: Vec::new(),
            upright: Upright::new(limits(settings)),
            beside: Read::default(),
            converter: Converter::new(&limits(settings), settings.profile),
            coefficients: Vec::new(),
        }
    }

    /// The bytes of the record in a shard.
    pub(super) fn prepare(&mut self, source: &dyn Source, index: usize) -> Result<Vec<u8>> {
        source.read(index, &mut self.bytes)?;
        let bad = |cause| Error::sample(source.key(index), index as u64, cause);
        let label = source.label(index);
        let read = self.beside.read(source, index, &label, self.holds);
        read.map_err(|error| of_record(error, source, index))?;
        let encoded = self.encode();
        self.upright.give_back();
        let (mut ending, size) = encoded.map_err(bad)?;
        let mut jpeg_sha256 = match ending {
            "fjc" => source.jpeg_sha256(index)?,
            _ => None,
        };
        if self.settings.format == Format::Coefficients
            && ending == "jpg"
            && self.convert().map_err(|error| bad(format!("{error}; --format tar packs it so").into()))?
        {
            jpeg_sha256 = Some(shard::sha256(&self.bytes));
            std::mem::swap(&mut self.bytes, &mut self.coefficients);
            ending = "fjc";
        }
        let names =
            label.classes().iter().filter_map(|class| source.classes().get(usize::try_from(*class).ok()?));
        let record = shard::Record {
            number: index,
            key: source.key(index),
            label: &label,
            names: names.map(String::as_str).filter(|name| !name.is_empty()).collect(),
            ending,
            bytes: &self.bytes,
            jpeg_sha256,
            beside: self.beside.placed(self.holds, size, source.classes()).map_err(bad)?,
        };
        let entry = match self.settings.format {
            Format::Tar | Format::Coefficients => shard::tar_entry(record),
            Format::TfRecord => shard::tfrecord_entry(record),
        };
        entry.map_err(bad)
    }

    /// Makes the coefficients of a JPEG, if they can be held.
    fn convert(&mut self) -> Result<bool, ConvertError> {
        match self.converter.convert(&self.bytes, &mut self.coefficients) {
            Ok(()) => Ok(true),
            Err(ConvertError::Jpeg(_) | ConvertError::Damaged(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Converts the image as requested; returns the ending of its name, and its size as it is seen upright.
    fn encode(&mut self) -> Result<(&'static str, Size), Cause> {
        let header = image::parse_header(&self.bytes)?;
        let upright = header.orientation.apply_size(header.size);
        let edge = upright.width.min(upright.height);
        let target = self.settings.resize.filter(|&target| target < edge);
        // What is resized is decoded for that.
        if self.decodes_all && target.is_none() {
            self.beside.check(self.holds, upright, &limits(self.settings))?;
        }
        if target.is_none() && self.settings.quality.is_none() {
            if self.decodes_all {
                image::verify(&self.bytes, &limits(self.settings))?;
            }
            let ending = match header.format {
                image::Format::Jpeg => "jpg",
                image::Format::Png => "png",
                image::Format::WebP => "webp",
                image::Format::Pnm => "pnm",
                image::Format::Coefficients => "fjc",
                image::Format::Raw => "raw",
            };
            return Ok((ending, upright));
        }
        let output = self.render(&header, target)?;
        let (width, height) = (u16::try_from(output.size.width)?, u16::try_from(output.size.height)?);
        self.bytes.clear();
        let mut encoder = Encoder::new(&mut self.bytes, self.settings.quality.unwrap_or(QUALITY));
        encoder.set_sampling_factor(match self.settings.chroma {
            Chroma::Quarter => SamplingFactor::F_2_2,
            Chroma::Full => SamplingFactor::F_1_1,
        });
        encoder.set_optimized_huffman_tables(true);
        encoder.encode(self.upright.pixels(&output), width, height, ColorType::Rgb)?;
        Ok(("jpg", output.size))
    }

    /// Renders the image upright, with its shorter edge at `edge` pixels if one is given.
    fn render(&mut self, header: &Header, edge: Option<u32>) -> Result<Output, Cause> {
        let (plan, output) = self.upright.render(&self.bytes, header, header.orientation, edge)?;
        if edge.is_some() {
            let upright = header.orientation.apply_size(header.size);
            self.beside.resize(upright, &plan, &mut self.upright.renderer, &limits(self.settings))?;
        }
        Ok(output)
    }
}

/// What is decoded.
fn limits(settings: &Settings) -> Limits {
    Limits { damaged: settings.damaged, ..Limits::default() }
}
