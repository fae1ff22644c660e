//! Captures of CUDA graphs, which a trainer makes of its own streams while a loader works beside it.
//!
//! While any stream of the process is captured in CUDA's default mode, calls that a captured stream might depend on, such as
//! allocating or waiting for an event, fail on every thread and end the capture, whatever they are about. A thread can say
//! that its calls have nothing to do with any capture. Ours never have.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::context::Context;
use super::library::Driver;
use super::result::{CudaError, code};
use std::ffi::{c_uint, c_void};

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: c_uint = 2;
/// `CU_STREAM_CAPTURE_STATUS_NONE`.
const NOT_CAPTURED: c_uint = 0;

/// While it is there, this thread's calls neither fail for a capture elsewhere nor end it.
pub(super) struct Relaxed {
    driver: &'static Driver,
    /// The thread's own mode.
    before: c_uint,
}

impl Relaxed {
    pub(super) fn new(driver: &'static Driver) -> Result<Self, CudaError> {
        Ok(Self { driver, before: exchange(driver, RELAXED)? })
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // A driver that is shutting down with the process refuses everything.
        drop(exchange(self.driver, self.before));
    }
}

/// Sets this thread's mode, and returns the one that it had. As numbers: a newer driver may have modes that no present
/// declaration lists.
fn exchange(driver: &Driver, mut mode: c_uint) -> Result<c_uint, CudaError> {
    // SAFETY: one number of the driver's enumeration to be read and written.
    unsafe { driver.cuThreadExchangeStreamCaptureMode((&raw mut mode).cast())? };
    Ok(mode)
}

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
