//! A worker's side of a device: files that the device decodes are copied to pinned memory as they are, the others are
//! decoded here and their pixels staged.

use super::fallback::Fallback;
use super::image_cache::SharedImage;
use super::slot::Slot;
use super::source_bytes::{SourceBytes, StagedFile, StagedPixels};
use super::staged::{SharedUse, StagedImage, StagedRow};
use super::{Engine, Route};
use crate::device::backend::{BadImage, Input};
use crate::device::roi;
use crate::error::Cause;
use crate::geometry::Rect;
use crate::image::Format;
use crate::plan::Plan;
use std::sync::Arc;

/// Stages one sample at a time; one per thread.
pub(crate) struct Worker {
    engine: Arc<Engine>,
    fallback: Fallback,
}

/// A row that is to be staged.
pub(crate) struct Row<'a> {
    pub(super) slot: &'a Slot,
    pub(super) row: usize,
    /// Whether the device has failed on this row already, so that the CPU is to decode it.
    pub(super) decode_on_cpu: bool,
}

impl Worker {
    pub(super) fn new(engine: &Arc<Engine>) -> Self {
        Self { engine: Arc::clone(engine), fallback: Fallback::new(engine.limits.clone()) }
    }

    /// Stages a row; `inputs[i]` is the file of `plan.images[i]`.
    ///
    /// # Errors
    /// The first image that cannot be decoded, where the CPU decodes.
    pub(super) fn stage(&mut self, row: &Row<'_>, plan: &Plan, inputs: &[Input<'_>]) -> Result<(), BadImage> {
        let images = inputs.iter().enumerate().map(|(number, input)| {
            let wanted = roi::region(plan, number);
            if self.engine.shares {
                // What samples share is bad for all of them, whatever part they read.
                let whole = input.header.size.rect();
                self.fallback.decode(input.bytes, input.header, whole).map_err(|cause| (number, cause))?;
            }
            let staged = self.image(row, input, wanted).map_err(|cause| (number, cause))?;
            Ok(StagedImage::Own(staged))
        });
        let images = images.collect::<Result<Vec<_>, _>>()?;
        row.slot.put(row.row, StagedRow { plan: plan.clone(), images });
        Ok(())
    }

    /// Stages the whole image `record` for all samples that show it, unless another worker has.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub(super) fn stage_whole(
        &mut self,
        row: &Row<'_>,
        record: u64,
        input: &Input<'_>,
    ) -> Result<Arc<SharedImage>, Cause> {
        let engine = Arc::clone(&self.engine);
        let header = input.header;
        let known = (header.size, header.orientation);
        engine.cache.find_or_stage(record, known, || self.image(row, input, header.size.rect()))
    }

    /// Stages a row of images that samples share; `images[i]` is `plan.images[i]`.
    pub(super) fn stage_shared(&self, row: &Row<'_>, plan: &Plan, images: Vec<Arc<SharedImage>>) {
        let shared =
            |(number, image)| StagedImage::Shared(SharedUse { image, wanted: roi::region(plan, number) });
        let images = images.into_iter().enumerate().map(shared).collect();
        row.slot.put(row.row, StagedRow { plan: plan.clone(), images });
    }

    fn image(&mut self, row: &Row<'_>, input: &Input<'_>, wanted: Rect) -> Result<SourceBytes, Cause> {
        let slot = row.slot;
        let on_device = !row.decode_on_cpu && !wanted.is_empty() && self.engine.takes(input);
        match &input.header.jpeg {
            Some(header) if on_device => {
                let mut bytes = slot.core.fresh().staging.reserve(input.bytes.len())?;
                bytes.bytes_mut().copy_from_slice(input.bytes);
                let (bytes, header) = (Arc::new(bytes), Arc::new(header.clone()));
                Ok(SourceBytes::File(StagedFile { bytes, header, wanted, shared: false }))
            }
            _ => {
                let image = self.fallback.decode(input.bytes, input.header, wanted)?;
                self.engine.count(Route::Cpu);
                let reserve = |len| slot.core.fresh().staging.reserve(len);
                Ok(SourceBytes::Pixels(StagedPixels::copy(image, reserve)?))
            }
        }
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
