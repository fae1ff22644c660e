//! Tensors that other libraries hold: one allocation each, with the tensor that C sees and the owner of its memory.

#![expect(unsafe_code, reason = "what C was given comes back as a raw pointer")]

use super::Tensor;
use super::abi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor, VERSION};
use super::field::View;
use crate::loader::Batch;
use std::ffi::c_void;
use std::sync::Arc;

// SAFETY: the pointer of a view is an address. While the batch is shared, its target is only written under the promise
// of exclusive use (Tensor::allow_writes), and the batch itself is Send and Sync.
unsafe impl Send for Tensor {}
// SAFETY: as above.
unsafe impl Sync for Tensor {}

const _: () = {
    const fn is_shared_between_threads<T: Send + Sync>() {}
    is_shared_between_threads::<crate::loader::Batch>();
};

/// The target of `manager_ctx`. `managed` points into it, so it must not move.
struct Holder<T, O> {
    managed: T,
    strides: Vec<i64>,
    view: View,
    /// Keeps the view's memory alive.
    owner: O,
}

/// The strides of a contiguous row-major array.
fn strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}

/// Makes the holder; `place` writes its tensor and its address into the struct that C sees.
fn hold<T, O>(view: View, owner: O, managed: T, place: fn(&mut T, DLTensor, *mut c_void)) -> *mut T {
    let holder = Holder { managed, strides: strides(&view.shape), view, owner };
    let holder = Box::into_raw(Box::new(holder));
    // SAFETY: just made, and not shared yet. The vectors do not move as long as the holder lives.
    let parts = unsafe { &mut *holder };
    let tensor = DLTensor {
        data: parts.view.data,
        device: parts.view.dl_device(),
        ndim: parts.view.shape.len() as i32,
        dtype: parts.view.dtype,
        shape: parts.view.shape.as_mut_ptr(),
        strides: parts.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    place(&mut parts.managed, tensor, holder.cast());
    // SAFETY: the holder is alive; no reference is made, so the pointer may be used alongside `manager_ctx`.
    unsafe { &raw mut (*holder).managed }
}

const NOWHERE: DLTensor = DLTensor {
    data: std::ptr::null_mut(),
    device: super::DLDevice { device_type: super::abi::CPU, device_id: 0 },
    ndim: 0,
    dtype: super::DLDataType::U8,
    shape: std::ptr::null_mut(),
    strides: std::ptr::null_mut(),
    byte_offset: 0,
};

pub(super) fn versioned(tensor: Tensor) -> *mut DLManagedTensorVersioned {
    let Tensor { batch, view, flags } = tensor;
    let managed = DLManagedTensorVersioned {
        version: VERSION,
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(delete_versioned),
        flags,
        dl_tensor: NOWHERE,
    };
    hold(view, batch, managed, |managed, tensor, holder| {
        managed.dl_tensor = tensor;
        managed.manager_ctx = holder;
    })
}

/// `owner` keeps the memory of `view` alive, and may be dropped on any thread.
pub(super) fn unversioned<O: Send + 'static>(view: View, owner: O) -> *mut DLManagedTensor {
    let managed = DLManagedTensor {
        dl_tensor: NOWHERE,
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(delete_unversioned::<O>),
    };
    hold(view, owner, managed, |managed, tensor, holder| {
        managed.dl_tensor = tensor;
        managed.manager_ctx = holder;
    })
}

/// # Safety
/// `raw` is from [`versioned`], unchanged, and is not used again.
pub(super) unsafe fn take_back(raw: *mut DLManagedTensorVersioned) -> Tensor {
    // SAFETY: the caller's promise: it is alive, and `manager_ctx` is the Box that `hold` made.
    let holder =
        unsafe { Box::from_raw((*raw).manager_ctx.cast::<Holder<DLManagedTensorVersioned, Arc<Batch>>>()) };
    Tensor { batch: holder.owner, view: holder.view, flags: holder.managed.flags }
}

/// # Safety
/// As [`take_back`]; null is ignored.
unsafe extern "C" fn delete_versioned(raw: *mut DLManagedTensorVersioned) {
    if !raw.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { take_back(raw) });
    }
}

/// # Safety
/// `raw` is from [`unversioned`] with an owner of this type, unchanged, and is not used again; null is ignored.
unsafe extern "C" fn delete_unversioned<O>(raw: *mut DLManagedTensor) {
    if !raw.is_null() {
        // SAFETY: the caller's promise: it is alive, and `manager_ctx` is the Box that `hold` made.
        drop(unsafe { Box::from_raw((*raw).manager_ctx.cast::<Holder<DLManagedTensor, O>>()) });
    }
}
