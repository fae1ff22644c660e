//! The CUDA backend: a driver that may be missing, nvJPEG that may be missing, and never a panic over either.

pub(crate) mod decode;
pub(crate) mod driver;
mod engine;
mod host_bytes;
pub mod jpeg;
pub(crate) mod kernel;
pub(crate) mod nvjpeg;
mod probe;
pub(crate) mod render;
mod room;
mod target;

pub use crate::device::DeviceImages;
pub use decode::{DecodedImage, ImageDecoder, Rounds, Route};
pub(crate) use engine::CudaBackend;
pub use nvjpeg::{NvjpegFlags, look_for_nvjpeg_in, nvjpeg_candidates};
pub(crate) use probe::is_simulated_device;
pub use probe::{Decoding, Found, Missing, NvjpegFound, Survey, find, survey};
pub use render::Renderer;
#[doc(hidden)]
pub use render::layout;

use crate::error::Error;
use driver::CudaError;

/// The remedy where a context is lost.
const RESTART: &str = "restart the process: after this error nothing in it can use the device any more, whoever has caused \
                       it; if it comes again, see what `nvidia-smi` says of the device, or use the CPU device";

/// A failing device as the crate's error.
fn failed(ordinal: u32, error: &CudaError) -> Error {
    let remedy = if error.is_out_of_memory() {
        "use a smaller batch_size, prefetch, image_cache or device_memory, or free memory that other programs hold on the device"
    } else if error.is_sticky() {
        RESTART
    } else {
        "start the program again; if it fails again, run `feedline doctor`, or use the CPU device"
    };
    Error::Unavailable {
        what: format!("CUDA device {ordinal}"),
        why: error.to_string(),
        remedy: remedy.into(),
    }
}
