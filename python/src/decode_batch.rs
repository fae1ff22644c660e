//! Decoding many files on several threads: into a list of arrays, or into one.

use crate::buffer::Pixels;
use crate::decode::{check_shape, empty, refuse_overlap};
use crate::input::{Input, Place};
use crate::settings::{Region, Wanted, with_region};
use feedline::decode::{Header, ImageError, Job, Settings, decode_batch_into, read_batch};
use feedline::geometry::Size;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long Python's signals wait, at most, while a batch is decoded; one image more where that takes longer.
const SLICE: Duration = Duration::from_millis(100);

/// What becomes of files that cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnError {
    Raise,
    None,
    Return,
}

impl OnError {
    fn of(word: &str) -> PyResult<Self> {
        match word {
            "raise" => Ok(OnError::Raise),
            "none" => Ok(OnError::None),
            "return" => Ok(OnError::Return),
            _ => {
                let what = format!("on_error is {word:?}: give \"raise\", \"none\" or \"return\"");
                Err(PyValueError::new_err(what))
            }
        }
    }
}

/// How a batch is decoded, as Python's half hands it over.
#[derive(FromPyObject)]
pub(crate) struct How(Option<usize>, String, bool);

/// Decodes files on several threads: into `out`, a new array for all of them, or a list of arrays.
#[pyfunction]
pub(crate) fn decode_batch<'py>(
    py: Python<'py>,
    files: Vec<Bound<'py, PyAny>>,
    regions: Vec<Option<Region>>,
    wanted: Wanted,
    how: How,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let How(threads, on_error, stack) = how;
    let (on_error, usual) = (OnError::of(&on_error)?, wanted.settings()?);
    let settings = regions.into_iter().map(|region| with_region(&usual, region));
    let settings = settings.collect::<PyResult<Vec<Settings>>>()?;
    let inputs = files.iter().enumerate().map(|(at, file)| Input::new(file, Some(at)));
    let inputs = inputs.collect::<PyResult<Vec<Input>>>()?;
    if settings.len() != inputs.len() {
        let what = format!(
            "there are {} regions and {} files: give one for each file, or one for all",
            settings.len(),
            inputs.len()
        );
        return Err(PyValueError::new_err(what));
    }
    let batch = Batch { inputs: &inputs, settings: &settings, threads, on_error };
    batch.decode(py, stack, out)
}

/// The files of a batch.
struct Batch<'a> {
    inputs: &'a [Input],
    settings: &'a [Settings],
    threads: Option<usize>,
    on_error: OnError,
}

/// A file of which bytes and size are known.
struct Ready<'a> {
    bytes: &'a [u8],
    size: Size,
}

/// Of each file the bytes that were read, and why none were.
type BytesAndErrors = (Vec<Option<Vec<u8>>>, Vec<Option<PyErr>>);

impl Batch<'_> {
    fn decode<'py>(
        &self,
        py: Python<'py>,
        stack: bool,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (read, mut failed) = self.read(py)?;
        let mut ready = Vec::with_capacity(self.inputs.len());
        for (at, failed) in failed.iter_mut().enumerate() {
            let file = match failed {
                None => self
                    .look_at(at, read[at].as_deref())
                    .map_err(|error| self.place(at).error(py, error.into())),
                Some(error) => Err(error.clone_ref(py)),
            };
            ready.push(match file {
                Err(error) if self.must_raise(py, &error) => return Err(error),
                Err(error) => {
                    *failed = Some(error);
                    None
                }
                Ok(file) => Some(file),
            });
        }
        if stack || out.is_some() {
            return self.stacked(py, &ready, out);
        }
        self.arrays(py, &ready, failed)
    }

    fn place(&self, at: usize) -> Place<'_> {
        Place { index: Some(at), path: self.inputs[at].path() }
    }

    fn must_raise(&self, py: Python<'_>, error: &PyErr) -> bool {
        self.on_error == OnError::Raise || error.is_instance_of::<PyValueError>(py)
    }

    /// For each file its bytes, if it is at a path, or the exception that tells why there are none.
    fn read(&self, py: Python<'_>) -> PyResult<BytesAndErrors> {
        let paths: Vec<&Path> = self.inputs.iter().filter_map(Input::path).collect();
        let read = as_long_as_nobody_interrupts(py, |go_on| read_batch(&paths, self.threads, go_on))?;
        let mut read = read.into_iter();
        let each = self.inputs.iter().enumerate().map(|(at, input)| {
            match input.path().and_then(|_| read.next()).transpose() {
                Ok(bytes) => (bytes, None),
                Err(error) => (None, Some(self.place(at).error(py, error.into()))),
            }
        });
        Ok(each.unzip())
    }

    /// The size that a file is decoded to; `read` are its bytes if it is at a path.
    fn look_at<'b>(&'b self, at: usize, read: Option<&'b [u8]>) -> Result<Ready<'b>, ImageError> {
        let bytes = match &self.inputs[at] {
            Input::Memory(buffer) => buffer.bytes(),
            Input::File(_) => read.unwrap_or_default(),
        };
        let size = Header::read(bytes)?.decoded_size(&self.settings[at])?;
        Ok(Ready { bytes, size })
    }

    /// Decodes to arrays of their own.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        ready: &[Option<Ready<'_>>],
        mut failed: Vec<Option<PyErr>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = |file: &Option<Ready<'_>>| {
            let of = |file: &Ready<'_>| empty(py, &[file.size.height as usize, file.size.width as usize, 3]);
            file.as_ref().map(of).transpose()
        };
        let arrays = ready.iter().map(array).collect::<PyResult<Vec<Option<Bound<'_, PyAny>>>>>()?;
        let memory = |array: &Option<Bound<'_, PyAny>>| {
            array.as_ref().map(|array| Pixels::of(array, false)).transpose()
        };
        let mut memory = arrays.iter().map(memory).collect::<PyResult<Vec<Option<Pixels>>>>()?;
        let mut jobs = Vec::with_capacity(ready.len());
        let mut places = Vec::with_capacity(ready.len());
        for (at, (file, memory)) in ready.iter().zip(&mut memory).enumerate() {
            let room = memory.as_mut().and_then(|memory| memory.images_mut().pop());
            if let (Some(file), Some(out)) = (file, room) {
                jobs.push(Job { bytes: file.bytes, settings: self.settings[at].clone(), out });
                places.push(at);
            }
        }
        let results = self.run(py, jobs)?;
        for (at, result) in places.into_iter().zip(results) {
            if let Err(error) = result {
                let error = self.place(at).error(py, error.into());
                if self.must_raise(py, &error) {
                    return Err(error);
                }
                failed[at] = Some(error);
            }
        }
        drop(memory);
        let results = arrays.into_iter().zip(failed).map(|(array, failed)| match (array, failed) {
            (Some(array), None) => Some(array),
            (_, Some(error)) if self.on_error == OnError::Return => Some(error.value(py).clone().into_any()),
            _ => None,
        });
        Ok(PyList::new(py, results)?.into_any())
    }

    /// Decodes to one array.
    fn stacked<'py>(
        &self,
        py: Python<'py>,
        ready: &[Option<Ready<'_>>],
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ready: Vec<&Ready<'_>> = ready.iter().flatten().collect();
        if self.on_error != OnError::Raise {
            let what = "one array has no place for files that cannot be decoded: leave out on_error, or stack and out";
            return Err(PyValueError::new_err(what));
        }
        let array = match (out, ready.first()) {
            (Some(array), _) => array,
            (None, None) => {
                return Err(PyValueError::new_err("there are no files: a stack has at least one"));
            }
            (None, Some(first)) => {
                self.check_same_size(&ready)?;
                empty(py, &[ready.len(), first.size.height as usize, first.size.width as usize, 3])?
            }
        };
        let mut pixels = Pixels::of(&array, true)?;
        if pixels.len() != ready.len() {
            let what =
                format!("out has room for {} images, and there are {} files", pixels.len(), ready.len());
            return Err(PyValueError::new_err(what));
        }
        for (at, file) in ready.iter().enumerate() {
            check_shape(&pixels, [file.size.height as usize, file.size.width as usize], self.place(at))?;
            refuse_overlap(&pixels, file.bytes)?;
        }
        let jobs = ready.iter().zip(self.settings).zip(pixels.images_mut());
        let jobs =
            jobs.map(|((file, settings), out)| Job { bytes: file.bytes, settings: settings.clone(), out });
        for (at, result) in self.run(py, jobs.collect())?.into_iter().enumerate() {
            result.map_err(|error| self.place(at).error(py, error.into()))?;
        }
        drop(pixels);
        Ok(array)
    }

    fn check_same_size(&self, ready: &[&Ready<'_>]) -> PyResult<()> {
        let size = |at: usize| (ready[at].size.height, ready[at].size.width);
        let Some(other) = (1..ready.len()).find(|&at| size(at) != size(0)) else { return Ok(()) };
        let ((height, width), (other_height, other_width)) = (size(0), size(other));
        Err(PyValueError::new_err(format!(
            "file 0 is decoded to {height} rows and {width} columns, and file {other} to {other_height} and {other_width}: \
             only images of one size are stacked; leave out stack for a list"
        )))
    }

    fn run(&self, py: Python<'_>, jobs: Vec<Job<'_>>) -> PyResult<Vec<Result<(), ImageError>>> {
        let results = as_long_as_nobody_interrupts(py, |go_on| decode_batch_into(jobs, self.threads, go_on))?;
        Ok(results.into_iter().map(|result| result.map(|_| ())).collect())
    }
}

/// Does `work` while other Python threads run. It asks whether to go on, and a signal that raises an exception ends it.
pub(crate) fn as_long_as_nobody_interrupts<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut() -> bool) -> Option<T> + Send,
) -> PyResult<T> {
    let (mut raised, mut looked) = (None, Instant::now());
    let done = py.detach(|| {
        work(&mut || {
            if looked.elapsed() >= SLICE {
                looked = Instant::now();
                raised = Python::attach(|py| py.check_signals()).err();
            }
            raised.is_none()
        })
    });
    match (done, raised) {
        (_, Some(error)) => Err(error),
        (Some(done), None) => Ok(done),
        (None, None) => Err(PyValueError::new_err("the work was left; this is a bug, please report it")),
    }
}
