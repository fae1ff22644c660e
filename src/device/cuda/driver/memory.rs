//! Memory that the device can access: its own, and page-locked memory of the host.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::DevicePtr;
use super::account::{GRANULARITY, Purpose};
use super::context::Context;
use super::result::CudaError;
use std::ffi::c_void;
use std::ptr::NonNull;

/// Bytes in the device's memory, uninitialised at first. Freed immediately when dropped: the owner makes sure that the
/// device no longer uses them. Freeing waits for all that the device has to do, a trainer's work included, so what is
/// needed again and again is kept.
pub(crate) struct DeviceBuffer {
    context: Context,
    pointer: DevicePtr,
    bytes: usize,
    purpose: Purpose,
}

impl DeviceBuffer {
    /// Reserves `bytes`, aligned to at least 256.
    pub(crate) fn new(context: &Context, bytes: usize, purpose: Purpose) -> Result<Self, CudaError> {
        let mut pointer = 0;
        // SAFETY: one address to be written. The driver refuses a size of zero.
        context.call(|driver| unsafe { driver.cuMemAlloc_v2(&mut pointer, bytes.max(1)) })?;
        let made = Self { context: context.clone(), pointer, bytes, purpose };
        context.account().take(purpose, made.taken());
        Ok(made)
    }

    /// Bytes of the device's memory that it takes.
    pub(crate) fn taken(&self) -> usize {
        self.bytes.max(1).next_multiple_of(GRANULARITY)
    }

    /// Its start as a device address.
    pub(crate) fn ptr(&self) -> DevicePtr {
        self.pointer
    }

    /// The requested size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        self.context.account().give_back(self.purpose, self.taken());
        // SAFETY: reserved in `new`, freed once. A failure cannot be reported from here.
        drop(self.context.call(|driver| unsafe { driver.cuMemFree_v2(self.pointer) }));
    }
}

/// Page-locked bytes of the host: copies from and to them run concurrently with other work. Zero at first.
///
/// They are ordinary cached memory (flags 0), since the CPU reads them too, which is slow for write-combined pages.
pub(crate) struct PinnedBuffer {
    context: Context,
    /// Start of `bytes` initialised bytes that nothing else refers to.
    pointer: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its memory, and hands out addresses only.
unsafe impl Send for PinnedBuffer {}
// SAFETY: as above.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    /// Reserves `bytes` and fills them with zeros, so that no read of them is ever undefined.
    pub(crate) fn new(context: &Context, bytes: usize) -> Result<Self, CudaError> {
        let mut pointer: *mut c_void = std::ptr::null_mut();
        // SAFETY: one address to be written. The driver refuses a size of zero.
        context.call(|driver| unsafe { driver.cuMemHostAlloc(&mut pointer, bytes.max(1), 0) })?;
        let null = || CudaError { call: "cuMemHostAlloc", code: 0, name: "a null pointer".into() };
        let pointer = NonNull::new(pointer.cast::<u8>()).ok_or_else(null)?;
        // SAFETY: the driver just reserved that many bytes, for this process alone.
        unsafe { pointer.as_ptr().write_bytes(0, bytes) };
        context.account().take(Purpose::Pinned, bytes.max(1));
        Ok(Self { context: context.clone(), pointer, bytes })
    }

    /// The first byte, to read from.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.pointer.as_ptr()
    }

    /// The first byte, to write to. The writer makes sure that nothing else, the device included, reads it meanwhile.
    pub(crate) fn as_mut_ptr(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// The requested size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        self.context.account().give_back(Purpose::Pinned, self.bytes.max(1));
        let pointer = self.pointer.as_ptr().cast::<c_void>();
        // SAFETY: reserved in `new`, freed once. A failure cannot be reported from here.
        drop(self.context.call(|driver| unsafe { driver.cuMemFreeHost(pointer) }));
    }
}
