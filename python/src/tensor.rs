//! One array of a batch, for whichever library takes it: by DLPack, or by NumPy's interface.

use crate::capsule;
use crate::error::to_python;
use feedline::device::Device;
use feedline::dlpack::abi::DLDataType;
use feedline::dlpack::{Field, Tensor as View};
use feedline::loader::Batch;
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::any::Any;
use std::sync::Arc;

/// One array of a batch. `torch.from_dlpack`, `numpy.asarray` and `jax.dlpack.from_dlpack` take it without a copy; it
/// keeps the memory, whatever becomes of the loader.
#[pyclass(frozen, module = "feedline")]
pub(crate) struct Tensor {
    /// What it is a part of; `None` where it was made of the batch.
    field: Option<(Arc<Batch>, usize, Field)>,
    /// Keeps what was made.
    _own: Option<Box<dyn Any + Send + Sync>>,
    shape: Vec<i64>,
    dtype: DLDataType,
    device: Device,
    /// Of the first element; null where there is none.
    address: usize,
    read_only: bool,
}

impl Tensor {
    /// A field of the batch; `None` where it has none of it.
    pub(crate) fn field(batch: &Arc<Batch>, field: Field) -> Option<Self> {
        Self::of_view(batch, 0, field)
    }

    /// A field of view `number` of the batch; `None` where it has none of it.
    pub(crate) fn of_view(batch: &Arc<Batch>, number: usize, field: Field) -> Option<Self> {
        let view = view_of(batch, number, field)?;
        Some(Self {
            shape: view.shape().to_vec(),
            dtype: view.dtype(),
            device: view.device(),
            address: view.data() as usize,
            read_only: view.is_read_only(),
            field: Some((Arc::clone(batch), number, field)),
            _own: None,
        })
    }

    /// Whole numbers in rows of a shape.
    pub(crate) fn integers(values: Vec<i64>, shape: &[usize]) -> Self {
        Self::own(values, shape, DLDataType::I64)
    }

    /// Numbers in rows of a shape.
    pub(crate) fn floats(values: Vec<f32>, shape: &[usize]) -> Self {
        Self::own(values, shape, DLDataType::F32)
    }

    /// Numbers of twice the precision, in rows of a shape.
    pub(crate) fn doubles(values: Vec<f64>, shape: &[usize]) -> Self {
        let double = DLDataType { bits: 64, ..DLDataType::F32 };
        Self::own(values, shape, double)
    }

    fn own<T: Send + Sync + 'static>(values: Vec<T>, shape: &[usize], dtype: DLDataType) -> Self {
        // The address is that of the vector's heap, which stays where it is.
        let address = values.as_ptr() as usize;
        let shape = shape.iter().map(|&edge| edge as i64).collect();
        let device = Device::Cpu;
        Self { field: None, _own: Some(Box::new(values)), shape, dtype, device, address, read_only: false }
    }

    fn typestr(&self) -> Option<&'static str> {
        Some(match (self.dtype.code, self.dtype.bits) {
            (0, 64) => "<i8",
            (0, 32) => "<i4",
            (1, 8) => "|u1",
            (2, 16) => "<f2",
            (2, 32) => "<f4",
            (2, 64) => "<f8",
            (6, 8) => "|b1",
            _ => return None,
        })
    }

    fn name(&self) -> &'static str {
        match (self.dtype.code, self.dtype.bits) {
            (0, 32) => "int32",
            (0, _) => "int64",
            (1, _) => "uint8",
            (2, 16) => "float16",
            (2, 64) => "float64",
            (2, _) => "float32",
            (4, _) => "bfloat16",
            _ => "bool",
        }
    }
}

fn view_of(batch: &Arc<Batch>, number: usize, field: Field) -> Option<View> {
    batch.view_to_dlpack(number, field).map(capsule::writable)
}

/// How to get an array that more can be done with.
const ARRAYS: &str = "give framework=\"torch\", \"numpy\" or \"jax\" to the Loader for arrays of that library, or take this one by its \
                      torch() or numpy()";

#[pymethods]
impl Tensor {
    /// Length of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// Name of the number format: float32, float64, float16, bfloat16, uint8, int32, int64 or bool.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.name()
    }

    /// Where it lies: cpu or cuda:N.
    #[getter]
    fn device(&self) -> String {
        match self.device {
            Device::Cuda { ordinal } => format!("cuda:{ordinal}"),
            _ => "cpu".into(),
        }
    }

    fn __len__(&self) -> usize {
        self.shape.first().map_or(0, |&rows| rows as usize)
    }

    /// For what there is not: whoever asks for it takes this for an array of another library.
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        // Of protocols, which are tried out.
        if name.starts_with('_') {
            return Err(PyAttributeError::new_err(format!("feedline.Tensor has no `{name}`")));
        }
        Err(PyAttributeError::new_err(format!("feedline.Tensor has no `{name}`: {ARRAYS}")))
    }

    fn __getitem__(&self, _index: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err(format!("feedline.Tensor has no elements to take out: {ARRAYS}")))
    }

    fn __repr__(&self) -> String {
        let (dtype, device) = (self.name(), self.device());
        format!("feedline.Tensor(shape={:?}, dtype={dtype}, device={device})", self.shape)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        match self.device {
            Device::Cuda { ordinal } => (2, ordinal as i32),
            _ => (1, 0),
        }
    }

    /// The tensor as a DLPack capsule. On a GPU the work on `stream` from now on is ordered behind the pixels. `_lasts` says that
    /// the stream is never destroyed.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None, _lasts = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
        _lasts: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if copy == Some(true) {
            return Err(PyBufferError::new_err(
                "feedline hands out its own memory: copy it where it arrives",
            ));
        }
        if let Some(other) = dl_device.filter(|&device| device != this.__dlpack_device__()) {
            let own = this.device();
            return Err(PyBufferError::new_err(format!(
                "the tensor lies on {own}, and device {other:?} was asked for: move it where it arrives"
            )));
        }
        let Some((batch, number, field)) = &this.field else {
            // Small arrays that the batch does not hold; NumPy makes capsules of them.
            let array = py.import("numpy")?.call_method1("asarray", (slf,))?;
            return array.call_method0("__dlpack__");
        };
        let view = view_of(batch, *number, *field).ok_or_else(|| {
            PyBufferError::new_err("the batch has no such field; this is a bug, please report it")
        })?;
        let lasts = match (stream, this.device) {
            (Some(stream), Device::Cuda { ordinal }) if stream > 2 && _lasts.is_none() => {
                py.import("feedline._words")?.call_method1("lasts", (stream, ordinal))?.extract()?
            }
            _ => true,
        };
        capsule::order(&view, stream, lasts).map_err(|error| to_python(py, error))?;
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        if view.is_read_only() && !versioned {
            // As NumPy does: the old struct cannot say so. A copy of labels is small.
            let array = py.import("numpy")?.call_method1("array", (slf,))?;
            return array.call_method0("__dlpack__");
        }
        capsule::capsule(py, view, versioned)
    }

    /// For NumPy and whatever knows its protocol.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.device != Device::Cpu {
            let place = self.device();
            return Err(PyTypeError::new_err(format!(
                "the tensor lies on {place}: take it with torch.from_dlpack, cupy.from_dlpack or jax.dlpack.from_dlpack"
            )));
        }
        let Some(typestr) = self.typestr() else {
            return Err(PyTypeError::new_err(
                "NumPy has no bfloat16: take the tensor with torch.from_dlpack, or ask for dtype=\"float32\"",
            ));
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", self.shape(py)?)?;
        interface.set_item("typestr", typestr)?;
        interface.set_item("data", (self.address, self.read_only))?;
        Ok(interface)
    }

    /// The array as NumPy's, without a copy.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("numpy")?.call_method1("asarray", (slf,))
    }

    /// The array as torch's, without a copy.
    fn torch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("torch")?.call_method1("from_dlpack", (slf,))
    }
}
