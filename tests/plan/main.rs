//! What ops become: drafts and their frozen plans, and what of them the kernels read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod c_layout;
mod compose;
mod draft;
mod jobs_layout;
mod plan_layout;
