//! A staged row on its way through a submission: where its images lie in the arena, and whether it failed.

use super::Route;
use super::arena::ALIGNMENT;
use super::slot::{StagedImage, StagedPixels, StagedRow};
use super::submit::Submission;
use super::worker::{Fallback, PITCH};
use crate::device::cuda::decode::{Capabilities, Target};
use crate::device::cuda::driver::DevicePtr;
use crate::device::cuda::render::Surface;
use crate::error::Cause;
use crate::geometry::{Rect, Size};
use crate::image::{Format, Header};
use crate::jpeg;

/// One row.
pub(super) struct Entry {
    pub(super) row: usize,
    pub(super) staged: StagedRow,
    /// The row of the output, where it has been given away already.
    pub(super) output: Option<usize>,
    /// By image.
    pub(super) places: Vec<Placed>,
    /// The index of the bad image, and what is wrong with it.
    pub(super) failed: Option<(u64, Cause)>,
}

/// Where an image lies in the arena.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// From the arena's first byte.
    offset: usize,
    pub(super) region: Rect,
    pub(super) pitch: usize,
    pub(super) address: DevicePtr,
}

impl Entry {
    /// An entry for what was staged for a row; `None` where nothing was.
    pub(super) fn new((row, staged): (usize, Option<StagedRow>)) -> Option<Self> {
        let places = Vec::new();
        Some(Self { row, staged: staged?, output: None, places, failed: None })
    }

    /// Places the images from `start` on, and returns the end.
    pub(super) fn place(&mut self, start: usize, capabilities: Option<Capabilities>) -> usize {
        self.places.clear();
        let mut offset = start;
        for image in &self.staged.images {
            let (region, pitch) = match image {
                StagedImage::Pixels(pixels) => (pixels.region, pixels.pitch),
                StagedImage::File { header, wanted, .. } => {
                    let region = capabilities.map_or(*wanted, |can| can.region(header, *wanted));
                    (region, (region.width as usize * 3).next_multiple_of(PITCH))
                }
            };
            self.places.push(Placed { offset, region, pitch, address: 0 });
            offset += (pitch * region.height as usize).next_multiple_of(ALIGNMENT);
        }
        offset
    }

    /// Bytes that the images need.
    pub(super) fn bytes(&mut self, capabilities: Option<Capabilities>) -> usize {
        self.place(0, capabilities)
    }

    /// Fails the entry where its images need more than `budget`.
    pub(super) fn refuse_beyond(&mut self, budget: usize) {
        let bytes = self.end();
        if bytes > budget && self.failed.is_none() {
            let index = self.staged.plan.images.first().map_or(0, |image| image.index);
            let cause = format!(
                "its images take {bytes} bytes of the device's memory, and {budget} is the most that a sample may \
                 have: raise device_memory, or crop or scale the files"
            );
            self.failed = Some((index, cause.into()));
        }
    }

    /// Where the last image ends.
    pub(super) fn end(&self) -> usize {
        self.places.last().map_or(0, |place| place.offset + place.pitch * place.region.height as usize)
    }

    /// Tells the images the arena's address.
    pub(super) fn rebase(&mut self, base: DevicePtr) {
        self.places.iter_mut().for_each(|place| place.address = base + place.offset as DevicePtr);
    }

    /// The files that the device is to decode: number of the image, bytes, header and where to.
    pub(super) fn files(&self) -> impl Iterator<Item = (usize, &[u8], &jpeg::Header, Target)> {
        let good = self.failed.is_none();
        let images = self.staged.images.iter().zip(&self.places).enumerate().filter(move |_| good);
        images.filter_map(|(number, (image, place))| match image {
            StagedImage::File { bytes, header, .. } => {
                Some((number, bytes.bytes(), &**header, place.target()))
            }
            StagedImage::Pixels(_) => None,
        })
    }

    /// Decodes image `number` here, since the device cannot; its decoders are done with a file that they have refused.
    /// An image that cannot be decoded here either fails the entry.
    pub(super) fn decode_here(
        &mut self,
        number: usize,
        fallback: &mut Fallback,
        submission: &Submission<'_, '_>,
    ) {
        if self.failed.is_some() {
            return;
        }
        let Some(image) = self.staged.images.get_mut(number) else { return };
        let StagedImage::File { bytes, header, wanted } = &*image else { return };
        let whole = Header {
            format: Format::Jpeg,
            size: header.size,
            orientation: header.orientation,
            jpeg: Some((**header).clone()),
        };
        let reserve = |len| submission.slot.core.state().staging.reserve(len);
        let decoded = fallback.decode(bytes.bytes(), &whole, *wanted);
        match decoded.and_then(|decoded| StagedPixels::copy(decoded, reserve)) {
            Ok(pixels) => {
                submission.engine.count(Route::Cpu);
                if let Some(place) = self.places.get_mut(number) {
                    (place.region, place.pitch) = (pixels.region, pixels.pitch);
                }
                *image = StagedImage::Pixels(pixels);
            }
            Err(cause) => {
                let index = self.staged.plan.images.get(number).map_or(0, |image| image.index);
                self.failed = Some((index, cause));
            }
        }
    }

    /// What the kernels read, image by image.
    pub(super) fn surfaces(&self) -> Vec<Surface> {
        let stored =
            |number: usize| self.staged.plan.images.get(number).map_or(Size::default(), |image| image.stored);
        let places = self.places.iter().enumerate();
        places
            .map(|(number, place)| Surface {
                ptr: place.address,
                pitch: place.pitch as u32,
                region: place.region,
                stored: stored(number),
            })
            .collect()
    }
}

impl Placed {
    fn target(&self) -> Target {
        Target { ptr: self.address, pitch: self.pitch, region: self.region }
    }
}
