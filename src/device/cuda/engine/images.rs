//! A batch's pixels in a device's memory, as its consumer sees them.

#![expect(unsafe_code, reason = "a consumer's stream is a raw handle; pixels are copied to raw addresses")]

use super::failed;
use super::quiet::settle;
use super::slot::{Consumer, Core};
use crate::device::Device;
use crate::device::cuda::driver::{CudaError, DevicePtr};
use crate::error::Result;
use std::ffi::c_void;

/// The pixels of a batch in a device's memory.
///
/// They may not be finished yet. Work on a stream of the consumer's is ordered behind them by
/// [`DeviceImages::use_on`], without the host waiting; a consumer that has no stream waits with [`DeviceImages::wait`].
/// Waiting says nothing about what a stream does with the pixels later: only `use_on` keeps their memory from being used
/// again until that is done.
pub struct DeviceImages<'a> {
    core: &'a Core,
    bytes: usize,
}

impl<'a> DeviceImages<'a> {
    pub(super) fn new(core: &'a Core, bytes: usize) -> Self {
        Self { core, bytes }
    }

    /// Where the pixels lie.
    pub fn device(&self) -> Device {
        Device::Cuda { ordinal: self.core.engine.context.ordinal() }
    }

    /// Address of the first byte in the device's memory, a multiple of 256; 0 where nothing is rendered.
    pub fn ptr(&self) -> DevicePtr {
        self.core.address()
    }

    /// Bytes of all rows.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Orders what is enqueued on `stream` (a `CUstream` of this device) from now on behind the finished pixels, and
    /// their memory's next use behind what has been enqueued there when the batch is dropped. The host does not wait.
    ///
    /// # Safety
    /// `stream` is a stream of this device's primary context, no per-thread default stream (a handle that means another
    /// stream on another thread), and lives at least until the batch is dropped.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub unsafe fn use_on(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        let waited = unsafe { self.core.done.hold_back(stream) };
        waited.map_err(|error| self.failed(&error))?;
        let mut state = self.core.state();
        if !state.consumers.iter().any(|known| known.0 == stream) {
            state.consumers.push(Consumer(stream));
        }
        Ok(())
    }

    /// Waits until the pixels are finished.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub fn wait(&self) -> Result<()> {
        self.core.done.synchronize().map_err(|error| self.failed(&error))
    }

    /// A copy in the host's memory.
    ///
    /// # Errors
    /// As [`DeviceImages::wait`].
    pub fn to_host(&self) -> Result<Vec<u8>> {
        let engine = &self.core.engine;
        let mut bytes = vec![0u8; self.bytes];
        let mut copy = || -> Result<(), CudaError> {
            engine.download.wait(&self.core.done)?;
            if !bytes.is_empty() {
                // SAFETY: the pixels are at least `bytes` long and finished by then; the Vec lives until the wait below,
                // which is needed: of copies to ordinary memory CUDA says only that they "might be synchronous".
                unsafe { engine.download.copy_to_host(bytes.as_mut_ptr(), self.ptr(), bytes.len()) }?;
            }
            engine.download.synchronize()
        };
        if let Err(error) = copy() {
            // The Vec must not be freed under a copy.
            settle(&engine.context);
            return Err(self.failed(&error));
        }
        Ok(bytes)
    }

    fn failed(&self, error: &CudaError) -> crate::error::Error {
        failed(self.core.engine.context.ordinal(), error)
    }
}
