//! The CUDA driver in three layers: declarations (cudarc's), checked calls, and owners that free what they own.
//!
//! ```text
//! safe     context  stream  event  memory  module     all that the rest of the crate uses
//! result   library  result                            every call returns Result<(), CudaError>
//! sys      cudarc::driver::sys                        types only: none of its functions is called
//! ```
//!
//! cudarc's own functions are not called, for three reasons: they panic if the library or a symbol is missing; they
//! return a Rust enum, for which a code of a newer driver would be undefined behaviour; and they prefer `libcuda.so`,
//! which may be a toolkit's stub, to the driver's own `libcuda.so.1`. So `library` looks the symbols up itself, as
//! functions that return `u32`; the compiler compares their arguments with cudarc's declarations.
//!
//! Nothing here waits by itself: the owner who frees memory has to know that the device is done with it. Every call makes the
//! context current for its own time and puts back what the calling thread had, so that owners may be used and dropped
//! on any thread, a trainer's included, also while the trainer captures a graph. Nothing uses the default stream.

mod account;
mod capture;
mod context;
mod devices;
mod event;
mod library;
mod memory;
mod module;
mod result;
mod stream;
mod sync_guard;

pub(crate) use account::{GRANULARITY, Purpose};
pub(crate) use context::Context;
pub(crate) use event::Event;
pub(crate) use library::{Absent, Driver};
pub(crate) use memory::{DeviceBuffer, PinnedBuffer};
pub(crate) use module::Function;
pub(crate) use result::{CudaError, code};
pub(crate) use stream::{Priority, Stream};
pub(crate) use sync_guard::{SyncGuard, finish, is_done, wait_for_device};

/// An address in the device's memory.
pub(crate) type DevicePtr = u64;
