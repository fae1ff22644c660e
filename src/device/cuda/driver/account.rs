//! How much memory was taken through a context, by what it is for.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A device's memory is handed out in these steps: smaller allocations share one or take all of it.
pub(crate) const GRANULARITY: usize = 2 << 20;

/// What memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Batches, as a consumer gets them.
    Output,
    /// Decoded images of one sub-batch.
    Images,
    /// Tables and scratch of the kernels.
    Programs,
    /// Decoded images that samples share.
    SharedImages,
    /// What shows whether decoders do as they say.
    Verification,
    /// The host's page-locked memory.
    Pinned,
    /// What no loader takes: comparisons and measurements.
    Measurement,
}

/// Bytes by purpose. What is taken and given back is noted by the owners of memory.
#[derive(Default)]
pub(crate) struct Account([AtomicU64; 7]);

impl Account {
    /// Bytes that are taken at present; of a device's memory whole steps of [`GRANULARITY`].
    pub(crate) fn bytes(&self, purpose: Purpose) -> u64 {
        self.0[purpose as usize].load(Relaxed)
    }

    pub(super) fn take(&self, purpose: Purpose, bytes: usize) {
        self.0[purpose as usize].fetch_add(bytes as u64, Relaxed);
    }

    pub(super) fn give_back(&self, purpose: Purpose, bytes: usize) {
        self.0[purpose as usize].fetch_sub(bytes as u64, Relaxed);
    }
}
