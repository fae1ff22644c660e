//! The memory of a batch, wherever it lies: filled by workers, then owned by the consumer, then filled again.

use crate::device::{batch, cuda};
use crate::error::Result;
use std::sync::Arc;

/// Makes the slots of a loader.
pub(super) enum Maker {
    /// Rows of so many bytes in the host's memory.
    Host { rows: usize, row_bytes: usize },
    /// Rows in a device's memory.
    Cuda(Arc<cuda::Engine>),
}

impl Maker {
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has no memory left.
    pub(super) fn make(&self) -> Result<Slot> {
        match self {
            Maker::Host { rows, row_bytes } => Ok(Slot::Host(batch::Slot::new(*rows, *row_bytes))),
            Maker::Cuda(engine) => Ok(Slot::Cuda(cuda::Slot::new(engine)?)),
        }
    }
}

/// A batch being filled.
pub(super) enum Slot {
    Host(batch::Slot),
    Cuda(cuda::Slot),
}

impl Slot {
    /// Whether something is left to do once all rows are staged.
    pub(super) fn is_submitted(&self) -> bool {
        matches!(self, Slot::Cuda(_))
    }

    /// Ends the filling.
    pub(super) fn finish(self) -> Filled {
        match self {
            Slot::Host(slot) => Filled::Host(slot.finish()),
            Slot::Cuda(slot) => Filled::Cuda(slot.finish()),
        }
    }
}

/// A finished batch's memory.
pub(super) enum Filled {
    Host(batch::Filled),
    Cuda(cuda::Filled),
}

impl Filled {
    /// Makes the memory a slot again.
    pub(super) fn reuse(self) -> Slot {
        match self {
            Filled::Host(filled) => Slot::Host(filled.reuse()),
            Filled::Cuda(filled) => Slot::Cuda(filled.reuse()),
        }
    }
}
