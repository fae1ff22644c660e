//! One view of a batch: an output of its own of the same samples.

use super::one_hot::one_hot;
use super::{Batch, BatchObjects, ViewArrays};
use crate::device::DeviceImages;
use crate::device::backend::ReadyBuffer;
use crate::error::Result;
use crate::geometry::Size;
use crate::output::DType;
use half::{bf16, f16};
use std::ffi::c_void;
use std::ops::Range;

/// One view of all samples of a [`Batch`], whose other fields (labels, indices, keys, status) are those of all views.
#[derive(Clone, Copy)]
pub struct BatchView<'a> {
    pub(super) batch: &'a Batch,
    pub(super) arrays: &'a ViewArrays,
}

impl<'a> BatchView<'a> {
    /// `[rows, 3, height, width]` or `[rows, height, width, 3]`; height and width are 0 where nothing is rendered.
    pub fn shape(&self) -> [usize; 4] {
        self.arrays.shape
    }

    /// The number format of its pixels, that of all views.
    pub fn dtype(&self) -> DType {
        self.batch.dtype
    }

    /// The pixels of all rows, without gaps, from an address that is a multiple of 256; empty where they lie in a
    /// device's memory.
    pub fn images(&self) -> &'a [u8] {
        let host = self.batch.buffer().map_or(&[][..], ReadyBuffer::host);
        host.get(self.bytes()).unwrap_or(&[])
    }

    /// Address of the pixels in the host's memory, from where they may be written as well; null where they lie elsewhere.
    pub(crate) fn pixels(&self) -> *mut c_void {
        let first = self.batch.buffer().map_or(std::ptr::null_mut(), |buffer| buffer.host_address());
        match first.is_null() {
            true => first.cast(),
            false => first.wrapping_add(self.arrays.start).cast(),
        }
    }

    /// Height and width of a sample.
    pub(crate) fn sample_size(&self) -> Size {
        self.arrays.size
    }

    /// The pixels in the device's memory; `None` where they lie in the host's.
    pub fn on_device(&self) -> Option<DeviceImages<'a>> {
        self.batch.buffer()?.on_device(self.bytes())
    }

    /// A copy of the pixels in the host's memory, wherever they lie.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub fn to_host(&self) -> Result<Vec<u8>> {
        match self.on_device() {
            Some(images) => images.to_host(),
            None => Ok(self.images().to_vec()),
        }
    }

    /// The values, if the batch is [`DType::F32`] and lies in the host's memory.
    pub fn as_f32(&self) -> Option<&'a [f32]> {
        self.values(DType::F32)
    }

    /// The values, if the batch is [`DType::F16`] and lies in the host's memory.
    pub fn as_f16(&self) -> Option<&'a [f16]> {
        self.values(DType::F16)
    }

    /// The values, if the batch is [`DType::Bf16`] and lies in the host's memory.
    pub fn as_bf16(&self) -> Option<&'a [bf16]> {
        self.values(DType::Bf16)
    }

    /// The values, if the batch is [`DType::U8`] and lies in the host's memory.
    pub fn as_u8(&self) -> Option<&'a [u8]> {
        self.values(DType::U8)
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
        one_hot(&self.arrays.shares, classes, smoothing)
    }

    /// As [`Batch::objects`], where this view shows them.
    pub fn objects(&self) -> Option<&'a BatchObjects> {
        self.arrays.objects.as_ref()
    }

    /// As [`Batch::masks`], moved with the pixels of this view.
    pub fn masks(&self) -> Option<&'a [u8]> {
        self.arrays.masks.as_deref()
    }

    /// As [`Batch::padding`].
    pub fn padding(&self) -> Option<&'a [bool]> {
        self.arrays.padding.as_ref().map(|padding| &padding.pixels[..])
    }

    /// As [`Batch::sizes`].
    pub fn sizes(&self) -> Option<&'a [[i64; 2]]> {
        self.arrays.padding.as_ref().map(|padding| &padding.sizes[..])
    }

    fn values<T: bytemuck::AnyBitPattern>(&self, dtype: DType) -> Option<&'a [T]> {
        let values = || bytemuck::try_cast_slice(self.images()).ok();
        (self.dtype() == dtype && self.on_device().is_none()).then(values).flatten()
    }

    fn bytes(&self) -> Range<usize> {
        let bytes = self.arrays.shape.iter().product::<usize>() * self.dtype().bytes();
        self.arrays.start..self.arrays.start + bytes
    }
}

impl std::fmt::Debug for BatchView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BatchView {{ shape: {:?}, dtype: {:?} }}", self.shape(), self.dtype())
    }
}
