//! The context of one device, which owns memory, streams and modules.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::account::Account;
use super::capture::Relaxed;
use super::library::{Absent, Driver};
use super::result::{CudaError, code};
use cudarc::driver::sys::{CUcontext, CUdevice};
use std::ffi::c_int;
use std::sync::Arc;

/// A device's primary context, which every library in the process shares, and an account of the memory that is taken
/// through it. Clones share both; the last one releases the context.
#[derive(Clone)]
pub(crate) struct Context {
    retained: Arc<Retained>,
    account: Arc<Account>,
}

struct Retained {
    driver: &'static Driver,
    ordinal: u32,
    device: CUdevice,
    /// Retained, so alive until this value is dropped.
    context: CUcontext,
}

// SAFETY: the driver takes a context's handle on any thread.
unsafe impl Send for Retained {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Retained {}

impl Context {
    /// Retains the primary context of device `ordinal`.
    pub(crate) fn open(ordinal: u32) -> Result<Self, CudaError> {
        let driver = Driver::get().map_err(not_started)?;
        let device = device(driver, ordinal)?;
        let mut context = std::ptr::null_mut();
        // SAFETY: `context` is one handle to be written.
        unsafe { driver.cuDevicePrimaryCtxRetain(&mut context, device)? };
        let retained = Arc::new(Retained { driver, ordinal, device, context });
        Ok(Self { retained, account: Arc::default() })
    }

    /// The device's ordinal.
    pub(crate) fn ordinal(&self) -> u32 {
        self.retained.ordinal
    }

    /// The device's compute capability, as (major, minor).
    pub(crate) fn compute_capability(&self) -> Result<(u32, u32), CudaError> {
        self.retained.driver.compute_capability(self.ordinal())
    }

    /// The memory that is taken through this context and its clones.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Makes the context current on this thread, and leaves it so: for our own threads that call libraries which use
    /// the current device.
    pub(crate) fn bind(&self) -> Result<(), CudaError> {
        // SAFETY: the handle is alive as long as `self` is.
        unsafe { self.retained.driver.cuCtxSetCurrent(self.retained.context) }
    }

    /// Waits until the device has finished all work of this context.
    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        // SAFETY: no arguments; the context is current meanwhile.
        self.call(|driver| unsafe { driver.cuCtxSynchronize() })
    }

    /// Bytes of the device's memory that nobody has taken.
    pub(crate) fn free_memory(&self) -> Result<usize, CudaError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: two numbers to be written.
        self.call(|driver| unsafe { driver.cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok(free)
    }

    /// Calls the driver with the context current.
    pub(super) fn call<T>(
        &self,
        calls: impl FnOnce(&'static Driver) -> Result<T, CudaError>,
    ) -> Result<T, CudaError> {
        let driver = self.retained.driver;
        self.within(|| calls(driver))?
    }

    /// Runs something with the context current, and then restores the thread's own context: a trainer's thread that
    /// drops a batch must not be left on another device. Meanwhile the trainer may capture a graph on any thread.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> Result<T, CudaError> {
        let Retained { driver, context, .. } = *self.retained;
        let _relaxed = Relaxed::new(driver)?;
        let mut before = std::ptr::null_mut();
        // SAFETY: `before` is one handle to be written.
        unsafe { driver.cuCtxGetCurrent(&mut before)? };
        if before == context {
            return Ok(work());
        }
        self.bind()?;
        let done = work();
        // SAFETY: it was current a moment ago; null means none.
        unsafe { driver.cuCtxSetCurrent(before)? };
        Ok(done)
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: retained once in `open`, released once here; everything that belonged to it held a clone.
        // A failure cannot be reported from here, and a driver that is shutting down with the process refuses everything.
        drop(unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) });
    }
}

/// The driver's handle of device `ordinal`.
pub(super) fn device(driver: &Driver, ordinal: u32) -> Result<CUdevice, CudaError> {
    let mut device = 0;
    let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
    // SAFETY: `device` is one handle to be written; an ordinal out of range is an error, not undefined.
    unsafe { driver.cuDeviceGet(&mut device, number)? };
    Ok(device)
}

fn not_started(absent: &Absent) -> CudaError {
    let (call, name) = match absent {
        Absent::Library { why, .. } => ("dlopen", why.clone()),
        Absent::Symbols(names) => ("dlsym", format!("the driver lacks {}", names.join(", "))),
        Absent::Start(error) => return error.clone(),
    };
    CudaError { call, code: code::NOT_INITIALIZED, name }
}
