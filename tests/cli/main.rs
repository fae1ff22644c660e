//! The command as its users run it: what it prints, what it writes, and how it fails.

mod apply;
mod bench;
mod files;
mod formats;
mod index;
mod labelled;
mod pack;
mod plan;
mod preview;
mod support;
#[path = "../formats/write.rs"]
mod write;
