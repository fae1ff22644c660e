//! A clock that tests move. Every thread has a time of its own, so that what one thread does takes no time of another's.

use std::cell::Cell;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

thread_local! {
    /// This thread's time since the start, and by how much each look at the clock moves it.
    static TIME: Cell<(Duration, Duration)> = const { Cell::new((Duration::ZERO, Duration::ZERO)) };
}

/// This thread's time.
pub fn now() -> Instant {
    let (at, tick) = TIME.get();
    TIME.set((at + tick, tick));
    *START + at
}

/// Lets time pass for this thread.
pub fn advance(by: Duration) {
    let (at, tick) = TIME.get();
    TIME.set((at + by, tick));
}

/// Lets every look at the clock take so long, for this thread.
pub fn tick(by: Duration) {
    TIME.set((TIME.get().0, by));
}
