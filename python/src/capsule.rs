//! Tensors in Python's capsules, as DLPack's Python protocol hands them from library to library.

#![expect(unsafe_code, reason = "a capsule holds a raw tensor, which its consumer or its destructor deletes")]

use feedline::dlpack::Tensor;
use feedline::dlpack::abi::{DLManagedTensor, DLManagedTensorVersioned};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};

/// A capsule that nobody has taken the tensor out of yet has this name; its consumer gives it another.
const VERSIONED: &CStr = c"dltensor_versioned";
const UNVERSIONED: &CStr = c"dltensor";

/// What a consumer asks for: the structs of DLPack 1, or those before.
pub(crate) fn capsule(py: Python<'_>, tensor: Tensor, versioned: bool) -> PyResult<Bound<'_, PyAny>> {
    match versioned {
        true => wrap(py, tensor.into_raw().cast(), VERSIONED, drop_versioned),
        false => wrap(py, tensor.into_raw_unversioned().cast(), UNVERSIONED, drop_unversioned),
    }
}

fn wrap<'py>(
    py: Python<'py>,
    tensor: *mut c_void,
    name: &'static CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the interpreter is attached; the tensor is not null, the name is static, and the destructor takes a
    // capsule of this name. A new capsule is a reference of ours, or null with an exception set.
    unsafe {
        let capsule = ffi::PyCapsule_New(tensor, name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// # Safety
/// `capsule` is a capsule that [`wrap`] made, in its destruction.
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter destroys a capsule of `wrap`'s, once; one that still has this name holds the tensor that `into_raw`
    // gave, and nobody has called its deleter, which is to be called once and lets no panic out.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            let tensor: *mut DLManagedTensorVersioned =
                ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast();
            if let Some(delete) = (*tensor).deleter {
                delete(tensor);
            }
        }
    }
}

/// # Safety
/// As [`drop_versioned`].
unsafe extern "C" fn drop_unversioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as in `drop_versioned`, of the tensor that `into_raw_unversioned` gave.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, UNVERSIONED.as_ptr()) == 1 {
            let tensor: *mut DLManagedTensor =
                ffi::PyCapsule_GetPointer(capsule, UNVERSIONED.as_ptr()).cast();
            if let Some(delete) = (*tensor).deleter {
                delete(tensor);
            }
        }
    }
}

/// Orders a consumer's stream behind the tensor, as the `stream` of `__dlpack__` names it; `lasts` says that the stream is never
/// destroyed.
pub(crate) fn order(tensor: &Tensor, stream: Option<i64>, lasts: bool) -> feedline::error::Result<()> {
    // SAFETY: by DLPack's Python protocol the stream is the consumer's own, of this tensor's device, and alive during this call.
    unsafe {
        match lasts {
            true => tensor.use_on_numbered(stream),
            // CuPy's, for example, go with the objects that stand for them, while arrays may live on.
            false => tensor.use_on_passing_numbered(stream),
        }
    }
}

/// A view of pixels that may be written: Python's arrays are shared and written by whoever has them, one after another.
pub(crate) fn writable(tensor: Tensor) -> Tensor {
    // SAFETY: this crate reads pixels through no slice once a batch is in Python's hands, and whoever writes to an array
    // there answers for its other users, as with any array of NumPy's or torch's.
    unsafe { tensor.allow_writes() }
}
