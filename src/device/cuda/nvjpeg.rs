//! nvJPEG in three layers: declarations (`nvjpeg-sys`), checked calls, and owners that free what they own.
//!
//! ```text
//! safe     choice  handle  batch  phases  objects     all that the rest of the crate uses
//! result   library  flags  result                     every call returns Result<(), NvjpegError>
//! sys      nvjpeg_sys                                 declarations, and the search for the library
//! ```
//!
//! All objects but the handle belong to one thread at a time. Every call makes the handle's context current for its
//! duration. Objects are destroyed in order when their owners are dropped, except while the process is ending: by then
//! the library may have shut down, and calling its destructors would crash (`exit`).

mod batch;
mod choice;
mod exit;
mod flags;
mod handle;
mod library;
mod objects;
mod phases;
mod result;

pub(crate) use batch::{Batch, Item};
pub(crate) use choice::{Absent, chosen, in_use, start};
pub use flags::NvjpegFlags;
pub(crate) use handle::{Backend, Handle};
pub(crate) use library::Nvjpeg;
pub use library::{look_for_nvjpeg_in, nvjpeg_candidates};
pub(crate) use objects::Parser;
pub(crate) use phases::Lane;
pub(crate) use result::NvjpegError;
