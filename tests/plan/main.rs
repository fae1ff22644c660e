//! What ops become: drafts and their frozen plans, and what of them the kernels read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[cfg(feature = "cuda")]
mod c_layout;
mod compose;
mod draft;
#[cfg(feature = "cuda")]
mod jpeg_layout;
mod layout;
mod placement;
