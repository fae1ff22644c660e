//! Captures of CUDA graphs, which a trainer makes of its own streams while a loader works beside it.
//!
//! While any stream of the process is captured in CUDA's default mode, calls that a captured stream might depend on, such as
//! allocating or waiting for an event, fail on every thread and end the capture, whatever they are about. A thread can say
//! that its calls have nothing to do with any capture. Ours never have.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::library::Driver;
use super::result::CudaError;
use std::ffi::c_uint;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: c_uint = 2;

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
