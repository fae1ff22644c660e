//! The memory of slots that are gone, for those to come: a consumer that keeps batches gets slots beyond those that are
//! reserved, and to free their memory would wait for all that the device has to do, a trainer's work included.

use super::consumers::Released;
use super::staging::Staging;
use crate::device::cuda::driver::DeviceBuffer;
use crate::device::cuda::room::Room;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What nobody uses any more but consumers, as far as `released` says.
#[derive(Default)]
pub(super) struct SpareMemory(Mutex<Vec<SlotMemory>>);

/// The memory of one slot.
pub(super) struct SlotMemory {
    pub(super) staging: Arc<Staging>,
    /// The rows' pixels; none where nothing is rendered.
    pub(super) output: Option<DeviceBuffer>,
    /// The masks of objects; nothing until there are some.
    pub(super) masks: Room,
    /// What consumers still have to do with it.
    pub(super) released: Released,
}

impl SpareMemory {
    pub(super) fn take(&self) -> Option<SlotMemory> {
        self.memory().pop()
    }

    pub(super) fn put(&self, memory: SlotMemory) {
        self.memory().push(memory);
    }

    /// Leaves to the process what consumers may still use, since it cannot be waited for.
    pub(super) fn leave_what_is_used(&self) {
        self.memory().extract_if(.., |memory| !memory.released.is_done()).for_each(std::mem::forget);
    }

    fn memory(&self) -> MutexGuard<'_, Vec<SlotMemory>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
