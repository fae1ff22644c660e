//! The memory of one batch on a device: what was staged for it, its pixels, and the events that mark what is done.
//! When a slot goes, its memory is left to the engine.

use super::Engine;
use super::consumers::{Consumers, Released};
use super::spare_memory::SlotMemory;
use super::staged::StagedRow;
use super::staging::{Pending, Staging};
use crate::device::backend::view_starts;
use crate::device::cuda::driver::{CudaError, DeviceBuffer, DevicePtr, Event, Purpose};
use crate::device::cuda::failed;
use crate::device::cuda::room::Room;
use crate::error::Result;
use crate::plan::ObjectRuns;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A batch being staged and then submitted, after which the device may still be working on it. Its memory is freed only
/// when the device is done with it.
pub(crate) struct Slot {
    pub(super) state: Mutex<State>,
    /// Memory for what is staged. It has a lock of its own, which nobody holds while it is filled.
    staging: Arc<Staging>,
    /// The rows' pixels; none where nothing is rendered.
    output: Option<DeviceBuffer>,
    /// Recorded when everything of the latest submission is enqueued.
    pub(super) done: Arc<Event>,
    /// Keeps the context and the streams alive.
    pub(super) engine: Arc<Engine>,
}

pub(super) struct State {
    /// By row; `None` where nothing was staged.
    pub(super) rows: Vec<Option<StagedRow>>,
    /// What copies and decoders may still read of the latest submission.
    pub(super) in_flight: Pending,
    /// Whether what is staged belongs to an earlier batch.
    pub(super) stale: bool,
    /// The masks of objects of the latest submission; nothing until there are some.
    pub(super) masks: Room,
    /// The streams on which the consumer uses the pixels.
    pub(super) consumers: Consumers,
    /// After this the consumer is done with the pixels.
    pub(super) released: Released,
}

impl Slot {
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has no memory left.
    pub(super) fn new(engine: &Arc<Engine>) -> Result<Self> {
        let made = || -> Result<Self, CudaError> {
            let done = Arc::new(Event::new(&engine.context)?);
            let SlotMemory { staging, output, masks, released } =
                engine.spare.take().map_or_else(|| memory(engine), Ok)?;
            let state = State {
                rows: Vec::new(),
                in_flight: Pending::nothing(&engine.context, &done),
                stale: false,
                masks,
                consumers: Consumers::default(),
                released,
            };
            let state = Mutex::new(state);
            Ok(Self { state, staging, output, done, engine: Arc::clone(engine) })
        };
        made().map_err(|error| failed(engine.context.ordinal(), &error))
    }

    /// Where memory for what is staged for this batch comes from.
    pub(super) fn staging(&self) -> &Arc<Staging> {
        drop(self.fresh());
        &self.staging
    }

    /// Notes what was staged for a row, or that nothing is there any more.
    pub(super) fn put(&self, row: usize, staged: Option<StagedRow>) {
        let mut state = self.fresh();
        if state.rows.len() <= row {
            state.rows.resize_with(row + 1, || None);
        }
        state.rows[row] = staged;
    }

    /// Notes the masks of the objects of a staged row.
    pub(super) fn put_masks(&self, row: usize, masks: Vec<ObjectRuns>) {
        if let Some(Some(staged)) = self.fresh().rows.get_mut(row) {
            staged.masks = masks;
        }
    }

    /// To be called when the consumer drops the batch: marks on its streams where it is done with the pixels.
    pub(super) fn mark_released(&self) {
        let mut state = self.state();
        let State { consumers, released, .. } = &mut *state;
        consumers.release(&self.engine.context, released);
        // What was staged in ordinary memory need not wait for the slot's next batch.
        state.in_flight.release_if_done();
    }

    /// A panic under the lock leaves at most a row unstaged, which is a row left out.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Address of the pixels; 0 where nothing is rendered.
    pub(super) fn address(&self) -> DevicePtr {
        self.output.as_ref().map_or(0, DeviceBuffer::ptr)
    }

    /// The state, emptied of an earlier submission: the device must be done with the memory before it is handed out again.
    pub(super) fn fresh(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if std::mem::take(&mut state.stale) {
            state.in_flight.wait();
            state.rows.clear();
            self.staging.consolidate();
        }
        state
    }
}

/// Memory for a slot.
fn memory(engine: &Engine) -> Result<SlotMemory, CudaError> {
    let Engine { context, options, .. } = engine;
    let starts = view_starts(options.rows, options.row_bytes.iter().copied()).unwrap_or_default();
    let bytes = starts.last().copied().unwrap_or_default();
    let output = (bytes > 0).then(|| DeviceBuffer::new(context, bytes, Purpose::Output)).transpose()?;
    // What a batch needs depends on its objects: each sample has a bound, and the device's memory.
    let masks = Room::new(context, Purpose::Output, usize::MAX);
    let staging = Arc::new(Staging::new(context, options.pinned));
    Ok(SlotMemory { staging, output, masks, released: Released::default() })
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Self { state, staging, output, engine, .. } = self;
        let state = state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let State { rows, in_flight, consumers, released, masks, .. } = state;
        // Others use the memory next, and the device must be done with it; for consumers its next submission waits, since this may be
        // a trainer's thread.
        in_flight.wait();
        let mut released = std::mem::take(released);
        if !consumers.is_empty() {
            released.forget();
        }
        rows.clear();
        staging.consolidate();
        let masks = std::mem::replace(masks, Room::new(&engine.context, Purpose::Output, usize::MAX));
        engine.spare.put(SlotMemory { staging: Arc::clone(staging), output: output.take(), masks, released });
    }
}
