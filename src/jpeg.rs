//! JPEG: header and CPU decoder, with libjpeg-turbo's pixels (ISLOW IDCT, fancy upsampling) to the bit.
//!
//! The decoder reads 8-bit baseline, extended sequential and progressive files of one, three or four components, and
//! decodes the whole image or a region of it. It has six rooms, five of them in the order in which the bytes pass through
//! them:
//!
//! * `header`: markers, the headers of frame and scans, EXIF's orientation;
//! * `entropy`: from the bytes of a scan to coefficients;
//! * `transform`: from coefficients to samples, by the inverse DCT;
//! * `output`: from samples to rows of RGB, by upsampling and colour conversion;
//! * `seek`: where in a scan a decode can start and stop reading;
//! * `lenient`: another decoder, slow and only for what the others refuse: damaged files, and arithmetic coding.
//!
//! `decode` drives them, one row of MCUs at a time, so that the data stay in cache. A sequential file with one scan
//! never exists as coefficients; only progressive files and files with several scans are collected as a whole
//! (`decode/coefficients`). Deliberately absent are 12 bits, lossless and hierarchical files, and
//! heights that only a DNL marker gives: the decoder refuses them by name.

mod decode;
mod entropy;
mod error;
mod header;
mod lenient;
mod limits;
mod output;
#[cfg(feature = "cuda")]
pub(crate) mod parallel;
mod seek;
#[cfg(test)]
mod tests;
mod transform;

pub(crate) use decode::Coefficients;
pub use decode::Decoder;
pub(crate) use decode::scratch_bytes;
pub use error::JpegError;
pub(crate) use header::exif;
#[cfg(feature = "cuda")]
pub(crate) use header::image_end;
pub use header::{ColorModel, Header, Sampling, parse_header};
pub(crate) use header::{Component, Frame};
pub use lenient::Damage;
pub use limits::Limits;
pub use output::{Part, PixelsMut, Scale};
pub(crate) use output::{Planes, Rows};
pub use seek::{Index, IndexUse};
pub(crate) use transform::{BlockGroup, Quant, Quants, ZIGZAG};
