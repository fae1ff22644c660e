//! Tensors that other libraries hold: one allocation each, with the tensor that C sees and the owner of its memory.

#![expect(unsafe_code, reason = "what C was given comes back as a raw pointer")]

use super::Tensor;
use super::abi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor, VERSION};
use super::field::View;
use crate::loader::Batch;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// The target of `manager_ctx`. Pointers to `managed` are given away, so it must not move.
struct Holder<T, O> {
    managed: T,
    /// What the tensor in `managed` points at.
    _strides: Vec<i64>,
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

/// Makes the holder; `managed` makes the struct that C sees, of its tensor and the holder's address.
fn hold<T, O>(mut view: View, owner: O, managed: impl FnOnce(DLTensor, *mut c_void) -> T) -> *mut T {
    let mut strides = strides(&view.shape);
    // What a vector points at stays where it is when the vector itself moves into the holder.
    let tensor = DLTensor {
        data: view.data,
        device: view.dl_device(),
        ndim: view.shape.len() as i32,
        dtype: view.dtype,
        shape: view.shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let holder = Box::into_raw(Box::<Holder<T, O>>::new_uninit()).cast::<Holder<T, O>>();
    let managed = managed(tensor, holder.cast());
    // SAFETY: just allocated for a holder, and not shared yet.
    unsafe { holder.write(Holder { managed, _strides: strides, view, owner }) };
    // SAFETY: the holder is alive; no reference is made, so the pointer may be used alongside `manager_ctx`.
    unsafe { &raw mut (*holder).managed }
}

pub(super) fn versioned(tensor: Tensor) -> *mut DLManagedTensorVersioned {
    let Tensor { batch, view, flags } = tensor;
    hold(view, batch, |dl_tensor, manager_ctx| DLManagedTensorVersioned {
        version: VERSION,
        manager_ctx,
        deleter: Some(delete_versioned),
        flags,
        dl_tensor,
    })
}

/// `owner` keeps the memory of `view` alive, and may be dropped on any thread.
pub(super) fn unversioned<O: Send + 'static>(view: View, owner: O) -> *mut DLManagedTensor {
    hold(view, owner, |dl_tensor, manager_ctx| DLManagedTensor {
        dl_tensor,
        manager_ctx,
        deleter: Some(delete_unversioned::<O>),
    })
}

/// # Safety
/// `raw` is from [`versioned`], unchanged, and is not used again.
pub(super) unsafe fn take_back(raw: *mut DLManagedTensorVersioned) -> Tensor {
    // SAFETY: nobody has deleted or changed what `versioned` made, so it is alive, and `manager_ctx` is the Box of `hold`, with
    // an owner of this type.
    let holder =
        unsafe { Box::from_raw((*raw).manager_ctx.cast::<Holder<DLManagedTensorVersioned, Arc<Batch>>>()) };
    Tensor { batch: holder.owner, view: holder.view, flags: holder.managed.flags }
}

/// # Safety
/// As [`take_back`]; null is ignored.
unsafe extern "C" fn delete_versioned(raw: *mut DLManagedTensorVersioned) {
    if !raw.is_null() {
        // SAFETY: DLPack has a consumer call the deleter once, with the tensor that has it, and not use that again; this one
        // stands in no tensor but those of `versioned`.
        let_go(unsafe { take_back(raw) });
    }
}

/// # Safety
/// `raw` is from [`unversioned`] with an owner of this type, unchanged, and is not used again; null is ignored.
unsafe extern "C" fn delete_unversioned<O>(raw: *mut DLManagedTensor) {
    if !raw.is_null() {
        // SAFETY: as in `delete_versioned`; `manager_ctx` is the Box of `hold`, whose owner's type is that of this deleter.
        let_go(unsafe { Box::from_raw((*raw).manager_ctx.cast::<Holder<DLManagedTensor, O>>()) });
    }
}

/// Drops what C has deleted. A panic on the way ends here, for in C it could only end the process: it was reported as any panic
/// is. To drop what it carries may panic as well, and what that carries is left.
fn let_go<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        && let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic)))
    {
        std::mem::forget(again);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dlpack::abi::DLDataType;
    use crate::dlpack::field::array;
    use std::panic::panic_any;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// Panics when it is dropped, with something that does the same.
    struct Panics(Arc<AtomicUsize>);

    impl Drop for Panics {
        fn drop(&mut self) {
            match self.0.fetch_add(1, SeqCst) {
                0 => panic_any(Self(Arc::clone(&self.0))),
                // Of no size, so that nothing is left.
                _ => panic_any(()),
            }
        }
    }

    #[test]
    fn a_deleter_returns_whatever_its_owner_does() {
        let drops = Arc::new(AtomicUsize::new(0));
        let raw = unversioned(
            array(std::ptr::null_mut(), &[0], DLDataType::U8),
            (Panics(Arc::clone(&drops)), Arc::clone(&drops)),
        );
        // SAFETY: just made, and deleted once.
        unsafe { (*raw).deleter.map(|delete| delete(raw)) };
        assert_eq!(drops.load(SeqCst), 2, "the owner, and what its panic carries");
        assert_eq!(Arc::strong_count(&drops), 1, "all of the owner is freed");
    }

    #[test]
    fn the_deleter_of_a_batch_returns_whatever_the_batch_does() {
        let gone = Arc::new(AtomicUsize::new(0));
        let tensor = Arc::new(Batch::that_panics_when_it_goes(Arc::clone(&gone))).to_dlpack();
        let raw = tensor.into_raw();
        // SAFETY: as above.
        unsafe { (*raw).deleter.map(|delete| delete(raw)) };
        let tensor = Arc::new(Batch::that_panics_when_it_goes(Arc::clone(&gone))).to_dlpack();
        let raw = tensor.into_raw_unversioned();
        // SAFETY: as above.
        unsafe { (*raw).deleter.map(|delete| delete(raw)) };
        assert_eq!(gone.load(SeqCst), 2);
    }
}
