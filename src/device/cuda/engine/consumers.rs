//! The streams on which a batch's consumer uses it, and how the memory's next user knows that they are done with it.

#![expect(unsafe_code, reason = "a consumer's stream is a raw handle")]

use crate::device::cuda::driver::{Context, CudaError, Event, Stream, code, finish};
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// How long the memory's next user waits for a capture to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it looks.
const PAUSE: Duration = Duration::from_millis(1);

/// The streams of a batch that somebody has.
#[derive(Default)]
pub(super) struct Consumers {
    lasting: Vec<Handle>,
    /// Whether there are streams that may be gone before the batch is.
    has_passing: bool,
}

/// What has to be done before memory that was dropped may be used again.
#[derive(Default)]
pub(super) struct Released {
    /// Recorded on the consumer's streams when the batch was dropped.
    events: Vec<Event>,
    /// Streams that were captured then: what they had been given before ends ahead of what they get after the capture.
    captured: Vec<Handle>,
    /// Only the device as a whole can be waited for.
    everything: bool,
}

/// A stream of the consumer's.
struct Handle(*mut c_void);

// SAFETY: a stream's handle may be used from any thread.
unsafe impl Send for Handle {}

impl Consumers {
    /// # Safety
    /// As [`crate::device::DeviceImages::use_on`].
    pub(super) unsafe fn add(&mut self, stream: *mut c_void) {
        if !self.lasting.iter().any(|known| known.0 == stream) {
            self.lasting.push(Handle(stream));
        }
    }

    /// A stream of which nothing may be asked later.
    pub(super) fn add_passing(&mut self) {
        self.has_passing = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lasting.is_empty() && !self.has_passing
    }

    /// To be called when the consumer drops the batch: notes in `released` what it still has to do with the memory.
    pub(super) fn release(&mut self, context: &Context, released: &mut Released) {
        released.everything |= std::mem::take(&mut self.has_passing);
        for Handle(stream) in std::mem::take(&mut self.lasting) {
            // SAFETY: a stream that `use_on` was given is of this context, and lives until the batch is dropped, which has not ended.
            match unsafe { recorded(context, stream) } {
                Ok(Some(event)) => released.events.push(event),
                Ok(None) => released.captured.push(Handle(stream)),
                Err(_) => released.everything = true,
            }
        }
    }
}

impl Released {
    /// What `stream` gets from now on begins after the consumer is done. The host waits for captures, and where only the device
    /// as a whole can be waited for. After an error it is as before.
    pub(super) fn order(&mut self, stream: &Stream, context: &Context) -> Result<(), CudaError> {
        while let Some(Handle(captured)) = self.captured.last() {
            // SAFETY: a stream that `use_on` was given and that was captured when the batch was dropped lives as long as the loader.
            let event = unsafe { recorded_behind_capture(context, *captured) }?;
            self.captured.pop();
            self.events.push(event);
        }
        if self.everything {
            finish(context)?;
            self.everything = false;
        }
        self.events.iter().try_for_each(|event| stream.wait(event))?;
        self.events.clear();
        Ok(())
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        self.everything = true;
    }

    /// Waits until the consumer is done, where that can be known without waiting for the device or for a capture; says whether it
    /// is.
    pub(super) fn is_done(&self) -> bool {
        self.captured.is_empty()
            && !self.everything
            && self.events.iter().all(|event| event.synchronize().is_ok())
    }
}

/// An event behind all that a stream was given so far; `None` where the stream is captured.
///
/// # Safety
/// `stream` is a live stream of this context.
unsafe fn recorded(context: &Context, stream: *mut c_void) -> Result<Option<Event>, CudaError> {
    // SAFETY: as asked of the caller.
    if unsafe { context.is_captured(stream) }? {
        return Ok(None);
    }
    let event = Event::new(context)?;
    // SAFETY: as asked of the caller.
    unsafe { event.record_on(stream) }?;
    // Where a capture has begun meanwhile, the event may be a part of it.
    // SAFETY: as asked of the caller.
    Ok(if unsafe { context.is_captured(stream) }? { None } else { Some(event) })
}

/// The same once the stream's capture has ended, for which the host waits.
///
/// # Safety
/// `stream` is a live stream of this context until then.
unsafe fn recorded_behind_capture(context: &Context, stream: *mut c_void) -> Result<Event, CudaError> {
    let began = Instant::now();
    loop {
        // SAFETY: as asked of the caller.
        if let Some(event) = unsafe { recorded(context, stream) }? {
            return Ok(event);
        }
        if began.elapsed() >= PATIENCE {
            let name = "a batch was dropped while its stream was captured into a CUDA graph, which has not ended since";
            return Err(CudaError {
                call: "cuStreamIsCapturing",
                code: code::STREAM_CAPTURE_UNSUPPORTED,
                name: name.into(),
            });
        }
        std::thread::sleep(PAUSE);
    }
}
