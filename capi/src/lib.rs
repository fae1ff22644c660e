//! feedline for C: handles, numbers that say how a call ended, and arrays where they lie.
//!
//! `include/feedline.h` is made of this crate, and its comments are the documentation that C users read. No panic
//! crosses the border: it becomes an error. Null where a handle is expected is an error too.

#![expect(unsafe_code, reason = "functions of a C library keep their names")]

mod batch;
mod border;
mod decode;
mod epoch;
mod loader;
mod options;
mod tensor;

pub use batch::*;
pub use border::*;
pub use decode::*;
pub use epoch::*;
pub use loader::*;
pub use options::*;
pub use tensor::*;

use std::ffi::c_char;

/// Grows when something in this header changes that programs rely on.
pub const ABI_VERSION: u32 = 1;

/// ABI_VERSION of the library that is running; a program that was built with another one must not go on.
#[unsafe(no_mangle)]
pub extern "C" fn feedline_abi_version() -> u32 {
    ABI_VERSION
}

/// The version of feedline, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn feedline_version() -> *const c_char {
    const VERSION: &std::ffi::CStr =
        match std::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}
