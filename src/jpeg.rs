//! JPEG: header and CPU decoder, with libjpeg-turbo's pixels (ISLOW IDCT, fancy upsampling) to the bit.
//!
//! Baseline, extended sequential and progressive files of 8 bits with one, three or four components are decoded, as
//! a whole or a part. Bytes go through these stages, one row of MCUs at a time so that the data stays in cache:
//!
//! ```text
//! marker, header -> stream (unstuffed bytes) -> sequential | progressive -> idct -> strips -> upsample -> convert
//! ```
//!
//! A sequential file with one scan never exists as coefficients; only progressive files and files with several scans
//! are collected in whole (`coefficients`). On request the first kind notes where its rows begin, so that the next
//! decode can start in the middle (`index`). Arithmetic coding, 12 bits, lossless and hierarchical files and heights
//! that only a DNL marker gives are deliberately absent: they are refused by name.

mod bits;
mod coefficients;
mod convert;
mod decode;
mod error;
pub(crate) mod exif;
mod frame;
mod header;
mod huffman;
mod idct;
mod index;
mod marker;
mod pending;
mod progressive;
mod rows;
mod scale;
mod sequential;
mod standard_tables;
mod stream;
mod strips;
mod tables;
#[cfg(test)]
mod tests;
mod trail;
mod upsample;

pub use decode::{Decoder, Limits};
pub use error::JpegError;
pub use header::{ColorModel, Header, Sampling, parse_header};
pub use index::{Index, IndexUse};
pub use rows::PixelsMut;
pub(crate) use rows::Rows;
pub use scale::{Part, Scale};
