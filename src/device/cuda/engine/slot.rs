//! The memory of one batch on a device: what was staged for it, its pixels, and the events that say who is done.

#![expect(unsafe_code, reason = "a consumer's stream is a raw handle")]

use super::images::DeviceImages;
use super::quiet::settle;
use super::staging::{Kept, Staging};
use super::{Engine, failed};
use crate::device::cuda::driver::{CudaError, DeviceBuffer, DevicePtr, Event};
use crate::error::Result;
use crate::geometry::Rect;
use crate::jpeg;
use crate::plan::Plan;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A batch being staged and submitted.
pub(crate) struct Slot {
    pub(super) core: Core,
}

/// A submitted batch; the device may still be working on it.
pub(crate) struct Filled {
    pub(super) core: Core,
}

/// What both are; its memory is freed only when the device is done with it.
pub(super) struct Core {
    pub(super) state: Mutex<State>,
    /// The rows' pixels; none where nothing is rendered.
    output: Option<DeviceBuffer>,
    /// Recorded when everything of the latest submission is enqueued.
    pub(super) done: Event,
    /// Keeps the context and the streams alive.
    pub(super) engine: Arc<Engine>,
}

pub(super) struct State {
    pub(super) staging: Staging,
    /// By row; `None` where nothing was staged.
    pub(super) rows: Vec<Option<StagedRow>>,
    /// What the device may still read of the latest submission.
    pub(super) in_flight: InFlight,
    /// Whether what is staged belongs to an earlier batch.
    pub(super) stale: bool,
    /// The streams on which the consumer uses the pixels.
    pub(super) consumers: Vec<Consumer>,
    /// Recorded on those streams: behind them the consumer is done with the pixels.
    pub(super) released: Vec<Event>,
}

/// Memory that copies and decoders read until a submission's end.
#[derive(Default)]
pub(super) struct InFlight {
    pub(super) rows: Vec<StagedRow>,
    pub(super) pieces: Vec<Kept>,
}

/// A stream of the consumer's: valid until the batch is dropped, as [`DeviceImages::use_on`] asks for.
pub(super) struct Consumer(pub(super) *mut c_void);

// SAFETY: a stream's handle may be used from any thread.
unsafe impl Send for Consumer {}

/// A sample ready to be decoded and rendered.
pub(super) struct StagedRow {
    pub(super) plan: Plan,
    pub(super) images: Vec<StagedImage>,
}

/// One image of a sample.
pub(super) enum StagedImage {
    /// A whole file, and the part of the image that the plan reads.
    File { bytes: Kept, header: Box<jpeg::Header>, wanted: Rect },
    /// Pixels that the CPU has decoded.
    Pixels(StagedPixels),
}

/// Packed RGB rows of a region.
pub(super) struct StagedPixels {
    pub(super) bytes: Kept,
    pub(super) region: Rect,
    pub(super) pitch: usize,
}

impl Slot {
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has no memory left.
    pub(crate) fn new(engine: &Arc<Engine>) -> Result<Self> {
        let made = || -> Result<Self, CudaError> {
            let bytes = engine.rows * engine.row_bytes;
            let output = (bytes > 0).then(|| DeviceBuffer::new(&engine.context, bytes)).transpose()?;
            let state = State {
                staging: Staging::new(&engine.context, engine.pinned),
                rows: Vec::new(),
                in_flight: InFlight::default(),
                stale: false,
                consumers: Vec::new(),
                released: Vec::new(),
            };
            let done = Event::new(&engine.context)?;
            Ok(Self { core: Core { state: Mutex::new(state), output, done, engine: Arc::clone(engine) } })
        };
        made().map_err(|error| failed(engine.context.ordinal(), &error))
    }

    pub(crate) fn finish(self) -> Filled {
        Filled { core: self.core }
    }
}

impl Filled {
    /// The first `bytes` of the pixels.
    pub(crate) fn images(&self, bytes: usize) -> DeviceImages<'_> {
        DeviceImages::new(&self.core, bytes)
    }

    /// To be called when the consumer drops the batch: marks on its streams where it is done with the pixels.
    pub(crate) fn retire(&self) {
        let context = &self.core.engine.context;
        let mut state = self.core.state();
        for Consumer(stream) in std::mem::take(&mut state.consumers) {
            let recorded = Event::new(context).and_then(|event| {
                // SAFETY: the promise that was made with the stream.
                unsafe { event.record_on(stream) }?;
                Ok(event)
            });
            match recorded {
                Ok(event) => state.released.push(event),
                // Without the event only the end of everything says that the stream is done.
                Err(_) => settle(context),
            }
        }
        // What was staged in ordinary memory need not wait for the slot's next batch.
        if self.core.done.is_done().unwrap_or(false) {
            state.in_flight = InFlight::default();
        }
    }

    pub(crate) fn reuse(self) -> Slot {
        self.core.state().stale = true;
        Slot { core: self.core }
    }
}

impl Core {
    /// A panic under the lock leaves at most a row unstaged, which is a row left out.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Address of the pixels; 0 where nothing is rendered.
    pub(super) fn address(&self) -> DevicePtr {
        self.output.as_ref().map_or(0, DeviceBuffer::ptr)
    }

    /// The state, emptied of an earlier submission: the device must be done with the pinned memory before it is written.
    pub(super) fn fresh(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if std::mem::take(&mut state.stale) {
            // A device that fails here fails at the submission as well, and is reported there.
            if self.done.synchronize().is_err() {
                settle(&self.engine.context);
            }
            state.rows.clear();
            state.in_flight = InFlight::default();
            state.staging.clear();
        }
        state
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        settle(&self.engine.context);
    }
}
