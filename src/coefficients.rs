//! Quantised coefficients of JPEGs in a form that vectors read: the same pixels to the bit, without Huffman codes.
//!
//! docs/coefficients.md specifies the format. A file is a head and segments of some rows of MCUs; a segment is a list of groups
//! of at most 32 blocks that stand side by side; and a group tells for all of its blocks which coefficients are not zero, and
//! then their values in 2, 4 or 8 bits. A decode expands a group at a time and hands it to the inverse DCT, so a region reads the
//! groups that it touches. What is not held exactly (damaged files, 12 bits, arithmetic coding) is not converted.

mod convert;
mod decode;
mod encode;
mod error;
mod expand;
mod group;
mod header;
mod layout;
#[cfg(feature = "cuda")]
mod places;
mod segment;
#[cfg(test)]
mod tests;
mod walk;
mod widths;

pub use convert::{ConvertError, Converter};
pub(crate) use decode::Decoder;
pub use encode::Profile;
pub use error::CoefficientsError;
pub(crate) use header::is_coefficients;
pub use header::{Header, parse_header};
#[cfg(feature = "cuda")]
pub(crate) use places::places;
#[cfg(feature = "cuda")]
pub(crate) use widths::Width;
