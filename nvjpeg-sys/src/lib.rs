//! nvJPEG as its C header declares it, looked up at run time: what links this starts without nvJPEG.
//!
//! All of `nvjpeg.h` is declared, as releases 12.1 to 13.3 have it; what only some of them have says since when, and
//! functions that a library may lack are `Option`s. Numbers that C has as enumerations are plain integers here, since a
//! newer library may return ones that no declaration knows. [`Library::open`] finds the library and its functions, or
//! says what is missing.
//!
//! The example `header` compares the declarations with real headers and libraries: it has a C compiler check every type,
//! number and offset in [`declared`].

#![warn(missing_docs)]

pub mod declared;
mod find;
mod functions;
mod loaded;
mod types;
mod values;

pub use find::{Library, OpenError, Unusable, VARIABLE, candidates};
pub use functions::*;
pub use loaded::loaded;
pub use types::*;
pub use values::*;
