//! A guard that waits for the device before memory that it may still use is freed, on every way out.

use crate::device::cuda::driver::Context;

/// Waits when it is dropped, unless it was disarmed since all went well.
pub(super) struct SyncGuard {
    context: Context,
    armed: bool,
}

impl SyncGuard {
    pub(super) fn new(context: &Context) -> Self {
        Self { context: context.clone(), armed: true }
    }

    /// Nothing in flight depends on what is dropped next.
    pub(super) fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for SyncGuard {
    fn drop(&mut self) {
        if self.armed {
            wait_for_device(&self.context);
        }
    }
}

/// Waits until the device has nothing left to do. A device that fails at that has stopped for good.
pub(super) fn wait_for_device(context: &Context) {
    drop(context.synchronize());
}
