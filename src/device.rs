//! Where pixels are made: the CPU, or a CUDA device.

pub(crate) mod backend;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod decoded_by;
mod decoder_report;
mod gaussian;
mod images;
pub(crate) mod lab;
mod memory_use;
mod pillow;
pub(crate) mod pinning;
mod quantisation;
mod roi;
mod tiling;
mod warp;

pub use decoded_by::DecodedBy;
pub use decoder_report::DecoderReport;
pub use images::DeviceImages;
pub use memory_use::MemoryUse;
pub use roi::region;

use crate::error::{Error, Result};
use crate::options::DeviceWord;

/// A place that decodes and renders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// This machine's processor.
    #[default]
    Cpu,
    /// A GPU that CUDA reaches. [`Device::cuda`] is how to get one that works.
    Cuda {
        /// The driver's number for it, counted from 0.
        ordinal: u32,
    },
}

impl Device {
    /// The processor, which is always there.
    pub const fn cpu() -> Self {
        Device::Cpu
    }

    /// The first CUDA device if it is usable, else the processor; [`Device::describe`] says which and why.
    ///
    /// # Errors
    /// None today.
    pub fn best() -> Result<Self> {
        Ok(Device::cuda(0).unwrap_or(Device::Cpu))
    }

    /// The device that a word names, or why there is none: never another one in its place.
    ///
    /// # Errors
    /// As [`Device::cuda`].
    pub fn open(word: DeviceWord) -> Result<Self> {
        match word {
            DeviceWord::Auto(ordinal) => Ok(Device::cuda(ordinal.unwrap_or(0)).unwrap_or(Device::Cpu)),
            DeviceWord::Cpu => Ok(Device::Cpu),
            DeviceWord::Cuda(ordinal) => Device::cuda(ordinal.unwrap_or(0)),
        }
    }

    /// The CUDA device `ordinal`, which is started to see whether it works, and stays so until the process ends.
    ///
    /// # Errors
    /// [`Error::Unavailable`], with why and what to do: never a panic, and never a silent change of device.
    pub fn cuda(ordinal: u32) -> Result<Self> {
        usable(ordinal).map(|_| Device::Cuda { ordinal })
    }

    /// Whether this is no GPU but a driver that simulates one for tests. Its speed means nothing, so nothing that was
    /// measured on it may be reported.
    pub fn is_simulated(&self) -> bool {
        match self {
            Device::Cpu => false,
            #[cfg(feature = "cuda")]
            Device::Cuda { ordinal } => cuda::is_simulated_device(*ordinal),
            #[cfg(not(feature = "cuda"))]
            Device::Cuda { .. } => false,
        }
    }

    /// What the device is, and why [`Device::best`] would or would not choose it, in one line.
    pub fn describe(&self) -> String {
        match self {
            Device::Cpu => {
                let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
                let why = match usable(0) {
                    Ok(_) => "CUDA device 0 could be used".into(),
                    Err(Error::Unavailable { why, .. }) => format!("no CUDA: {why}"),
                    Err(other) => other.to_string(),
                };
                format!("CPU with {cores} cores ({why})")
            }
            Device::Cuda { ordinal } => usable(*ordinal).unwrap_or_else(|error| error.to_string()),
        }
    }
}

/// The device `ordinal` in words, if it can be used.
#[cfg(feature = "cuda")]
fn usable(ordinal: u32) -> Result<String> {
    let what = || format!("CUDA device {ordinal}");
    let found = cuda::find(ordinal).map_err(|missing| missing.error(what()))?;
    let kernels = found.kernels();
    let decoding = found.usable.map_err(|missing| missing.error(what()))?;
    let (major, minor) = found.compute_capability;
    let megabytes = found.memory_bytes / 1_000_000;
    Ok(format!("{}, compute capability {major}.{minor}, {megabytes} MB, {decoding}, {kernels}", found.name))
}

#[cfg(not(feature = "cuda"))]
fn usable(ordinal: u32) -> Result<String> {
    Err(without_cuda(ordinal))
}

/// Why this build has no CUDA device.
#[cfg(not(feature = "cuda"))]
pub(crate) fn without_cuda(ordinal: u32) -> Error {
    Error::Unavailable {
        what: format!("CUDA device {ordinal}"),
        why: "this build was made without the feature `cuda`".into(),
        remedy: "build with it (it is one of the default features), or use the CPU device".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_gpu_is_an_error_with_a_remedy() {
        let error = Device::cuda(4711).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }));
        assert!(error.to_string().contains("CUDA device 4711"), "{error}");
        assert!(error.to_string().contains("use the CPU device"), "{error}");
    }

    #[test]
    fn the_best_device_says_why_it_was_chosen() {
        let best = Device::best().unwrap();
        let described = best.describe();
        match best {
            Device::Cpu => assert!(described.contains("no CUDA: "), "{described}"),
            Device::Cuda { .. } => assert!(described.contains("compute capability"), "{described}"),
        }
    }

    #[test]
    fn the_processor_is_never_simulated() {
        assert!(!Device::cpu().is_simulated());
    }
}
