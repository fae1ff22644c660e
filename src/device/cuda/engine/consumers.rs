//! The streams on which a batch's consumer uses it, and how the memory's next user knows that they are done with it.

#![expect(unsafe_code, reason = "a consumer's stream is a raw handle")]

use crate::device::cuda::driver::{Context, CudaError, Event, Stream, finish};
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// How long the memory's next user waits for a capture to end.
const PATIENCE: Duration = Duration::from_secs(10);
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
            match unsafe { context.is_captured(stream) } {
                Ok(true) => released.captured.push(Handle(stream)),
                // SAFETY: as above.
                Ok(false) => match unsafe { recorded(context, stream) } {
                    Ok(event) => released.events.push(event),
                    Err(_) => released.everything = true,
                },
                Err(_) => released.everything = true,
            }
        }
    }
}

impl Released {
    /// What `stream` gets from now on begins after the consumer is done. The host waits for captures, and where only the device
    /// as a whole can be waited for.
    pub(super) fn order(&mut self, stream: &Stream, context: &Context) -> Result<(), CudaError> {
        self.resolve(context)?;
        self.events.drain(..).try_for_each(|event| stream.wait(&event))
    }

    /// Waits until the consumer is done; says whether it is known to be.
    pub(super) fn wait(&mut self, context: &Context) -> bool {
        let resolved = self.resolve(context);
        let ended = self.events.drain(..).try_for_each(|event| event.synchronize());
        resolved.is_ok() && ended.is_ok()
    }

    /// Leaves nothing but events.
    fn resolve(&mut self, context: &Context) -> Result<(), CudaError> {
        for Handle(stream) in std::mem::take(&mut self.captured) {
            // SAFETY: a stream that `use_on` was given and that was captured when the batch was dropped lives until its capture has
            // ended, and its owner was told to keep it then.
            unsafe {
                match has_ended(context, stream)? {
                    true => self.events.push(recorded(context, stream)?),
                    false => self.everything = true,
                }
            }
        }
        if std::mem::take(&mut self.everything) { finish(context) } else { Ok(()) }
    }
}

/// An event behind all that a stream was given so far.
///
/// # Safety
/// `stream` is a live stream of this context.
unsafe fn recorded(context: &Context, stream: *mut c_void) -> Result<Event, CudaError> {
    let event = Event::new(context)?;
    // SAFETY: as asked of the caller.
    unsafe { event.record_on(stream) }?;
    Ok(event)
}

/// Waits for the end of a stream's capture, for a limited time; says whether it has come.
///
/// # Safety
/// `stream` is a live stream of this context until its capture has ended.
unsafe fn has_ended(context: &Context, stream: *mut c_void) -> Result<bool, CudaError> {
    let began = Instant::now();
    // SAFETY: as asked of the caller.
    while unsafe { context.is_captured(stream) }? {
        if began.elapsed() >= PATIENCE {
            return Ok(false);
        }
        std::thread::sleep(PAUSE);
    }
    Ok(true)
}
