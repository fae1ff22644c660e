//! Where pixels are made: the CPU, and later a CUDA device.

pub mod batch;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "device/no_cuda.rs"]
pub mod cuda;
mod decoded_by;
mod reach;
mod shrink;
mod warp;

pub use decoded_by::DecodedBy;
pub use reach::region;

use crate::error::{Error, Result};

/// A place that decodes and renders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// This machine's processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    Cuda {
        /// Its number, as the driver counts.
        ordinal: u32,
    },
}

impl Device {
    /// The processor, which is always there.
    pub const fn cpu() -> Self {
        Device::Cpu
    }

    /// The fastest usable device; [`Device::describe`] says which and why.
    ///
    /// # Errors
    /// None today; a broken driver will be one.
    pub fn best() -> Result<Self> {
        Ok(Device::Cpu)
    }

    /// The CUDA device `ordinal`.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: never a silent change of device.
    pub fn cuda(ordinal: u32) -> Result<Self> {
        Err(Error::Unavailable {
            what: format!("CUDA device {ordinal}"),
            why: "this build has no CUDA path yet".into(),
            remedy: "use the CPU device".into(),
        })
    }

    /// What the device is, and why [`Device::best`] would choose it, in one line.
    pub fn describe(&self) -> String {
        match self {
            Device::Cpu => {
                let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
                format!("CPU with {cores} cores (this build has no CUDA path yet)")
            }
            Device::Cuda { ordinal } => format!("cuda:{ordinal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_gpu_is_an_error_with_a_remedy() {
        let error = Device::cuda(3).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }));
        assert!(error.to_string().contains("CUDA device 3") && error.to_string().contains("use the CPU"));
    }

    #[test]
    fn the_best_device_says_why_it_was_chosen() {
        assert!(Device::best().unwrap().describe().contains("no CUDA path"));
    }
}
