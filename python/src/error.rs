//! The library's errors as Python's exceptions, grouped as there by what the caller can do.

use crate::records::raised;
use feedline::error::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    feedline,
    SampleError,
    PyRuntimeError,
    "One sample is bad: `key` and `index` name it. Mend the file, or set bad_sample to \"skip\" or \"substitute\"."
);
create_exception!(
    feedline,
    DecodeError,
    SampleError,
    "A file cannot be decoded: `key` is its path, None for one in memory, and `index` its place in a batch, else None."
);
create_exception!(
    feedline,
    UnavailableError,
    PyRuntimeError,
    "Something that this machine lacks, with the remedy: use device=\"cpu\", or follow it."
);
create_exception!(
    feedline,
    PanicError,
    PyRuntimeError,
    "A worker panicked, which is a bug; the loader has stopped."
);

/// The exception for an error: `ValueError` for what is set up wrong, `OSError` for files, else one of ours.
pub(crate) fn to_python(py: Python<'_>, error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Config(_) => PyValueError::new_err(message),
        Error::Unavailable { .. } => UnavailableError::new_err(message),
        Error::Io { path, source, remedy } => match source.raw_os_error() {
            // Python makes FileNotFoundError and its like of the number.
            Some(number) => {
                let text = source.to_string();
                let what = text.split(" (os error").next().unwrap_or_default();
                PyOSError::new_err((number, format!("{what}; {remedy}"), path.display().to_string()))
            }
            None => PyOSError::new_err(message),
        },
        Error::Sample { key, index, source } => {
            let error = named(py, SampleError::new_err(message), &key, index);
            // With Python's own traceback, where Python's own code is to blame.
            error.set_cause(py, raised(&*source).map(|cause| cause.clone_ref(py)));
            error
        }
        Error::Panic { key, index, .. } => named(py, PanicError::new_err(message), &key, index),
        _ => PyRuntimeError::new_err(message),
    }
}

fn named(py: Python<'_>, error: PyErr, key: &str, index: u64) -> PyErr {
    let value = error.value(py);
    match value.setattr("key", key).and_then(|()| value.setattr("index", index)) {
        Ok(()) => error,
        Err(other) => other,
    }
}
