//! The segments of a file: markers, the headers of frame and scans, and EXIF's orientation.

#[cfg(feature = "cuda")]
mod end;
pub(crate) mod exif;
mod frame;
pub(crate) mod marker;
mod parse;
mod scan;

#[cfg(feature = "cuda")]
pub(crate) use end::image_end;
pub(crate) use frame::{Component, Frame};
pub use parse::{ColorModel, Header, Sampling, parse_header};
pub(crate) use scan::{Scan, ScanComponent};
