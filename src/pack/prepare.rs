//! Prepares one record for a shard: reads it, resizes it on request, and lays it out in the shard's format.

use super::{Chroma, Format, QUALITY, Settings, shard};
use crate::decode_memory::give_back;
use crate::device::{self, cpu::Renderer};
use crate::draft::Draft;
use crate::draft::op::{Extent, Interpolation, Op};
use crate::error::{Cause, Error, Result};
use crate::image::{self, Decoder, Header, Image, Limits};
use crate::label::Label;
use crate::output::{DType, Layout, Output};
use crate::source::Source;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

/// Prepares records and reuses its memory.
pub(super) struct Preparer<'a> {
    settings: &'a Settings,
    /// Whether images that stay as they are are decoded, to find out whether they can be.
    decodes_all: bool,
    bytes: Vec<u8>,
    decoder: Decoder,
    renderer: Renderer,
    image: Image,
    pixels: Vec<u8>,
}

impl<'a> Preparer<'a> {
    pub(super) fn new(settings: &'a Settings, decodes_all: bool) -> Self {
        Self {
            settings,
            decodes_all,
            bytes: Vec::new(),
            decoder: Decoder::new(limits(settings)),
            renderer: Renderer::default(),
            image: Image::default(),
            pixels: Vec::new(),
        }
    }

    /// The bytes of the record in a shard.
    pub(super) fn prepare(&mut self, source: &dyn Source, index: usize) -> Result<Vec<u8>> {
        source.read(index, &mut self.bytes)?;
        let bad = |cause| Error::sample(source.key(index), index as u64, cause);
        let label = source.label(index);
        if let Label::Objects(_) = label {
            let why = "it has labelled objects, which shards do not hold: pack images with classes, and train from \
                       the YOLO or COCO data set itself";
            return Err(bad(why.into()));
        }
        let encoded = self.encode();
        self.image.give_back();
        self.renderer.give_back();
        give_back(&mut self.pixels);
        let ending = encoded.map_err(bad)?;
        let class = usize::try_from(label.class()).ok();
        let record = shard::Record {
            number: index,
            key: source.key(index),
            class,
            name: class.and_then(|class| source.classes().get(class)).map(String::as_str),
            ending,
            bytes: &self.bytes,
        };
        match self.settings.format {
            Format::Tar => shard::tar_entry(&record).map_err(bad),
            Format::TfRecord => Ok(shard::tfrecord_entry(&record)),
        }
    }

    /// Converts the image as requested; returns the ending of its name.
    fn encode(&mut self) -> Result<&'static str, Cause> {
        let header = image::parse_header(&self.bytes)?;
        let upright = header.orientation.apply_size(header.size);
        let edge = upright.width.min(upright.height);
        let target = self.settings.resize.filter(|&target| target < edge);
        if target.is_none() && self.settings.quality.is_none() {
            if self.decodes_all {
                image::verify(&self.bytes, &limits(self.settings))?;
            }
            return Ok(match header.format {
                image::Format::Jpeg => "jpg",
                image::Format::Png => "png",
                image::Format::WebP => "webp",
                image::Format::Raw => "raw",
            });
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
        encoder.encode(&self.pixels[..output.sample_bytes()], width, height, ColorType::Rgb)?;
        Ok("jpg")
    }

    /// Renders the image upright, with its shorter edge at `edge` pixels if one is given.
    fn render(&mut self, header: &Header, edge: Option<u32>) -> Result<Output, Cause> {
        let mut draft = Draft::new(0, header.size, header.orientation);
        if let Some(edge) = edge {
            let (size, interpolation) = (Extent::One(edge), Interpolation::Bilinear);
            draft.apply(Op::Resize { size, interpolation, max_size: None, antialias: true });
        }
        let plan = draft.freeze()?;
        let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
        self.decoder.decode(&self.bytes, header, device::region(&plan, 0), &mut self.image)?;
        if self.pixels.len() < output.sample_bytes() {
            self.pixels.resize(output.sample_bytes(), 0);
        }
        let sample = &mut self.pixels[..output.sample_bytes()];
        self.renderer.render(&plan, std::slice::from_ref(&self.image), &output, sample)?;
        Ok(output)
    }
}

/// What is decoded.
fn limits(settings: &Settings) -> Limits {
    Limits { damaged: settings.damaged, ..Limits::default() }
}
