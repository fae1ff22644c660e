//! The one lock of the pipeline, where workers and the consumer meet.
//!
//! [`state`] holds what the lock guards and has no threads; [`locked`] is the lock, and who waits for what. A test runs
//! [`locked`] again with a lock whose interleavings it chooses.

pub(super) mod buffers;
pub(super) mod lent;
mod locked;
#[cfg(test)]
pub(super) mod model;
mod state;
pub(super) mod task;

pub(super) use locked::Queue;

/// The lock and the conditions; those of the tests' model are of another make.
mod sync {
    pub(super) use std::sync::{Condvar, Mutex, MutexGuard};
}
