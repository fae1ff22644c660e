//! A queue of work on the device: copies and kernels, in order.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::DevicePtr;
use super::context::Context;
use super::module::Function;
use super::result::{CudaError, code};
use cudarc::driver::sys::CUstream;
use std::ffi::{c_uint, c_void};

/// The stream does not wait for the default stream, which trainers use.
const NON_BLOCKING: u32 = 1;
/// `CU_STREAM_CAPTURE_STATUS_NONE`.
const NOT_CAPTURED: c_uint = 0;

/// Which kernels go first where those of several streams are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The highest that the device has: a batch is made by many short kernels, one after the other, each of which would wait for
    /// those of a trainer that fill the device.
    High,
    /// The lowest that the device has, which is a trainer's own where it asks for no other.
    Low,
}

/// A queue of work on the device.
pub(crate) struct Stream {
    context: Context,
    stream: CUstream,
}

// SAFETY: the driver takes a stream's handle on any thread.
unsafe impl Send for Stream {}
// SAFETY: as above; each call adds to the queue or asks about it.
unsafe impl Sync for Stream {}

impl Stream {
    /// A new queue, independent of all others.
    pub(crate) fn new(context: &Context, priority: Priority) -> Result<Self, CudaError> {
        let (mut least, mut greatest) = (0, 0);
        let mut stream = std::ptr::null_mut();
        context.call(|driver| {
            // SAFETY: two numbers to be written.
            unsafe { driver.cuCtxGetStreamPriorityRange(&mut least, &mut greatest)? };
            let number = if priority == Priority::High { greatest } else { least };
            // SAFETY: one handle to be written, and a number from the driver's own range.
            unsafe { driver.cuStreamCreateWithPriority(&mut stream, NON_BLOCKING, number) }
        })?;
        Ok(Self { context: context.clone(), stream })
    }

    /// Waits until the queue is empty. Errors of earlier work also appear here.
    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        // SAFETY: the handle is alive.
        self.context.call(|driver| unsafe { driver.cuStreamSynchronize(self.stream) })
    }

    /// The handle, for other CUDA libraries.
    pub(crate) fn raw(&self) -> *mut c_void {
        self.stream.cast()
    }

    /// Copies from the host. Only copies of page-locked memory run concurrently with other work.
    ///
    /// # Safety
    /// Both ranges are `bytes` long, stay alive, and are not written, the target not read either, until the stream has
    /// reached this point.
    pub(crate) unsafe fn copy_to_device(
        &self,
        to: DevicePtr,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both ranges hold as many bytes; until the stream has reached this point they stay, nobody writes them, and
        // nobody reads the target.
        self.context
            .call(|driver| unsafe { driver.cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, self.stream) })
    }

    /// Copies to the host.
    ///
    /// # Safety
    /// As [`Stream::copy_to_device`].
    pub(crate) unsafe fn copy_to_host(
        &self,
        to: *mut u8,
        from: DevicePtr,
        bytes: usize,
    ) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as in `copy_to_device`.
        self.context
            .call(|driver| unsafe { driver.cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, self.stream) })
    }

    /// Fills bytes of the device's memory with zeros.
    ///
    /// # Safety
    /// The range is `bytes` long, stays alive, and is not used otherwise until the stream has reached this point.
    pub(crate) unsafe fn clear(&self, at: DevicePtr, bytes: usize) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range holds as many bytes; it stays, and nobody else uses it, until the stream has reached this point.
        self.context.call(|driver| unsafe { driver.cuMemsetD8Async(at, 0, bytes, self.stream) })
    }

    /// Runs a kernel on a grid of columns and rows of blocks, each of so many threads.
    ///
    /// # Safety
    /// `parameters` point at values of the kernel's own parameter types, in order (they are read before this returns);
    /// the memory that they name stays alive and is not used otherwise until the stream has reached this point.
    pub(crate) unsafe fn launch(
        &self,
        function: &Function,
        [columns, rows]: [u32; 2],
        threads: u32,
        parameters: &mut [*mut c_void],
    ) -> Result<(), CudaError> {
        let (function, stream) = (function.handle(), self.stream);
        let (parameters, extra) = (parameters.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: there is a value of its own type for each of the kernel's parameters, which the driver reads before it returns; the
        // memory that they name stays, and nobody else uses it, until the stream has reached this point. No third dimension, and no memory that blocks share beyond the kernel's own.
        self.context.call(|driver| unsafe {
            driver.cuLaunchKernel(function, columns, rows, 1, threads, 1, 1, 0, stream, parameters, extra)
        })
    }
}

/// Here and not in `context.rs`, which knows of no streams.
impl Context {
    /// Whether what is enqueued on a consumer's stream becomes part of a graph instead of being run.
    ///
    /// # Safety
    /// `stream` is a live stream of this context.
    pub(crate) unsafe fn is_captured(&self, stream: *mut c_void) -> Result<bool, CudaError> {
        let mut status = NOT_CAPTURED;
        // SAFETY: the stream is alive and of this context; one number of the driver's enumeration to be written.
        let asked = self
            .call(|driver| unsafe { driver.cuStreamIsCapturing(stream.cast(), (&raw mut status).cast()) });
        match asked {
            Ok(()) => Ok(status != NOT_CAPTURED),
            Err(error) if error.code == code::STREAM_CAPTURE_IMPLICIT => Ok(true),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once; work that is still queued runs on.
        drop(self.context.call(|driver| unsafe { driver.cuStreamDestroy_v2(self.stream) }));
    }
}
