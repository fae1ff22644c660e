//! A point in a stream's work that the host can query, and that other streams can wait for.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::context::Context;
use super::result::{CudaError, ready};
use super::stream::Stream;
use cudarc::driver::sys::CUevent;
use std::ffi::c_void;

/// The waiting thread sleeps instead of spinning: a machine that is short of CPU has better uses for a core.
const BLOCKING_SYNC: u32 = 1;
/// Without timing an event is cheaper.
const DISABLE_TIMING: u32 = 2;

/// A point in a stream's work. An event that was never recorded counts as completed.
pub(crate) struct Event {
    context: Context,
    event: CUevent,
}

// SAFETY: the driver takes an event's handle on any thread.
unsafe impl Send for Event {}
// SAFETY: as above; the driver orders a record and a query that happen at the same time.
unsafe impl Sync for Event {}

impl Event {
    /// An event for ordering only.
    pub(crate) fn new(context: &Context) -> Result<Self, CudaError> {
        Self::create(context, BLOCKING_SYNC | DISABLE_TIMING)
    }

    /// An event that also records the time at which it completes.
    pub(crate) fn timed(context: &Context) -> Result<Self, CudaError> {
        Self::create(context, BLOCKING_SYNC)
    }

    fn create(context: &Context, flags: u32) -> Result<Self, CudaError> {
        let mut event = std::ptr::null_mut();
        // SAFETY: one handle to be written.
        context.call(|driver| unsafe { driver.cuEventCreate(&mut event, flags) })?;
        Ok(Self { context: context.clone(), event })
    }

    /// Moves the event after all that was enqueued on `stream` so far.
    pub(crate) fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        // SAFETY: the stream is alive, and of the same context.
        unsafe { self.record_on(stream.raw()) }
    }

    /// Moves the event after all that was enqueued on a consumer's stream so far.
    ///
    /// # Safety
    /// `stream` is a live stream of this context.
    pub(crate) unsafe fn record_on(&self, stream: *mut c_void) -> Result<(), CudaError> {
        // SAFETY: our handle is alive, and so is the stream, which is of this context.
        self.context.call(|driver| unsafe { driver.cuEventRecord(self.event, stream.cast()) })
    }

    /// What is enqueued on a consumer's stream from now on begins after the event has completed.
    ///
    /// # Safety
    /// As [`Event::record_on`].
    pub(crate) unsafe fn hold_back(&self, stream: *mut c_void) -> Result<(), CudaError> {
        // SAFETY: our handle is alive, and so is the stream, which is of this context.
        self.context.call(|driver| unsafe { driver.cuStreamWaitEvent(stream.cast(), self.event, 0) })
    }

    /// Sleeps until the event has completed.
    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        // SAFETY: the handle is alive.
        self.context.call(|driver| unsafe { driver.cuEventSynchronize(self.event) })
    }

    /// Whether the event has completed.
    pub(crate) fn is_done(&self) -> Result<bool, CudaError> {
        // SAFETY: the handle is alive.
        ready(self.context.call(|driver| unsafe { driver.cuEventQuery(self.event) }))
    }

    /// Milliseconds between two timed events that have both completed.
    pub(crate) fn since(&self, earlier: &Event) -> Result<f32, CudaError> {
        let mut milliseconds = 0.0;
        // SAFETY: one number to be written, and two handles that are alive.
        self.context.call(|driver| unsafe {
            driver.cuEventElapsedTime(&mut milliseconds, earlier.event, self.event)
        })?;
        Ok(milliseconds)
    }
}

/// Here and not in `stream.rs`, so that events depend on streams and streams not on events.
impl Stream {
    /// Work that the stream gets from now on begins after `event`, as last recorded, has completed.
    pub(crate) fn wait(&self, event: &Event) -> Result<(), CudaError> {
        // SAFETY: the stream is alive, and of the same context.
        unsafe { event.hold_back(self.raw()) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once; the driver frees it only after it has completed.
        drop(self.context.call(|driver| unsafe { driver.cuEventDestroy_v2(self.event) }));
    }
}
