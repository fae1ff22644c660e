//! Calls of Python code by threads that are not Python's: none of them may meet an interpreter that ends.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// How long the end of the interpreter waits for calls that run.
const PATIENCE: Duration = Duration::from_secs(10);

static ENDING: AtomicBool = AtomicBool::new(false);
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// The process whose calls are counted.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Does `work` with Python's lock; `None` once the interpreter ends.
pub(crate) fn call<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, SeqCst);
        }
    }

    PROCESS.store(std::process::id(), SeqCst);
    // Counted ahead of the look, so that `end_calls` either waits for it or is seen.
    RUNNING.fetch_add(1, SeqCst);
    let _guard = Guard;
    if ENDING.load(SeqCst) { None } else { Python::try_attach(work) }
}

/// Lets no call begin from now on, and waits for those that run; for the end of the interpreter.
#[pyfunction]
pub(crate) fn end_calls(py: Python<'_>) {
    ENDING.store(true, SeqCst);
    // A forked child has the count, and not the threads.
    if PROCESS.load(SeqCst) != std::process::id() {
        return;
    }
    py.detach(|| {
        let began = Instant::now();
        while RUNNING.load(SeqCst) > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
