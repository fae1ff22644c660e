//! A staged row on its way through a submission: where its images lie in the arena, and whether it failed.

use super::Route;
use super::arena::{ALIGNMENT, Arena};
use super::slot::{Shared, StagedImage, StagedPixels, StagedRow};
use super::stock::{Hung, Stock};
use super::submit::Submission;
use super::worker::{Fallback, PITCH};
use crate::device::cuda::decode::{Capabilities, Target};
use crate::device::cuda::driver::{CudaError, DevicePtr};
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

/// Where an image lies.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// From the arena's first byte; `None` where it lies elsewhere.
    offset: Option<usize>,
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

    /// Finds places outside of the arena for images that samples share. Where there is none, this sample decodes for itself
    /// what it reads; an image that nobody can decode fails the entry.
    pub(super) fn hang(
        &mut self,
        stock: &mut Stock,
        part: u64,
        arenas: &[Arena; 2],
    ) -> Result<(), CudaError> {
        for number in 0..self.staged.images.len() {
            let Shared { exhibit, wanted } = match &self.staged.images[number] {
                StagedImage::Shared(shared) => shared.clone(),
                StagedImage::Hung(_, hung) => {
                    stock.touch(hung, part);
                    continue;
                }
                _ => continue,
            };
            self.staged.images[number] = match stock.hang(&exhibit, part, arenas)? {
                Some(hung) => StagedImage::Hung(exhibit, hung),
                None => match exhibit.staged() {
                    Some(StagedImage::File { bytes, header, .. }) => {
                        StagedImage::File { bytes, header, wanted, shared: true }
                    }
                    Some(staged) => staged,
                    None => continue,
                },
            };
        }
        self.fail_with_shared();
        Ok(())
    }

    /// Fails the entry where it shows an image that nobody can decode.
    pub(super) fn fail_with_shared(&mut self) {
        for (number, image) in self.staged.images.iter().enumerate() {
            let (StagedImage::Shared(Shared { exhibit, .. }) | StagedImage::Hung(exhibit, _)) = image else {
                continue;
            };
            if self.failed.is_none()
                && let Some(cause) = exhibit.bad()
            {
                self.failed = Some((self.index(number), cause));
            }
        }
    }

    /// How many of its images other samples show as well.
    pub(super) fn shown(&self) -> usize {
        self.staged.images.iter().filter(|image| matches!(image, StagedImage::Hung(..))).count()
    }

    /// Places the other images from `start` on, and returns the end.
    pub(super) fn place(&mut self, start: usize, capabilities: Option<Capabilities>) -> usize {
        self.places.clear();
        let mut offset = start;
        for image in &self.staged.images {
            let (region, pitch) = match image {
                StagedImage::Hung(_, hung) => {
                    self.places.push(Placed::hung(hung));
                    continue;
                }
                // One that nobody can decode; the entry has failed.
                StagedImage::Shared(_) => (Rect::default(), 0),
                StagedImage::Pixels(pixels) => (pixels.region, pixels.pitch),
                StagedImage::File { header, wanted, .. } => {
                    let region = capabilities.map_or(*wanted, |can| can.region(header, *wanted));
                    (region, (region.width as usize * 3).next_multiple_of(PITCH))
                }
            };
            self.places.push(Placed { offset: Some(offset), region, pitch, address: 0 });
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
            let index = self.index(0);
            let cause = format!(
                "its images take {bytes} bytes of the device's memory, and {budget} is the most that a sample may \
                 have: raise device_memory, or crop or scale the files"
            );
            self.failed = Some((index, cause.into()));
        }
    }

    /// Where the last image ends.
    pub(super) fn end(&self) -> usize {
        let ends = self.places.iter().filter_map(|place| Some(place.offset? + place.bytes()));
        ends.max().unwrap_or(0)
    }

    /// Tells the images the arena's address.
    pub(super) fn rebase(&mut self, base: DevicePtr) {
        for place in &mut self.places {
            if let Some(offset) = place.offset {
                place.address = base + offset as DevicePtr;
            }
        }
    }

    /// The files that the device is to decode: number of the image, bytes, header and where to.
    pub(super) fn files(&self) -> impl Iterator<Item = (usize, &[u8], &jpeg::Header, Target)> {
        let good = self.failed.is_none();
        let images = self.staged.images.iter().zip(&self.places).enumerate().filter(move |_| good);
        images.filter_map(|(number, (image, place))| match image {
            StagedImage::File { bytes, header, .. } => {
                Some((number, bytes.bytes(), &**header, place.target()))
            }
            _ => None,
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
        match decode_here(image, fallback, submission) {
            Some(Ok(pixels)) => {
                if let Some(place) = self.places.get_mut(number) {
                    (place.region, place.pitch) = (pixels.region, pixels.pitch);
                }
                *image = StagedImage::Pixels(pixels);
            }
            Some(Err(cause)) => self.failed = Some((self.index(number), cause)),
            None => {}
        }
    }

    /// The index of image `number` in the source.
    fn index(&self, number: usize) -> u64 {
        self.staged.plan.images.get(number).map_or(0, |image| image.index)
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

/// Decodes a file here, to memory of the slot's; nothing for what is no file.
pub(super) fn decode_here(
    image: &StagedImage,
    fallback: &mut Fallback,
    submission: &Submission<'_, '_>,
) -> Option<Result<StagedPixels, Cause>> {
    let StagedImage::File { bytes, header, wanted, shared } = image else { return None };
    let jpeg::Header { size, orientation, .. } = **header;
    let whole = Header { format: Format::Jpeg, size, orientation, jpeg: Some((**header).clone()) };
    let mut decode = || {
        if *shared {
            fallback.decode(bytes.bytes(), &whole, size.rect())?;
        }
        let decoded = fallback.decode(bytes.bytes(), &whole, *wanted)?;
        let reserve = |len| submission.slot.core.state().staging.reserve(len);
        let pixels = StagedPixels::copy(decoded, reserve)?;
        submission.engine.count(Route::Cpu);
        Ok(pixels)
    };
    Some(decode())
}

impl Placed {
    fn hung(hung: &Hung) -> Self {
        let Hung { address, region, pitch, .. } = *hung;
        Self { offset: None, region, pitch, address }
    }

    fn bytes(&self) -> usize {
        self.pitch * self.region.height as usize
    }

    fn target(&self) -> Target {
        Target { ptr: self.address, pitch: self.pitch, region: self.region }
    }
}
