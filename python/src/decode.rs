//! Decoding without a loader: bytes or paths in, NumPy's arrays out.

use crate::buffer::Pixels;
use crate::input::{Input, Place};
use crate::settings::{Region, Wanted, with_region};
use feedline::decode::{Header, decode_into};
use feedline::regular_file;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

/// A new array of NumPy's, whose levels are whatever its memory held.
pub(crate) fn empty<'py>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let (empty, dtype) = EMPTY.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        PyResult::Ok((numpy.getattr("empty")?.unbind(), numpy.call_method1("dtype", ("uint8",))?.unbind()))
    })?;
    let shape = PyTuple::new(py, shape)?;
    empty.bind(py).call1((shape, dtype))
}

/// Decodes a file into `out`, or a new array.
#[pyfunction]
pub(crate) fn decode<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    region: Option<Region>,
    wanted: Wanted,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = with_region(&wanted.settings()?, region)?;
    let input = Input::new(data, None)?;
    let place = Place { index: None, path: input.path() };
    let fails = |error| place.error(py, error);
    let read;
    let bytes = match &input {
        Input::Memory(buffer) => buffer.bytes(),
        Input::File(path) => {
            read = py.detach(|| regular_file::read(path)).map_err(|error| fails(error.into()))?;
            &read
        }
    };
    let size = Header::read(bytes).and_then(|header| header.decoded_size(&settings));
    let size = size.map_err(|error| fails(error.into()))?;
    let shape = [size.height as usize, size.width as usize];
    let array = match out {
        Some(array) => array,
        None => empty(py, &[shape[0], shape[1], 3])?,
    };
    let mut pixels = Pixels::of(&array, false)?;
    check_shape(&pixels, shape, place)?;
    refuse_overlap(&pixels, bytes)?;
    let mut room = pixels.images_mut();
    let out = room.pop().ok_or_else(|| PyValueError::new_err("out has no room for an image"))?;
    py.detach(|| decode_into(bytes, &settings, out)).map_err(|error| fails(error.into()))?;
    drop(room);
    drop(pixels);
    Ok(array)
}

pub(crate) fn check_shape(out: &Pixels, [height, width]: [usize; 2], place: Place<'_>) -> PyResult<()> {
    if out.size() == (height, width) {
        return Ok(());
    }
    let (name, (own_height, own_width)) =
        (place.index.map(|at| format!(" {at}")).unwrap_or_default(), out.size());
    Err(PyValueError::new_err(format!(
        "file{name} is decoded to {height} rows and {width} columns, and out has {own_height} and {own_width}: \
         Header(data).decoded_shape() tells the shape"
    )))
}

/// Pixels that are written over the file that they are decoded of would be those of another file.
pub(crate) fn refuse_overlap(out: &Pixels, bytes: &[u8]) -> PyResult<()> {
    let (out, file) = (out.addresses(), bytes.as_ptr_range());
    if out.start < file.end as usize && (file.start as usize) < out.end {
        return Err(PyValueError::new_err(
            "out and the file's bytes share memory: give out memory of its own",
        ));
    }
    Ok(())
}
