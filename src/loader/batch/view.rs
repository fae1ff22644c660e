//! One view of a batch: an output of its own of the same samples.

use super::one_hot::one_hot;
use super::pixels::BatchPixels;
use super::{Batch, BatchObjects, ObjectMaskPixels, ViewArrays};
use crate::device::DeviceImages;
use crate::error::Result;
use crate::geometry::Size;
use crate::output::DType;
use crate::plan::Placement;
use half::{bf16, f16};

/// One view of all samples of a [`Batch`], whose other fields (labels, indices, keys, status) are those of all views.
#[derive(Clone, Copy)]
pub struct BatchView<'a> {
    pub(super) batch: &'a Batch,
    pub(super) arrays: &'a ViewArrays,
}

impl<'a> BatchView<'a> {
    /// `[rows, 3, height, width]` or `[rows, height, width, 3]`; height and width are 0 where nothing is rendered.
    pub fn shape(&self) -> [usize; 4] {
        let mut shape = [0; 4];
        shape.iter_mut().zip(self.arrays.images.shape()).for_each(|(to, &length)| *to = length);
        shape
    }

    /// Rows, and height and width of the samples, whatever the order of axes; 0 where nothing is rendered.
    pub fn image_size(&self) -> [usize; 3] {
        let Size { width, height } = self.arrays.size;
        [self.batch.len(), height as usize, width as usize]
    }

    /// The number format of its pixels, that of all views.
    pub fn dtype(&self) -> DType {
        self.batch.dtype
    }

    pub(crate) fn pixels(&self) -> BatchPixels<'a> {
        BatchPixels { batch: self.batch, plane: &self.arrays.images }
    }

    /// The pixels of all rows, without gaps, from an address that is a multiple of 256; empty where they lie in a
    /// device's memory.
    pub fn images(&self) -> &'a [u8] {
        self.pixels().bytes()
    }

    /// Height and width of a sample.
    pub(crate) fn sample_size(&self) -> Size {
        self.arrays.size
    }

    /// The pixels in the device's memory; `None` where they lie in the host's.
    pub fn on_device(&self) -> Option<DeviceImages<'a>> {
        self.pixels().on_device()
    }

    /// A copy of the pixels in the host's memory, wherever they lie.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub fn to_host(&self) -> Result<Vec<u8>> {
        self.pixels().to_host()
    }

    /// The values, if the batch is [`DType::F32`] and lies in the host's memory.
    pub fn as_f32(&self) -> Option<&'a [f32]> {
        self.pixels().as_f32()
    }

    /// The values, if the batch is [`DType::F16`] and lies in the host's memory.
    pub fn as_f16(&self) -> Option<&'a [f16]> {
        self.pixels().as_f16()
    }

    /// The values, if the batch is [`DType::Bf16`] and lies in the host's memory.
    pub fn as_bf16(&self) -> Option<&'a [bf16]> {
        self.pixels().as_bf16()
    }

    /// The values, if the batch is [`DType::U8`] and lies in the host's memory.
    pub fn as_u8(&self) -> Option<&'a [u8]> {
        self.pixels().as_u8()
    }

    /// As [`Batch::label_shares`], of this view.
    pub fn label_shares(&self, row: usize) -> &'a [(i64, f32)] {
        &self.arrays.shares[row]
    }

    /// As [`Batch::one_hot`], of this view.
    ///
    /// # Errors
    /// As [`Batch::one_hot`].
    pub fn one_hot(&self, classes: usize, smoothing: f32) -> Result<Vec<f32>> {
        one_hot(&self.arrays.shares, &self.arrays.labelled, classes, smoothing)
    }

    /// As [`Batch::objects`], where this view shows them.
    pub fn objects(&self) -> Option<&'a BatchObjects> {
        self.arrays.objects.as_ref()
    }

    /// As [`Batch::masks`], moved with the pixels of this view.
    pub fn masks(&self) -> Option<&'a [u8]> {
        self.mask_pixels()?.as_u8()
    }

    /// As [`Batch::mask_pixels`], moved with the pixels of this view.
    pub fn mask_pixels(&self) -> Option<BatchPixels<'a>> {
        Some(BatchPixels { batch: self.batch, plane: self.arrays.masks.as_ref()? })
    }

    /// As [`Batch::object_mask_pixels`], of what this view shows.
    pub fn object_mask_pixels(&self) -> Option<ObjectMaskPixels<'a>> {
        ObjectMaskPixels::of(self.batch, self.arrays)
    }

    /// As [`Batch::picture`], moved with the pixels of this view.
    pub fn picture(&self, name: &str) -> Option<BatchPixels<'a>> {
        let (_, plane) = self.arrays.pictures.iter().find(|(own, _)| **own == *name)?;
        Some(BatchPixels { batch: self.batch, plane })
    }

    /// As [`Batch::padding`].
    pub fn padding(&self) -> Option<&'a [bool]> {
        self.arrays.padding.as_ref().map(|padding| &padding.pixels[..])
    }

    /// As [`Batch::sizes`].
    pub fn sizes(&self) -> Option<&'a [[i64; 2]]> {
        self.arrays.padding.as_ref().map(|padding| &padding.sizes[..])
    }

    /// As [`Batch::placements`], in the samples of this view.
    pub fn placements(&self) -> &'a [Option<Placement>] {
        &self.arrays.placements
    }
}

impl std::fmt::Debug for BatchView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BatchView {{ shape: {:?}, dtype: {:?} }}", self.shape(), self.dtype())
    }
}
