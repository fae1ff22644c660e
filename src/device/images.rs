//! A batch's pixels in a device's memory, as its consumer sees them.

#![expect(unsafe_code, reason = "a consumer's stream is a raw handle")]

use super::Device;
use crate::error::Result;
use std::ffi::c_void;

/// The memory of a batch on a device, which may still be working on it.
pub(crate) trait DeviceMemory {
    fn device(&self) -> Device;

    /// # Safety
    /// As [`DeviceImages::use_on`].
    unsafe fn use_on(&self, stream: *mut c_void) -> Result<()>;

    /// # Safety
    /// As [`DeviceImages::use_on_passing`].
    unsafe fn use_on_passing(&self, stream: *mut c_void) -> Result<()>;

    fn wait(&self) -> Result<()>;

    /// A copy of so many bytes of it, from the address `first` on.
    fn to_host(&self, first: u64, bytes: usize) -> Result<Vec<u8>>;
}

/// The pixels of a batch in a device's memory.
///
/// They may not be finished yet. [`DeviceImages::use_on`] makes work on a stream of the consumer's wait for them without the
/// host waiting; a consumer that has no stream waits with [`DeviceImages::wait`]. Waiting says nothing about what a stream
/// does with the pixels later: only `use_on` keeps their memory from being used again until that is done.
pub struct DeviceImages<'a> {
    memory: &'a dyn DeviceMemory,
    /// Address of the first byte.
    first: u64,
    bytes: usize,
}

impl<'a> DeviceImages<'a> {
    /// These bytes of what begins at the address `start`, which is 0 where there is nothing.
    #[cfg(feature = "cuda")]
    pub(super) fn new(memory: &'a dyn DeviceMemory, start: u64, bytes: &std::ops::Range<usize>) -> Self {
        let first = if start == 0 { 0 } else { start + bytes.start as u64 };
        Self { memory, first, bytes: bytes.len() }
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.memory.device()
    }

    /// Address of the first byte in the device's memory, a multiple of 256; 0 where nothing is rendered.
    pub fn ptr(&self) -> u64 {
        self.first
    }

    /// Bytes of all rows.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Makes what is enqueued on `stream` (a `CUstream` of this device) from now on wait for the finished pixels, and the
    /// next use of their memory wait for what has been enqueued there when the batch is dropped. The host does not wait.
    ///
    /// # Safety
    /// `stream` is a stream of this device's primary context, no per-thread default stream (a handle that means another
    /// stream on another thread), and lives at least until the batch is dropped; where it is captured into a CUDA graph just
    /// then, until the loader and all its batches are gone.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] where the stream is being captured into a CUDA graph, and
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub unsafe fn use_on(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: `stream` is one of this device's primary context, and of no single thread, and lives until the batch is dropped.
        unsafe { self.memory.use_on(stream) }
    }

    /// As [`DeviceImages::use_on`], for a stream that may be destroyed before the batch is dropped. The next use of the memory
    /// waits for all that the device was given until then, and so does the host.
    ///
    /// # Safety
    /// `stream` is a stream of this device's primary context, no per-thread default stream, and alive now.
    ///
    /// # Errors
    /// As [`DeviceImages::use_on`].
    pub unsafe fn use_on_passing(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: `stream` is one of this device's primary context, of no single thread, and alive.
        unsafe { self.memory.use_on_passing(stream) }
    }

    /// Waits until the pixels are finished.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub fn wait(&self) -> Result<()> {
        self.memory.wait()
    }

    /// A copy in the host's memory.
    ///
    /// # Errors
    /// As [`DeviceImages::wait`].
    pub fn to_host(&self) -> Result<Vec<u8>> {
        self.memory.to_host(self.first, self.bytes)
    }
}
