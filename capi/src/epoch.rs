//! One pass over the data, behind a handle.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::batch::Batch;
use crate::border::{Failure, Status, alone, c_text, give, guard, is_there, release, shared, write};
use std::ffi::c_char;

/// The batches of one epoch, in order. It may be used by one thread at a time.
pub struct Epoch {
    epoch: feedline::loader::Epoch,
}

impl Epoch {
    pub(crate) fn new(epoch: feedline::loader::Epoch) -> Self {
        Self { epoch }
    }
}

/// Waits for the next batch. FEEDLINE_STATUS_END, and null in `batch`, where there is no further one; after an error there
/// is none.
///
/// # Safety
/// `epoch` is from a function of a loader and used by no other thread; `batch` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_epoch_next(epoch: *mut Epoch, batch: *mut *mut Batch) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let epoch = unsafe { alone(epoch, "epoch")? };
        // Ahead of taking one, which would be lost where it cannot be handed over.
        // SAFETY: the caller's promise.
        unsafe { write(batch, std::ptr::null_mut(), "batch")? };
        match epoch.epoch.next().transpose()? {
            // SAFETY: the caller's promise.
            Some(next) => unsafe { give(batch, Batch::new(next), "batch") },
            None => Ok(Status::End),
        }
    })
}

/// Batches that are still to come.
///
/// # Safety
/// `epoch` is from a function of a loader; `batches` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_epoch_left(epoch: *const Epoch, batches: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(batches, shared(epoch, "epoch")?.epoch.len() as u64, "batches") }
    })
}

/// Where the run stands behind the last batch that was handed out, as JSON of a few hundred bytes, for
/// feedline_loader_resume(). To be freed by feedline_string_free().
///
/// # Safety
/// `epoch` is from a function of a loader and used by no other thread; `state` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_epoch_state(epoch: *const Epoch, state: *mut *mut c_char) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let epoch = unsafe { shared(epoch, "epoch")? };
        is_there(state, "state")?;
        let text = serde_json::to_string(&epoch.epoch.state());
        let text = text.map_err(|error| Failure::invalid(format!("the state has no text: {error}")))?;
        // SAFETY: the caller's promise.
        unsafe { write(state, c_text(&text).into_raw(), "state") }
    })
}

/// Ends an epoch and frees it; null is let pass. Its batches stay valid.
///
/// # Safety
/// `epoch` is null or from a function of a loader, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_epoch_free(epoch: *mut Epoch) {
    // SAFETY: the caller's promise.
    unsafe { release(epoch) }
}
