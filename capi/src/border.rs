//! What every function does at the border: pointers are checked, panics caught, errors kept for who asks.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use feedline::error::Error;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended. Negative numbers are errors, which feedline_last_error() explains.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what it should.
    Ok = 0,
    /// The epoch has no further batch.
    End = 1,
    /// The batch has no such array.
    Absent = 2,
    /// An argument cannot be: a null pointer, a name that is not UTF-8, a field that there is not.
    Invalid = -1,
    /// The pipeline cannot work as it was set up: fix the options.
    Config = -2,
    /// Something that this machine lacks, or a device that failed: use the CPU, or follow the remedy.
    Unavailable = -3,
    /// One sample is bad: skip or substitute such samples (`bad_sample`), or mend the file.
    Sample = -4,
    /// A file or folder of the data set cannot be read.
    Io = -5,
    /// A bug in feedline: please report it.
    Panic = -6,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What went wrong in this thread's latest call that failed, with the remedy; empty where none has. Never null, and valid
/// until the next call that fails in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn feedline_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Why a call failed.
pub(crate) struct Failure {
    status: Status,
    message: String,
}

impl Failure {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { status: Status::Invalid, message: message.into() }
    }

    pub(crate) fn sample(message: impl Into<String>) -> Self {
        Self { status: Status::Sample, message: message.into() }
    }

    pub(crate) fn status(&self) -> Status {
        self.status
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Unavailable { .. } => Status::Unavailable,
            Error::Sample { .. } => Status::Sample,
            Error::Io { .. } => Status::Io,
            Error::Panic { .. } => Status::Panic,
            // What is added to the crate's errors later is about the set-up, until it gets a number of its own.
            _ => Status::Config,
        };
        Self { status, message: error.to_string() }
    }
}

/// Runs a call's work: an error or a panic is kept for [`feedline_last_error`] and becomes a number.
pub(crate) fn guard(work: impl FnOnce() -> Result<Status, Failure>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(status)) => return status,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let message = format!("feedline panicked: {}; this is a bug, please report it", said(&*panic));
            // To drop what a panic carries may panic as well, and nothing else would catch that ahead of C.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
                std::mem::forget(again);
            }
            Failure { status: Status::Panic, message }
        }
    };
    // A thread that is ending keeps no message; the number says enough.
    let _ = LAST.try_with(|last| *last.borrow_mut() = c_text(&failure.message));
    failure.status
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

/// Text for C, where a zero byte is the end.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{FFFD}")).unwrap_or_default()
}

/// # Safety
/// `pointer` is null, or points at a `T` that lives at least as long as the call and is not written meanwhile.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: it is null, or a `T` that lives during the call and is not written meanwhile.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// # Safety
/// As [`shared`], and nobody else uses it meanwhile.
pub(crate) unsafe fn alone<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: it is null, or a `T` that lives during the call and that nobody else uses meanwhile.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(what))
}

/// # Safety
/// `text` is null, or text that ends with a zero byte and is not written during the call.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not null, so it is text with a zero at its end that is not written during the call.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::invalid(format!("{what} is not UTF-8: {text:?}")))
}

/// Hands a value over through a pointer.
///
/// # Safety
/// `out` is null, or may be written.
pub(crate) unsafe fn write<T>(out: *mut T, value: T, what: &str) -> Result<Status, Failure> {
    if out.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not null, so it may be written.
    unsafe { out.write(value) };
    Ok(Status::Ok)
}

/// Hands a new object over as a handle.
///
/// # Safety
/// As [`write`].
pub(crate) unsafe fn give<T>(out: *mut *mut T, value: T, what: &str) -> Result<Status, Failure> {
    if out.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not null, so it may be written.
    unsafe { write(out, Box::into_raw(Box::new(value)), what) }
}

/// Takes a handle back; null is let pass. A panic on the way is caught, and the object may leak then.
///
/// # Safety
/// `handle` is null or from [`give`], and is not used again.
pub(crate) unsafe fn release<T>(handle: *mut T) {
    if !handle.is_null() {
        guard(|| {
            // SAFETY: `give` made it of a Box, and it is not used again.
            drop(unsafe { Box::from_raw(handle) });
            Ok(Status::Ok)
        });
    }
}

/// Refuses null, for what is written only later.
pub(crate) fn is_there<T>(pointer: *const T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() { Err(null(what)) } else { Ok(()) }
}

fn null(what: &str) -> Failure {
    Failure::invalid(format!("`{what}` is null: give what the function is to work with"))
}

/// Frees text that a function of feedline gave; null is let pass.
///
/// # Safety
/// `text` is from a function that says so, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: all text that is given to C was made by CString::into_raw; it is not used again.
        drop(unsafe { CString::from_raw(text) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_says_what_it_was() {
        let status = guard(|| panic!("seven is not {}", 8));
        assert_eq!(status, Status::Panic);
        // SAFETY: the text is this thread's, and no call fails before it is read.
        let last = unsafe { CStr::from_ptr(feedline_last_error()) }.to_str().unwrap();
        assert!(last.contains("seven is not 8") && last.contains("report it"), "{last}");
        let other = std::thread::spawn(|| {
            // SAFETY: as above.
            unsafe { CStr::from_ptr(feedline_last_error()) }.is_empty()
        });
        assert!(other.join().unwrap());
    }

    #[test]
    fn what_a_panic_carries_does_not_panic_into_c() {
        struct Panics;

        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("what the panic carries is dropped");
            }
        }

        assert_eq!(guard(|| std::panic::panic_any(Panics)), Status::Panic);
        // SAFETY: from `give`'s own kind of box, and not used again.
        unsafe { release(Box::into_raw(Box::new(Panics))) };
    }
}
