//! A guard that waits for the device before memory that it may still use is freed, on every way out.

use super::context::Context;

/// Waits when it is dropped, unless it was disarmed since all went well.
pub(crate) struct SyncGuard {
    context: Context,
    armed: bool,
}

impl SyncGuard {
    pub(crate) fn new(context: &Context) -> Self {
        Self { context: context.clone(), armed: true }
    }

    /// Nothing in flight depends on what is dropped next.
    pub(crate) fn disarm(mut self) {
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

/// Waits until the device has nothing left to do, or has stopped for good.
pub(crate) fn wait_for_device(context: &Context) {
    is_done(context);
}

/// Waits likewise, and says whether nothing is left to do. What fails may be the wait, so it is tried twice; a device that fails
/// at both has stopped for good, or one of its streams is being captured.
pub(crate) fn is_done(context: &Context) -> bool {
    context.synchronize().or_else(|_| context.synchronize()).is_ok()
}
