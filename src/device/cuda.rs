//! The CUDA backend: a driver that may be missing, nvJPEG that may be missing, and never a panic over either.

pub(crate) mod decode;
pub(crate) mod driver;
mod engine;
pub(crate) mod nvjpeg;
mod probe;
pub(crate) mod render;

pub use crate::device::DeviceImages;
pub use decode::{DecodedImage, ImageDecoder, Rounds, Route};
pub(crate) use engine::CudaBackend;
pub(crate) use probe::is_simulated_device;
pub use probe::{Decoding, Found, Missing, NvjpegFound, Survey, find, survey};
pub use render::Renderer;
#[doc(hidden)]
pub use render::layout;

use driver::CudaError;

/// What to do about a device that fails.
pub(crate) fn remedy(error: &CudaError) -> &'static str {
    if error.is_out_of_memory() {
        "use a smaller batch_size, prefetch or device_memory, or free memory that other programs hold on the device"
    } else {
        "start the program again; if it fails again, run `feedline doctor`, or use the CPU device"
    }
}
