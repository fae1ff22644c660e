//! The command as its users run it: what it prints, what it writes, and how it fails.

mod apply;
mod bench;
mod convert;
mod doctor;
mod files;
mod formats;
mod help;
mod index;
mod labelled;
mod options;
mod pack;
mod plan;
mod preview;
mod remote;
#[cfg(feature = "remote")]
#[allow(dead_code, reason = "faults are for the tests in tests/remote")]
#[path = "../remote/server.rs"]
mod server;
mod support;
#[cfg(unix)]
mod terminal;
#[path = "../source/write.rs"]
mod write;
