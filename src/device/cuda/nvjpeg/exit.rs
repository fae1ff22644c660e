//! Detects the end of the process: from then on nvJPEG's objects are left to the system.

#![expect(unsafe_code, reason = "registers a function with the C library")]

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

static ENDING: AtomicBool = AtomicBool::new(false);

// SAFETY: the C standard declares it so: it takes a function without arguments, and 0 says that it took it.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

extern "C" fn note() {
    ENDING.store(true, Ordering::SeqCst);
}

/// Watches for the end. Call it after each library that is loaded: exit functions run in reverse order of
/// registration, so this one runs before the library shuts down.
pub(super) fn watch() {
    // SAFETY: the function only sets a flag. If it cannot be registered, objects are destroyed as in mid-run.
    unsafe { atexit(note) };
}

/// Whether the process is ending.
pub(super) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}
