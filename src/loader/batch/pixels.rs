//! One array of pixels of a batch: the images of a view, or what is shown beside them.

use super::Batch;
use crate::device::DeviceImages;
use crate::device::backend::ReadyBuffer;
use crate::error::Result;
use crate::output::{DType, Layout, Output};
use half::{bf16, f16};
use std::ffi::c_void;
use std::ops::Range;

/// Where an array of pixels lies in the memory of its batch, and what it holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plane {
    start: usize,
    /// The first `axes` of them.
    shape: [usize; 4],
    axes: usize,
    dtype: DType,
}

impl Plane {
    /// `rows` rows that begin at `start`.
    pub(super) fn new(start: usize, output: &Output, rows: usize) -> Self {
        let (dtype, [n, c, height, width]) = (output.dtype, output.shape(rows));
        match output.layout {
            Layout::Nchw | Layout::Nhwc => Self { start, shape: [n, c, height, width], axes: 4, dtype },
            Layout::Nhw | Layout::NhwWide => Self { start, shape: [n, height, width, 1], axes: 3, dtype },
        }
    }

    /// Images that are not rendered.
    pub(super) fn none(rows: usize) -> Self {
        Self { start: 0, shape: [rows, 3, 0, 0], axes: 4, dtype: DType::U8 }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape[..self.axes]
    }

    fn bytes(&self) -> Range<usize> {
        let bytes = self.shape.iter().product::<usize>() * self.dtype.bytes();
        self.start..self.start + bytes
    }
}

/// Pixels of all rows of a [`Batch`]: semantic masks, depth maps or second images. They lie where the batch's images do.
#[derive(Clone, Copy)]
pub struct BatchPixels<'a> {
    pub(super) batch: &'a Batch,
    pub(super) plane: &'a Plane,
}

impl<'a> BatchPixels<'a> {
    /// `[rows, height, width]` where a pixel has one value, else as [`Batch::shape`].
    pub fn shape(&self) -> &'a [usize] {
        self.plane.shape()
    }

    /// The number format.
    pub fn dtype(&self) -> DType {
        self.plane.dtype
    }

    /// The bytes of all rows, without gaps, from an address that is a multiple of 256; empty where they lie in a device's
    /// memory.
    pub fn bytes(&self) -> &'a [u8] {
        let host = self.batch.buffer().map_or(&[][..], ReadyBuffer::host);
        host.get(self.plane.bytes()).unwrap_or(&[])
    }

    /// Their address in the host's memory, from where they may be written as well; null where they lie elsewhere.
    pub(crate) fn address(&self) -> *mut c_void {
        let first = self.batch.buffer().map_or(std::ptr::null_mut(), |buffer| buffer.host_address());
        match first.is_null() {
            true => first.cast(),
            false => first.wrapping_add(self.plane.start).cast(),
        }
    }

    /// The pixels in the device's memory; `None` where they lie in the host's.
    pub fn on_device(&self) -> Option<DeviceImages<'a>> {
        self.batch.buffer()?.on_device(self.plane.bytes())
    }

    /// A copy in the host's memory, wherever they lie.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub fn to_host(&self) -> Result<Vec<u8>> {
        match self.on_device() {
            Some(images) => images.to_host(),
            None => Ok(self.bytes().to_vec()),
        }
    }

    /// The values, if they are [`DType::F32`] and lie in the host's memory.
    pub fn as_f32(&self) -> Option<&'a [f32]> {
        self.values(DType::F32)
    }

    /// The values, if they are [`DType::F16`] and lie in the host's memory.
    pub fn as_f16(&self) -> Option<&'a [f16]> {
        self.values(DType::F16)
    }

    /// The values, if they are [`DType::Bf16`] and lie in the host's memory.
    pub fn as_bf16(&self) -> Option<&'a [bf16]> {
        self.values(DType::Bf16)
    }

    /// The values, if they are [`DType::U8`] and lie in the host's memory.
    pub fn as_u8(&self) -> Option<&'a [u8]> {
        self.values(DType::U8)
    }

    fn values<T: bytemuck::AnyBitPattern>(&self, dtype: DType) -> Option<&'a [T]> {
        let values = || bytemuck::try_cast_slice(self.bytes()).ok();
        (self.dtype() == dtype && self.on_device().is_none()).then(values).flatten()
    }
}

impl std::fmt::Debug for BatchPixels<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BatchPixels {{ shape: {:?}, dtype: {:?} }}", self.shape(), self.dtype())
    }
}
