//! A staged row on its way through a submission: where its images lie in the arena, and whether it failed.

use super::arena::ALIGNMENT;
use super::image_pool::DeviceImagePool;
use super::source_bytes::{PITCH, SourceBytes, StagedFile, StagedPixels};
use super::staged::{SharedUse, StagedImage, StagedRow};
use crate::device::cuda::decode::{Dispatch, Target};
use crate::device::cuda::driver::DevicePtr;
use crate::device::cuda::render::Surface;
use crate::error::Cause;
use crate::geometry::{Rect, Size};

/// One row.
pub(super) struct SubmittedRow {
    /// Its index in the batch.
    pub(super) row: usize,
    pub(super) staged: StagedRow,
    /// Its index in the output, where it has one already.
    pub(super) output: Option<usize>,
    /// By image.
    pub(super) locations: Vec<Location>,
    /// The index of the bad image in the source, and what is wrong with it.
    pub(super) failed: Option<(u64, Cause)>,
}

/// Where an image lies.
#[derive(Clone, Copy)]
pub(super) struct Location {
    /// From the arena's first byte; `None` where it lies elsewhere.
    offset: Option<usize>,
    target: Target,
}

impl Location {
    /// Lays an image out in the arena at `start`, and returns the end.
    pub(super) fn lay_out(&mut self, start: usize) -> usize {
        self.offset = Some(start);
        start + self.target.bytes().next_multiple_of(ALIGNMENT)
    }
}

impl SubmittedRow {
    /// What was staged for a row; `None` where nothing was.
    pub(super) fn new((row, staged): (usize, Option<StagedRow>)) -> Option<Self> {
        let locations = Vec::new();
        Some(Self { row, staged: staged?, output: None, locations, failed: None })
    }

    /// Places images that samples share in memory outside of the arena. Where there is no room, this sample decodes for
    /// itself what it reads, or all of it where the scan of all is there; an image that cannot be decoded at all fails the
    /// row.
    pub(super) fn place_shared(&mut self, pool: &mut DeviceImagePool, sub_batch: u64) {
        for (number, staged) in self.staged.images.iter_mut().enumerate() {
            let SharedUse { image, wanted } = match staged {
                StagedImage::Shared(shared) => shared.clone(),
                StagedImage::Placed(_, placement) => {
                    pool.touch(placement, sub_batch);
                    continue;
                }
                StagedImage::Own(_) => continue,
            };
            let index = self.staged.plans.images().get(number).map_or(0, |image| image.index);
            *staged = match pool.place(&image, index, sub_batch) {
                Some(placement) => StagedImage::Placed(image, placement),
                None => match image.staged() {
                    Some(SourceBytes::File(file)) => {
                        StagedImage::Own(SourceBytes::File(StagedFile { wanted, shared: true, ..file }))
                    }
                    Some(pixels) => StagedImage::Own(pixels),
                    None => continue,
                },
            };
        }
        self.fail_with_shared();
    }

    /// Fails the row where it shows a shared image that cannot be decoded.
    pub(super) fn fail_with_shared(&mut self) {
        for (number, image) in self.staged.images.iter().enumerate() {
            let (StagedImage::Shared(SharedUse { image, .. }) | StagedImage::Placed(image, _)) = image else {
                continue;
            };
            if self.failed.is_none()
                && let Some(cause) = image.bad()
            {
                self.failed = Some((self.index(number), cause));
            }
        }
    }

    /// How many of its images lie in the pool.
    pub(super) fn placed(&self) -> usize {
        self.staged.images.iter().filter(|image| matches!(image, StagedImage::Placed(..))).count()
    }

    /// What its own images are made from, with their addresses, once they are laid out.
    pub(super) fn own_images_at(&self) -> impl Iterator<Item = (&SourceBytes, DevicePtr)> {
        self.staged.images.iter().zip(&self.locations).filter_map(|(image, location)| match image {
            StagedImage::Own(bytes) => Some((bytes, location.target.ptr)),
            _ => None,
        })
    }

    /// Lays its own images out in the arena from `start` on, and returns the end.
    pub(super) fn lay_out(&mut self, start: usize, dispatch: Option<&Dispatch>) -> usize {
        self.locations.clear();
        let mut offset = start;
        for image in &self.staged.images {
            let (region, pitch) = match image {
                StagedImage::Placed(_, placement) => {
                    self.locations.push(Location { offset: None, target: placement.target });
                    continue;
                }
                // One that cannot be decoded; the row has failed.
                StagedImage::Shared(_) => (Rect::default(), 0),
                StagedImage::Own(SourceBytes::Pixels(pixels)) => (pixels.region, pixels.pitch),
                StagedImage::Own(SourceBytes::File(file)) => {
                    let region = file.target_region(dispatch);
                    (region, (region.width as usize * 3).next_multiple_of(PITCH))
                }
            };
            let mut location = Location { offset: None, target: Target { ptr: 0, pitch, region } };
            offset = location.lay_out(offset);
            self.locations.push(location);
        }
        offset
    }

    /// The images that lie in the arena, with what they are made from, where they are not another one's.
    pub(super) fn laid_out(&mut self) -> impl Iterator<Item = (Option<&SourceBytes>, &mut Location)> {
        self.staged.images.iter().zip(&mut self.locations).filter_map(|(image, location)| match image {
            StagedImage::Own(bytes) => Some((Some(bytes), location)),
            StagedImage::Shared(_) => Some((None, location)),
            StagedImage::Placed(..) => None,
        })
    }

    /// Fails the row where its images need more than `budget`.
    pub(super) fn refuse_beyond(&mut self, budget: usize) {
        let bytes = self.end();
        if bytes > budget && self.failed.is_none() {
            let index = self.index(0);
            let cause = format!(
                "its images take {bytes} bytes of the device's memory, and {budget} is the most that a sample may \
                 have: raise device_memory, or crop or scale the files"
            );
            self.failed = Some((index, cause.into()));
        }
    }

    /// Where the last image in the arena ends.
    pub(super) fn end(&self) -> usize {
        let ends =
            self.locations.iter().filter_map(|location| Some(location.offset? + location.target.bytes()));
        ends.max().unwrap_or(0)
    }

    /// Sets the addresses, once that of the arena is known.
    pub(super) fn rebase(&mut self, base: DevicePtr) {
        for location in &mut self.locations {
            if let Some(offset) = location.offset {
                location.target.ptr = base + offset as DevicePtr;
            }
        }
    }

    /// The files that the device is to decode: the image's index in the sample, the file, and where to.
    pub(super) fn files(&self) -> impl Iterator<Item = (usize, &StagedFile, Target)> {
        let good = self.failed.is_none();
        let images = self.staged.images.iter().zip(&self.locations).enumerate().filter(move |_| good);
        images.filter_map(|(number, (image, location))| match image {
            StagedImage::Own(SourceBytes::File(file)) => Some((number, file, location.target)),
            _ => None,
        })
    }

    /// Decodes file `number` by `decode`, since the device cannot; its decoders are done with a file that they have
    /// refused. An image that `decode` cannot decode either fails the row.
    pub(super) fn decode_file(
        &mut self,
        number: usize,
        decode: impl FnOnce(&StagedFile) -> Result<StagedPixels, Cause>,
    ) {
        let Some(StagedImage::Own(bytes)) = self.staged.images.get_mut(number) else { return };
        let (None, SourceBytes::File(file)) = (&self.failed, &*bytes) else { return };
        match decode(file) {
            Ok(pixels) => {
                if let Some(location) = self.locations.get_mut(number) {
                    (location.target.region, location.target.pitch) = (pixels.region, pixels.pitch);
                }
                *bytes = SourceBytes::Pixels(pixels);
            }
            Err(cause) => self.failed = Some((self.index(number), cause)),
        }
    }

    /// The index of image `number` in the source.
    pub(super) fn index(&self, number: usize) -> u64 {
        self.staged.plans.images().get(number).map_or(0, |image| image.index)
    }

    /// Whether image `number` is a record's image, and not a picture beside it.
    pub(super) fn is_image(&self, number: usize) -> bool {
        self.staged.plans.images().get(number).is_some_and(|image| image.modality.is_image())
    }

    /// What the kernels read, image by image.
    pub(super) fn surfaces(&self) -> Vec<Surface> {
        let stored = |number: usize| {
            self.staged.plans.images().get(number).map_or(Size::default(), |image| image.stored)
        };
        let surface = |(number, location): (usize, &Location)| {
            let Target { ptr, pitch, region } = location.target;
            Surface { ptr, pitch: pitch as u32, region, stored: stored(number) }
        };
        self.locations.iter().enumerate().map(surface).collect()
    }
}
