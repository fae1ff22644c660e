//! Calls of Python code by threads that are not Python's: none of them may meet an interpreter that ends.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// How long the end of the interpreter waits for calls that run.
const PATIENCE: Duration = Duration::from_secs(10);

static ENDING: AtomicBool = AtomicBool::new(false);
/// The process whose calls are counted, and below it their number: a forked child has the count, and not the threads.
static RUNNING: AtomicU64 = AtomicU64::new(0);

/// This process without calls.
fn none() -> u64 {
    u64::from(std::process::id()) << 32
}

/// The calls of this process.
fn running() -> u64 {
    RUNNING.load(SeqCst).checked_sub(none()).filter(|calls| *calls <= u64::from(u32::MAX)).unwrap_or(0)
}

/// Does `work` with Python's lock; `None` once the interpreter ends.
pub(crate) fn call<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, SeqCst);
        }
    }

    // Counted ahead of the look, so that `end_calls` either waits for it or is seen.
    let none = none();
    let more = |counted: u64| Some(if counted >> 32 == none >> 32 { counted + 1 } else { none + 1 });
    let _ = RUNNING.fetch_update(SeqCst, SeqCst, more);
    let _guard = Guard;
    if ENDING.load(SeqCst) { None } else { Python::try_attach(work) }
}

/// Lets no call begin from now on, and waits for those that run; for the end of the interpreter.
#[pyfunction]
pub(crate) fn end_calls(py: Python<'_>) {
    ENDING.store(true, SeqCst);
    py.detach(|| {
        let began = Instant::now();
        while running() > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
