//! The segments of a file: markers, the headers of frame and scans, and EXIF's orientation.

pub(crate) mod exif;
mod frame;
pub(crate) mod marker;
mod parse;
mod scan;

pub(crate) use frame::{Component, Frame};
pub use parse::{ColorModel, Header, Sampling, parse_header};
pub(crate) use scan::Scan;
