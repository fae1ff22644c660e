//! feedline's own JPEG decoder on the device: libjpeg-turbo's pixels to the bit, from pieces of scans that are decoded side by
//! side, or from the groups of a file of coefficients.

mod decoder;
mod file_scan;
mod files;
mod image_record;
mod kernels;
#[doc(hidden)]
pub mod layout;
mod left_out;
mod loaded;
mod packed;
mod prepared;
mod program;
mod scan;
mod settling;

pub(crate) use decoder::{ScanDecoder, Verdict};
#[doc(hidden)]
pub use file_scan::FileScan;
pub use files::{DecodedFile, ParallelDecoder};
pub use left_out::LeftOut;
pub use loaded::FilePart;
pub use prepared::{Moved, Prepared};
pub(crate) use program::Job;
#[doc(hidden)]
pub use program::Tables;
pub use scan::aligned;
pub(crate) use scan::{Scan, ScanMaker};
pub use settling::Settling;
