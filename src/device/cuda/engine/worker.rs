//! A worker's side of a device: files that the device decodes are copied to pinned memory as they are, the others are
//! decoded here and their pixels staged.

use super::gallery::{Asked, Exhibit};
use super::slot::{Shared, Slot, StagedImage, StagedPixels, StagedRow};
use super::staging::Kept;
use super::{Engine, Route};
use crate::device::cpu::Input;
use crate::device::reach;
use crate::error::Cause;
use crate::geometry::Rect;
use crate::image::{Decoder, Format, Header, Image};
use crate::plan::Plan;
use std::sync::Arc;

/// Rows of staged pixels start at a multiple of this.
pub(super) const PITCH: usize = 16;

/// Stages one sample at a time; one a thread.
pub(crate) struct Worker {
    engine: Arc<Engine>,
    fallback: Fallback,
}

/// Decodes on the CPU what the device does not.
pub(super) struct Fallback {
    decoder: Decoder,
    image: Image,
}

impl Worker {
    pub(crate) fn new(engine: &Arc<Engine>) -> Self {
        Self { engine: Arc::clone(engine), fallback: Fallback::new(engine.limits.clone()) }
    }

    /// Stages row `row`; `inputs[i]` is the file of `plan.images[i]`. With `decode_here` the CPU decodes all of them.
    ///
    /// # Errors
    /// The number of the image that cannot be decoded, and why.
    pub(crate) fn stage(
        &mut self,
        slot: &Slot,
        row: usize,
        plan: &Plan,
        inputs: &[Input<'_>],
        decode_here: bool,
    ) -> Result<(), (usize, Cause)> {
        let images = inputs.iter().enumerate().map(|(number, input)| {
            let wanted = reach::region(plan, number);
            if self.engine.shares {
                // What samples share is bad for all of them, whatever part they read.
                let whole = input.header.size.rect();
                self.fallback.decode(input.bytes, input.header, whole).map_err(|cause| (number, cause))?;
            }
            self.image(slot, input, wanted, decode_here).map_err(|cause| (number, cause))
        });
        let images = images.collect::<Result<Vec<_>, _>>()?;
        slot.put(row, StagedRow { plan: plan.clone(), images });
        Ok(())
    }

    /// Stages the whole image `record` for all samples that show it, unless another worker has.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub(crate) fn exhibit(
        &mut self,
        slot: &Slot,
        record: u64,
        input: &Input<'_>,
    ) -> Result<Arc<Exhibit>, Cause> {
        let engine = Arc::clone(&self.engine);
        let header = input.header;
        match engine.gallery.ask(record) {
            Asked::Here(exhibit) => Ok(exhibit),
            Asked::Mine(claim) => {
                let staged = self.image(slot, input, header.size.rect(), false)?;
                Ok(claim.keep(header.size, header.orientation, staged))
            }
        }
    }

    /// Stages row `row` of images that samples share; `exhibits[i]` is `plan.images[i]`.
    pub(crate) fn stage_shared(&self, slot: &Slot, row: usize, plan: &Plan, exhibits: Vec<Arc<Exhibit>>) {
        let shared =
            |(number, exhibit)| StagedImage::Shared(Shared { exhibit, wanted: reach::region(plan, number) });
        let images = exhibits.into_iter().enumerate().map(shared).collect();
        slot.put(row, StagedRow { plan: plan.clone(), images });
    }

    fn image(
        &mut self,
        slot: &Slot,
        input: &Input<'_>,
        wanted: Rect,
        decode_here: bool,
    ) -> Result<StagedImage, Cause> {
        let there = !decode_here && !wanted.is_empty() && self.engine.takes(input);
        match &input.header.jpeg {
            Some(header) if there => {
                let mut bytes = slot.core.fresh().staging.reserve(input.bytes.len())?;
                bytes.bytes_mut().copy_from_slice(input.bytes);
                let (bytes, header) = (Arc::new(bytes), Arc::new(header.clone()));
                Ok(StagedImage::File { bytes, header, wanted, shared: false })
            }
            _ => {
                let image = self.fallback.decode(input.bytes, input.header, wanted)?;
                self.engine.count(Route::Cpu);
                let reserve = |len| slot.core.fresh().staging.reserve(len);
                Ok(StagedImage::Pixels(StagedPixels::copy(image, reserve)?))
            }
        }
    }
}

impl Slot {
    fn put(&self, row: usize, staged: StagedRow) {
        let mut state = self.core.fresh();
        if state.rows.len() <= row {
            state.rows.resize_with(row + 1, || None);
        }
        state.rows[row] = Some(staged);
    }
}

impl Engine {
    /// Whether the device is to decode a file. What the limits refuse goes to the CPU's decoder, which says why.
    fn takes(&self, input: &Input<'_>) -> bool {
        let header = input.header;
        let (Some(capabilities), Some(jpeg)) = (self.capabilities, &header.jpeg) else { return false };
        header.format == Format::Jpeg
            && header.size.pixels() <= self.limits.max_pixels
            && capabilities.takes(jpeg, input.bytes)
            && (jpeg.baseline && jpeg.first_scan == jpeg.components || self.has_few_scans(input.bytes))
    }

    /// Whether a file of several scans has no more than it may. Its entropy-coded bytes never look like a marker, so
    /// only a thumbnail in its metadata can make the count too high, and then the CPU decides.
    fn has_few_scans(&self, bytes: &[u8]) -> bool {
        let scans = bytes.windows(2).filter(|pair| pair == &[0xFF, 0xDA]);
        scans.take(self.limits.max_scans as usize + 1).count() <= self.limits.max_scans as usize
    }
}

impl Fallback {
    pub(super) fn new(limits: crate::image::Limits) -> Self {
        Self { decoder: Decoder::new(limits), image: Image::default() }
    }

    pub(super) fn decode(&mut self, bytes: &[u8], header: &Header, wanted: Rect) -> Result<&Image, Cause> {
        self.decoder.decode(bytes, header, wanted, &mut self.image)?;
        Ok(&self.image)
    }
}

impl StagedPixels {
    /// Copies an image's rows to memory from `reserve`, each to a multiple of [`PITCH`].
    pub(super) fn copy(
        image: &Image,
        reserve: impl FnOnce(usize) -> Result<Kept, Cause>,
    ) -> Result<Self, Cause> {
        let (width, height) = (image.region.width as usize * 3, image.region.height as usize);
        let pitch = width.next_multiple_of(PITCH);
        let mut bytes = reserve(pitch * height)?;
        if width > 0 {
            let rows = image.data.chunks(image.stride).take(height);
            for (to, from) in bytes.bytes_mut().chunks_exact_mut(pitch).zip(rows) {
                to[..width].copy_from_slice(&from[..width]);
                to[width..].fill(0);
            }
        }
        Ok(Self { bytes: Arc::new(bytes), region: image.region, pitch })
    }
}
