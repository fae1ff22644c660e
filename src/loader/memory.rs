//! The memory of a batch, wherever it lies: filled by workers, then owned by the consumer, then filled again.

use crate::device::{batch, cuda};
use crate::error::{Error, Result};
use crate::output::Output;
use std::sync::Arc;

/// Most bytes of all slots together: 64 GiB.
const MAX_SLOT_BYTES: usize = 64 << 30;

/// Bytes of a sample, where all slots stay under their bound.
pub(super) fn checked_bytes(output: &Output, rows: usize, slots: usize) -> Result<usize> {
    let bytes = output.sample_bytes();
    let total = bytes.checked_mul(rows).and_then(|batch| batch.checked_mul(slots));
    match total.filter(|&total| total <= MAX_SLOT_BYTES) {
        Some(_) => Ok(bytes),
        None => Err(Error::config(format!(
            "{slots} batches of {rows} samples of {bytes} bytes are more than {MAX_SLOT_BYTES} bytes: use a smaller \
             batch_size or prefetch"
        ))),
    }
}

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

    /// Lets rows have `row_bytes` bytes, where batches differ in size; a device packs them by itself.
    pub(super) fn resize_rows(&mut self, row_bytes: usize) {
        if let Slot::Host(slot) = self {
            slot.resize_rows(row_bytes);
        }
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
