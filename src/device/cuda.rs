//! The CUDA backend: a driver that may be missing, nvJPEG that may be missing, and never a panic over either.

#[allow(dead_code, unused_imports, reason = "the floor is written whole; what stands on it is still growing")]
pub(crate) mod decode;
#[allow(dead_code, unused_imports, reason = "the floor is written whole; what stands on it is still growing")]
pub(crate) mod driver;
#[allow(dead_code, unused_imports, reason = "the floor is written whole; what stands on it is still growing")]
pub(crate) mod nvjpeg;
mod probe;

pub use decode::{DecodedImage, ImageDecoder, Route};
pub(crate) use probe::is_simulated_device;
pub use probe::{Decoding, Found, Missing, NvjpegFound, Survey, find, survey};
