//! The clock that stages and waits are measured by: the machine's, or one that a test moves.

use std::time::{Duration, Instant};

/// Tells the time. Moments of one thread are compared with each other, never with those of another thread.
#[derive(Clone, Copy, Debug)]
pub(in crate::loader) struct Clock(pub(in crate::loader) fn() -> Instant);

impl Clock {
    /// The machine's own.
    pub(in crate::loader) const MACHINE: Self = Self(Instant::now);

    pub(in crate::loader) fn now(self) -> Instant {
        (self.0)()
    }

    /// How long ago `started` was.
    pub(in crate::loader) fn since(self, started: Instant) -> Duration {
        self.now().saturating_duration_since(started)
    }
}
