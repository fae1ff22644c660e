//! A batch's memory on the device, as its consumer uses it.

#![expect(unsafe_code, reason = "a consumer's stream is a raw handle; pixels are copied to raw addresses")]

use super::slot::Slot;
use super::unfit;
use crate::device::cuda::driver::{CudaError, DevicePtr, wait_for_device};
use crate::device::cuda::failed;
use crate::device::{Device, images::DeviceMemory};
use crate::error::{Result, bail};
use std::ffi::c_void;

impl DeviceMemory for Slot {
    fn device(&self) -> Device {
        Device::Cuda { ordinal: self.engine.context.ordinal() }
    }

    unsafe fn use_on(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: the stream is one of this device's primary context, as ours are, and alive.
        unsafe { self.hold_back(stream) }?;
        // SAFETY: as is asked of the caller.
        unsafe { self.state().consumers.add(stream) };
        Ok(())
    }

    unsafe fn use_on_passing(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: as in `use_on`.
        unsafe { self.hold_back(stream) }?;
        self.state().consumers.add_passing();
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        self.done.synchronize().map_err(|error| self.failed(&error))?;
        self.check()
    }

    fn to_host(&self, first: DevicePtr, bytes: usize) -> Result<Vec<u8>> {
        let engine = &self.engine;
        let mut bytes = vec![0u8; bytes];
        let mut copy = || -> Result<(), CudaError> {
            engine.download.wait(&self.done)?;
            if !bytes.is_empty() {
                // SAFETY: the pixels reach at least that far and are finished by then; the Vec lives until the wait below,
                // which is needed: of copies to ordinary memory CUDA says only that they "might be synchronous".
                unsafe { engine.download.copy_to_host(bytes.as_mut_ptr(), first, bytes.len()) }?;
            }
            engine.download.synchronize()
        };
        if let Err(error) = copy() {
            // The Vec must not be freed under a copy.
            wait_for_device(&engine.context);
            return Err(self.failed(&error));
        }
        self.check()?;
        Ok(bytes)
    }
}

impl Slot {
    /// What a consumer's stream gets from now on begins when the pixels are finished.
    ///
    /// # Safety
    /// `stream` is a live stream of this device's primary context.
    unsafe fn hold_back(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: as asked of the caller.
        let waited = unsafe {
            match self.engine.context.is_captured(stream) {
                Ok(true) => bail!(
                    "the stream is being captured into a CUDA graph, which would read this batch's memory whenever it is \
                     replayed: take the batch before the capture, and copy it into a tensor that the graph reads"
                ),
                Ok(false) => self.done.hold_back(stream),
                Err(error) => Err(error),
            }
        };
        waited.map_err(|error| self.failed(&error))
    }

    /// What the kernels of this batch or of another one have reported so far.
    fn check(&self) -> Result<()> {
        self.engine.errors.check().map_err(|cause| unfit(self.engine.context.ordinal(), &cause))
    }

    fn failed(&self, error: &CudaError) -> crate::error::Error {
        failed(self.engine.context.ordinal(), error)
    }
}
