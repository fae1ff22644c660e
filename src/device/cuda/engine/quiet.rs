//! A guard that waits for the device before memory that it may still use is freed, on every way out.

use crate::device::cuda::driver::Context;

/// Waits when it is dropped, unless it was told that all went well.
pub(super) struct Quiet {
    context: Context,
    armed: bool,
}

impl Quiet {
    pub(super) fn new(context: &Context) -> Self {
        Self { context: context.clone(), armed: true }
    }

    /// Nothing in flight depends on what is dropped next.
    pub(super) fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if self.armed {
            settle(&self.context);
        }
    }
}

/// Waits until the device has nothing left to do. A device that cannot even say so has stopped for good.
pub(super) fn settle(context: &Context) {
    drop(context.synchronize());
}
