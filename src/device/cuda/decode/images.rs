//! JPEGs decoded on a device and brought back: to see what its decoders make of a file, and to compare them with others.

mod rounds;

pub use rounds::Rounds;

use super::{Decoder, DecoderOptions, DeviceDecoder, OwnDecoder, Route};
use crate::device::cuda::driver::{Context, CudaError, Priority, Stream};
use crate::device::cuda::failed;
use crate::device::cuda::nvjpeg;
use crate::device::cuda::probe::{Decoding, Missing};
use crate::device::decoder_report::DecoderReport;
use crate::error::{Cause, Result};
use crate::geometry::Rect;
use crate::image::{Header, Image};
use crate::policy::DecoderChoice;
use std::sync::Arc;

/// Files that a batch is expected to have where none are known: it only guides how files are shared between decoders.
const ROWS: usize = 256;

/// Decodes JPEGs on a CUDA device and copies the pixels back to the host. A loader does not: there they stay.
pub struct ImageDecoder {
    decoder: DeviceDecoder,
    stream: Stream,
    context: Context,
}

/// A decoded image, and which decoder made it.
#[derive(Clone, Debug)]
pub struct DecodedImage {
    /// The pixels: of what was asked for, or of more around it.
    pub image: Image,
    /// The decoder that made it.
    pub by: Route,
}

impl ImageDecoder {
    /// Opens nvJPEG on the device `ordinal`. `parts` allows decoding parts of images alone.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`]: no such device, or no nvJPEG.
    pub fn open(ordinal: u32, parts: bool) -> Result<Self> {
        let what = || format!("decoding on CUDA device {ordinal}");
        let found = super::super::find(ordinal).and_then(|found| found.usable);
        if let Decoding::Cpu { nvjpeg } = found.map_err(|missing| missing.error(what()))? {
            return Err(nvjpeg.error(what()));
        }
        let library = nvjpeg::in_use().map_err(|absent| Missing::nvjpeg(&absent).error(what()))?;
        let context = Context::open(ordinal).map_err(|error| Missing::context(&error).error(what()))?;
        let (choice, rows) = (DecoderChoice::Nvjpeg, None);
        let decoder = Decoder::new(
            &context,
            library,
            DecoderOptions { choice, parts, rows, verify: false, typical: None },
        )
        .map_err(|error| Missing::backend(&error).error(what()))?;
        Self::with(context, DeviceDecoder::Nvjpeg(Box::new(decoder)))
    }

    /// feedline's own decoder on the device `ordinal`, within `memory` bytes of it: no other decoder is chosen.
    ///
    /// # Errors
    /// As [`ImageDecoder::open`].
    pub fn open_own(ordinal: u32, memory: usize) -> Result<Self> {
        let context = Context::open(ordinal).map_err(|error| failed(ordinal, &error))?;
        let own = OwnDecoder::new(&context, memory, ROWS).map_err(|error| failed(ordinal, &error))?;
        Self::with(context, DeviceDecoder::Own(Box::new(own)))
    }

    fn with(context: Context, decoder: DeviceDecoder) -> Result<Self> {
        let stream = Stream::new(&context, Priority::High);
        let stream = stream.map_err(|error| failed(context.ordinal(), &error))?;
        Ok(Self { decoder, stream, context })
    }

    /// From now on only this one of nvJPEG's decoders is chosen, as far as it is there. What it then does not take goes to
    /// the hybrid one all the same: [`DecodedImage::by`] tells.
    pub fn choose(&mut self, route: Route) {
        if let DeviceDecoder::Nvjpeg(decoder) = &mut self.decoder {
            decoder.choose(route);
        }
    }

    /// How each decoder has done so far, and what it said where it failed; images are not counted.
    pub fn reports(&self) -> Vec<DecoderReport> {
        self.decoder.dispatch().report().into_iter().map(|(_, report)| report).collect()
    }

    /// Whether the engines are given files of one sampling at a time, which is the default, or all in one call.
    pub fn group_by_sampling(&mut self, grouped: bool) {
        if let DeviceDecoder::Nvjpeg(decoder) = &mut self.decoder {
            decoder.group(grouped);
        }
    }

    /// Decodes `wanted` of each file (stored coordinates), or all of it; an error for each that no decoder takes.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`]: the device has failed.
    pub fn decode(
        &mut self,
        files: &[&[u8]],
        wanted: Option<Rect>,
    ) -> Result<Vec<Result<DecodedImage, Cause>>> {
        let dispatch = Arc::clone(self.decoder.dispatch());
        let whole = matches!(&self.decoder, DeviceDecoder::Nvjpeg(decoder) if decoder.decodes_whole());
        // This, or more around it, as a loader would.
        self.decode_wanted(files, |header| match wanted {
            Some(part) if !whole => dispatch.part(header, part),
            _ => header.size.rect(),
        })
    }

    /// Decodes `part` of each file and nothing around it, which shows how far a decoder looks beyond what it is asked
    /// for: along the edges the pixels may not be those of the whole image.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn decode_exactly(
        &mut self,
        files: &[&[u8]],
        part: Rect,
    ) -> Result<Vec<Result<DecodedImage, Cause>>> {
        self.decode_wanted(files, |header| part.intersect(header.size.rect()))
    }

    fn decode_wanted(
        &mut self,
        files: &[&[u8]],
        wanted: impl Fn(&Header) -> Rect,
    ) -> Result<Vec<Result<DecodedImage, Cause>>> {
        let mut rounds = Rounds::new(self, &[files], 1, wanted)?;
        let outcomes = rounds.decode(0, true)?;
        rounds.copy(0)?;
        let images = rounds.images(0)?.into_iter().zip(outcomes);
        Ok(images.map(|(image, by)| Ok(DecodedImage { by: by?, image })).collect())
    }

    /// Makes room for decoding lists of files, whole, again and again: each time into the memory whose turn it is, of so
    /// many `turns`.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn rounds<'a>(&'a mut self, lists: &[&'a [&'a [u8]]], turns: usize) -> Result<Rounds<'a>> {
        Rounds::new(self, lists, turns, |header| header.size.rect())
    }

    fn check<T>(&self, result: Result<T, CudaError>) -> Result<T> {
        result.map_err(|error| failed(self.context.ordinal(), &error))
    }
}
