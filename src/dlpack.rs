//! Batches as DLPack tensors, which other libraries use without a copy.
//!
//! A [`Tensor`] is a view of one [`Field`] of a batch, and an owner of the whole batch: the memory returns to the
//! loader when the last view of the batch and the last `Arc` of it are gone, and not before. Views stay valid after the
//! epoch and the loader are dropped, and may be dropped on any thread.
//!
//! ```no_run
//! # use feedline::{loader::Loader, source::Folder};
//! # use std::sync::Arc;
//! # let loader = Loader::builder(Folder::open("train")?).build()?;
//! for batch in loader.epoch(0) {
//!     let tensor = Arc::new(batch?).to_dlpack();
//!     tensor.wait()?;
//!     let managed = tensor.into_raw(); // for a library that calls its deleter
//!     # drop(unsafe { feedline::dlpack::Tensor::from_raw(managed) });
//! }
//! # Ok::<(), feedline::error::Error>(())
//! ```

#![expect(unsafe_code, reason = "DLPack is a C ABI: raw tensors that somebody else deletes")]

pub mod abi;
mod field;
mod managed;
#[cfg(feature = "tch")]
pub mod tch;

pub use field::Field;

use crate::device::{Device, DeviceImages};
use crate::error::{Result, bail};
use crate::loader::Batch;
use abi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, READ_ONLY};
use field::View;
use std::ffi::c_void;
use std::sync::Arc;

/// A view of one field of a batch, which keeps the batch alive.
///
/// Its elements are contiguous. Pixels are aligned to 256 bytes, as DLPack requires; the other fields are aligned for
/// their element type.
pub struct Tensor {
    batch: Arc<Batch>,
    /// Its pointer is valid as long as `batch` is alive.
    view: View,
    flags: u64,
}

impl Batch {
    /// The pixels as a tensor. On a device they may not be finished: see [`Tensor::use_on`] and [`Tensor::wait`].
    pub fn to_dlpack(self: &Arc<Self>) -> Tensor {
        Tensor::new(self, field::images(self.first()))
    }

    /// A field as a tensor; `None` if the batch does not have it. Masks, masks of objects and pictures lie where the pixels
    /// are, and may be as unfinished there; all other fields, padding included, are in the host's memory.
    pub fn field_to_dlpack(self: &Arc<Self>, field: Field) -> Option<Tensor> {
        self.view_to_dlpack(0, field)
    }

    /// A field of view `number` as a tensor; `None` if there is no such view, or the batch does not have the field.
    pub fn view_to_dlpack(self: &Arc<Self>, number: usize, field: Field) -> Option<Tensor> {
        field::view(self, self.view(number)?, field).map(|view| Tensor::new(self, view))
    }
}

impl Batch {
    /// The pixels of [`Batch::picture`] in view `number` as a tensor; `None` if there is no such view or picture.
    pub fn picture_to_dlpack(self: &Arc<Self>, number: usize, name: &str) -> Option<Tensor> {
        let picture = self.picture_names().position(|own| own == name)?;
        self.view_to_dlpack(number, Field::Picture(picture as u8))
    }
}

impl Tensor {
    fn new(batch: &Arc<Batch>, view: View) -> Self {
        Self { batch: Arc::clone(batch), view, flags: READ_ONLY }
    }

    /// The batch that it views.
    pub fn batch(&self) -> &Arc<Batch> {
        &self.batch
    }

    /// Address of the first element, in the memory of [`Tensor::device`]; null if there is none.
    pub fn data(&self) -> *const c_void {
        self.view.data
    }

    /// Length of each axis; strides are those of a row-major array without gaps.
    pub fn shape(&self) -> &[i64] {
        &self.view.shape
    }

    /// The type of an element.
    pub fn dtype(&self) -> DLDataType {
        self.view.dtype
    }

    /// Bytes of all elements.
    pub fn bytes(&self) -> usize {
        self.shape().iter().product::<i64>() as usize * self.view.dtype.bytes()
    }

    /// The device that holds the elements.
    pub fn device(&self) -> Device {
        self.view.device
    }

    /// The same as a DLPack device.
    pub fn dl_device(&self) -> DLDevice {
        self.view.dl_device()
    }

    /// Whether it is marked read-only for its users.
    pub fn is_read_only(&self) -> bool {
        self.flags & READ_ONLY != 0
    }

    /// Removes the read-only mark. Only pixels lose it: the memory of the other fields is never written.
    ///
    /// # Safety
    /// During a write there is no other read or write: no slice of the batch's pixels is alive, and no other view of
    /// them is in use.
    pub unsafe fn allow_writes(mut self) -> Self {
        if self.view.is_pixels {
            self.flags &= !READ_ONLY;
        }
        self
    }

    /// Waits until the elements are finished; in the host's memory they always are.
    ///
    /// As with [`crate::device::DeviceImages::wait`], this does not cover later work of a stream.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] if the device has failed.
    pub fn wait(&self) -> Result<()> {
        if self.device() == Device::Cpu { Ok(()) } else { self.batch.wait() }
    }

    /// Work that is enqueued on a stream from now on waits for the finished elements, and the next use of their memory
    /// waits for the work that is enqueued there when the last view is dropped. The host does not wait. In the host's
    /// memory this has no effect.
    ///
    /// # Safety
    /// As [`crate::device::DeviceImages::use_on`]; the stream lives until the last view of the batch is dropped.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub unsafe fn use_on(&self, stream: *mut c_void) -> Result<()> {
        match self.on_device() {
            // SAFETY: the stream is one of the batch's device, and lives until the batch is dropped, which its last view does.
            Some(images) => unsafe { images.use_on(stream) },
            None => Ok(()),
        }
    }

    fn on_device(&self) -> Option<DeviceImages<'_>> {
        self.batch.on_device().filter(|_| self.device() != Device::Cpu)
    }

    /// [`Tensor::use_on`] for a stream given like the `stream` of Python's `__dlpack__`: on CUDA nothing or 1 is the
    /// default stream, -1 asks for no ordering, and a number greater than 2 is a stream's handle.
    ///
    /// # Safety
    /// As [`Tensor::use_on`], if a handle is given. With -1 the consumer orders its work itself, and has finished it
    /// when it drops the view.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] for a number that names no stream here: any but -1 in the host's memory; on CUDA 0, which the
    /// convention leaves undefined, and 2, the per-thread default stream, since a view may be dropped on another
    /// thread. Otherwise as [`Tensor::use_on`].
    pub unsafe fn use_on_numbered(&self, stream: Option<i64>) -> Result<()> {
        match self.handle(stream)? {
            // SAFETY: null is the default stream, which all threads share and which is always there; a handle is one of this device's,
            // and lives until the last view is dropped.
            Some(handle) => unsafe { self.use_on(handle) },
            None => Ok(()),
        }
    }

    /// [`Tensor::use_on_numbered`] for a stream that may be destroyed before the last view is dropped. Unless it is the default
    /// stream, the next use of the memory waits for all that the device was given until then, and so does the host.
    ///
    /// # Safety
    /// As [`crate::device::DeviceImages::use_on_passing`], if a handle is given.
    ///
    /// # Errors
    /// As [`Tensor::use_on_numbered`].
    pub unsafe fn use_on_passing_numbered(&self, stream: Option<i64>) -> Result<()> {
        match (self.handle(stream)?, self.on_device()) {
            // SAFETY: the default stream, as in `use_on_numbered`.
            (Some(handle), _) if handle.is_null() => unsafe { self.use_on(handle) },
            // SAFETY: a handle is one of this device's, and alive.
            (Some(handle), Some(images)) => unsafe { images.use_on_passing(handle) },
            _ => Ok(()),
        }
    }

    /// The stream that has this number in DLPack's convention, or nothing where there is nothing to be ordered.
    fn handle(&self, stream: Option<i64>) -> Result<Option<*mut c_void>> {
        let handle = match (self.device(), stream) {
            (_, Some(-1)) | (Device::Cpu, None) => return Ok(None),
            (Device::Cpu, Some(number)) => {
                bail!(
                    "stream {number} was named for a tensor in the host's memory, which has no streams: name none"
                );
            }
            (_, None | Some(1)) => 0,
            (_, Some(number)) if number > 2 => number as usize,
            (device, Some(number)) => {
                bail!(
                    "stream {number} cannot be waited for on {device:?}: name 1 (the default stream), the handle of a \
                     stream, or -1 for no order"
                );
            }
        };
        Ok(Some(std::ptr::without_provenance_mut(handle)))
    }

    /// The tensor in the layout of DLPack 1, for a library that calls its deleter once, on any thread. Until then it
    /// keeps the batch alive.
    pub fn into_raw(self) -> *mut DLManagedTensorVersioned {
        managed::versioned(self)
    }

    /// The tensor in the layout before DLPack 1, for libraries that know no other. This layout has no read-only mark:
    /// the caller has to tell the consumer.
    pub fn into_raw_unversioned(self) -> *mut DLManagedTensor {
        managed::unversioned(self.view, self.batch)
    }

    /// Takes back what [`Tensor::into_raw`] gave.
    ///
    /// # Safety
    /// `raw` is from [`Tensor::into_raw`], unchanged, neither deleted nor taken back before.
    pub unsafe fn from_raw(raw: *mut DLManagedTensorVersioned) -> Self {
        // SAFETY: it is what `managed::versioned` gave, unchanged, and nobody has deleted it or taken it back.
        unsafe { managed::take_back(raw) }
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let View { shape, dtype, device, .. } = &self.view;
        write!(f, "Tensor {{ shape: {shape:?}, dtype: {dtype:?}, device: {device:?} }}")
    }
}
