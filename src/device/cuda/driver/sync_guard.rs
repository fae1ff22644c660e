//! A guard that waits for the device before memory that it may still use is freed, on every way out.

use super::context::Context;
use super::result::CudaError;
use std::time::{Duration, Instant};

/// How long a device is asked again that refuses to be waited for, since one of its streams is captured into a graph.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often. Nobody is told when a capture ends.
const PAUSE: Duration = Duration::from_millis(1);

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
    drop(twice(|| finish(context)));
}

/// Waits likewise, but not for the end of a capture; says whether nothing uses the device's memory any more.
pub(crate) fn is_done(context: &Context) -> bool {
    twice(|| context.synchronize()).map_or_else(|error| error.is_sticky(), |()| true)
}

/// What fails may be the wait itself, so it is tried once more.
fn twice(wait: impl Fn() -> Result<(), CudaError>) -> Result<(), CudaError> {
    wait().or_else(|error| if error.is_of_capture() { Err(error) } else { wait() })
}

/// Waits until the device has nothing left to do. A capture of one of its streams, whoever makes it, ends as a failure by
/// that; only after it can the device be waited for.
pub(crate) fn finish(context: &Context) -> Result<(), CudaError> {
    let began = Instant::now();
    loop {
        match context.synchronize() {
            Err(error) if error.is_of_capture() && began.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            ended => return ended,
        }
    }
}
