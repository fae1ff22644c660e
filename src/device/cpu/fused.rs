//! Decoding into the resampler: where one layer alone reads an image, each few rows of it are resampled across as soon
//! as they are decoded, so that the image itself never exists.

#[cfg(test)]
mod tests;

use super::Input;
use super::image_view::ImageView;
use super::resample::Resampler;
use crate::decode_memory::grow;
use crate::device::roi;
use crate::geometry::{Orientation, Rect, Size};
use crate::image::{Decoder, Header, Image, ImageError, Index, Part, Rows, Scale};
use crate::plan::{Filter, Method, Sampled, ViewPlans};
use crate::simd::Level;

/// Bytes of rows that are held until they are resampled: with the planes that they are made of they stay in the
/// processor's first or second cache.
const STRIP_BYTES: usize = 16 << 10;
/// The widest vectors resample so many rows at once.
const GROUP: usize = 4;

/// An image of a plan, as the renderer gets it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decoded<'a> {
    /// What the plan reads of it, and maybe more.
    Pixels(&'a Image),
    /// What its only layer reads of it, resampled across.
    Lines(&'a Resampler),
}

/// Where one image of a plan is decoded to; kept from sample to sample for its memory.
pub(super) struct DecodeTarget {
    image: Image,
    strip: Vec<u8>,
    resampler: Resampler,
    /// Which of them holds the last image.
    is_resampled: bool,
}

impl DecodeTarget {
    /// Nothing yet.
    pub(super) fn with_level(level: Level) -> Self {
        let resampler = Resampler::with_level(level);
        Self { image: Image::default(), strip: Vec::new(), resampler, is_resampled: false }
    }

    /// Frees pixels that are too many to be kept for the next sample.
    pub(super) fn give_back(&mut self) {
        self.image.give_back();
        self.resampler.give_back();
    }

    /// Decodes what `plans` read of their image `number`, from which `scale` they start.
    ///
    /// # Errors
    /// Those of [`Decoder::decode_part`].
    pub(super) fn decode(
        &mut self,
        decoder: &mut Decoder,
        (plans, number, scale): (&ViewPlans, usize, Scale),
        Input { bytes, header }: Input<'_>,
        index: Option<&mut Index>,
    ) -> Result<(), ImageError> {
        let part = Part { scale, region: roi::region_of_views(plans, number) };
        let reader = reader(plans, number, header);
        self.is_resampled = reader.is_some();
        let Some((window, sampled, filter)) = reader else {
            return decoder.decode_part(bytes, header, part, index, &mut self.image);
        };
        // Ahead of any allocation.
        decoder.check(header, part)?;
        let (columns, rows) = roi::scales(window, sampled, filter);
        self.resampler.begin(&columns, &rows, |bytes| decoder.take_more(bytes));
        let mut strip = Strip::new(part.region.size(), &mut self.strip, &mut self.resampler);
        decoder.decode_rows(bytes, header, part, index, &mut strip)
    }

    /// What was decoded last.
    pub(super) fn decoded(&self) -> Decoded<'_> {
        match self.is_resampled {
            true => Decoded::Lines(&self.resampler),
            false => Decoded::Pixels(&self.image),
        }
    }
}

/// Bytes of the pixels that are kept of an image; none where its rows are resampled as they are decoded.
pub(super) fn pixel_bytes(plans: &ViewPlans, number: usize, header: &Header) -> usize {
    let is_resampled = reader(plans, number, header).is_some();
    if is_resampled { 0 } else { Image::bytes(roi::region_of_views(plans, number)) }
}

/// [`only_reader`], of a file whose rows come one after the other.
fn reader<'a>(plans: &'a ViewPlans, image: usize, header: &Header) -> Option<(Rect, &'a Sampled, Filter)> {
    if header.format.is_dct() { only_reader(plans, image) } else { None }
}

/// The layer that the rows of an image can be resampled for while they are decoded: the only one that reads it, upright,
/// as it is stored, and not pixel by pixel.
fn only_reader(plans: &ViewPlans, image: usize) -> Option<(Rect, &Sampled, Filter)> {
    let stored = plans.images().get(image)?.stored;
    let mut readers = plans
        .showing(image)
        .flat_map(|(plan, own)| plan.layers.iter().filter(move |layer| layer.shows_image(own as u32)));
    let (Some(only), None) = (readers.next(), readers.next()) else { return None };
    let (window, sampled) = (only.window, only.sampled()?);
    let as_stored = sampled.orientation == Orientation::UPRIGHT && sampled.steps.len == 0;
    let Method::Upright(filter) = sampled.method else { return None };
    if !as_stored || roi::is_copy(window, sampled) {
        return None;
    }
    // Taps outside of the image are a bug, which the renderer reports where there are pixels.
    let taps = roi::taps_of(window, sampled);
    (!taps.is_empty() && stored.rect().contains(taps)).then_some((window, sampled, filter))
}

/// A few rows of a region, which go to the resampler whenever the strip is full.
struct Strip<'a> {
    data: &'a mut Vec<u8>,
    resampler: &'a mut Resampler,
    /// Bytes from one row to the next.
    stride: usize,
    /// Rows that it holds.
    rows: usize,
    region: Size,
}

impl<'a> Strip<'a> {
    /// A strip for a region of this size, in `data`.
    fn new(region: Size, data: &'a mut Vec<u8>, resampler: &'a mut Resampler) -> Self {
        let stride = (region.width as usize * 3).next_multiple_of(64);
        let rows = (STRIP_BYTES / stride / GROUP * GROUP).max(GROUP);
        grow(data, stride * rows + Image::TAIL);
        Self { data, resampler, stride, rows, region }
    }
}

impl Rows for Strip<'_> {
    fn fits(&self, region: Size) -> bool {
        region == self.region
    }

    fn row(&mut self, y: usize) -> &mut [u8] {
        &mut self.data[y % self.rows * self.stride..][..self.stride]
    }

    fn done(&mut self, y: usize) {
        let held = y % self.rows + 1;
        if held < self.rows && y + 1 < self.region.height as usize {
            return;
        }
        let size = Size::new(self.region.width, held as u32);
        self.resampler.feed(ImageView { data: self.data, stride: self.stride, size }, y + 1 - held);
    }
}
