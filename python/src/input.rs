//! What is decoded, and how errors name it.

use crate::buffer::Buffer;
use crate::error::{DecodeError, to_python};
use feedline::decode::{FileError, ImageError};
use feedline::error::Error;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::{Path, PathBuf};

/// What is decoded: a file in memory, or one at a path.
pub(crate) enum Input {
    Memory(Buffer),
    File(PathBuf),
}

impl Input {
    /// `at` is the place in a batch, for messages.
    pub(crate) fn new(data: &Bound<'_, PyAny>, at: Option<usize>) -> PyResult<Self> {
        if data.is_instance_of::<PyString>() {
            return data.extract().map(Input::File);
        }
        let not_bytes = match Buffer::of_bytes(data) {
            Ok(buffer) => return Ok(Input::Memory(buffer)),
            Err(error) => error,
        };
        if !not_bytes.is_instance_of::<PyTypeError>(data.py()) {
            return Err(not_bytes);
        }
        if data.hasattr("__fspath__")? {
            return data.extract().map(Input::File);
        }
        // torch's tensors have no buffer, and NumPy's arrays of them have.
        if data.hasattr("numpy")? {
            return Buffer::of_bytes(&data.call_method0("numpy")?).map(Input::Memory);
        }
        let (kind, place) = (data.get_type().name()?, at.map(|at| format!(" {at}")).unwrap_or_default());
        Err(PyTypeError::new_err(format!(
            "file{place} is of type {kind}: give the bytes of a file, or its path"
        )))
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Input::Memory(_) => None,
            Input::File(path) => Some(path),
        }
    }
}

/// Which file an error is about: where it stands in a batch, and its path.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) index: Option<usize>,
    pub(crate) path: Option<&'a Path>,
}

impl Place<'_> {
    /// The exception for an error of this file.
    pub(crate) fn error(&self, py: Python<'_>, error: FileError) -> PyErr {
        let path = self.path.map(|path| path.display().to_string());
        let name = match (self.index, &path) {
            (None, None) => String::new(),
            (None, Some(path)) => format!("{path}: "),
            (Some(index), None) => format!("file {index}: "),
            (Some(index), Some(path)) => format!("file {index} ({path}): "),
        };
        let error = match error {
            FileError::Io(source) => {
                let path = self.path.unwrap_or(Path::new(""));
                to_python(py, Error::io(path, source, "check the path"))
            }
            FileError::Image(error) if is_the_call(&error) => {
                return PyValueError::new_err(format!("{name}{error}"));
            }
            other => DecodeError::new_err(format!("{name}{other}")),
        };
        let value = error.value(py);
        let noted = value.setattr("key", path).and_then(|()| value.setattr("index", self.index));
        noted.err().unwrap_or(error)
    }
}

/// Whether the call is what has to be mended, not the file.
fn is_the_call(error: &ImageError) -> bool {
    matches!(error, ImageError::Outside { .. } | ImageError::Scale { .. } | ImageError::Room { .. })
}
