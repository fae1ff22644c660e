//! Missing parts with reason and remedy: the messages for every way in which CUDA can be absent.

use crate::device::cuda::RESTART;
use crate::device::cuda::driver::{self, CudaError, code};
use crate::device::cuda::nvjpeg::{self, NvjpegError};
use crate::error::Error;

/// The remedy for a library that is there and does not start.
const NO_NEWER: &str =
    "use an nvJPEG that is no newer than the driver (FEEDLINE_NVJPEG names one); without it the CPU decodes";

/// A part that this machine lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Why it cannot be used.
    pub why: String,
    /// What to do about it.
    pub remedy: String,
}

impl Missing {
    fn new(why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { why: why.into(), remedy: remedy.into() }
    }

    /// The error for it.
    pub fn error(self, what: impl Into<String>) -> Error {
        Error::Unavailable { what: what.into(), why: self.why, remedy: self.remedy }
    }

    pub(super) fn driver(absent: &driver::Absent) -> Self {
        match absent {
            driver::Absent::Library { tried, why } => Self::new(
                format!("the driver's library cannot be opened ({})", named(tried[0], why)),
                "install NVIDIA's driver, in a container start it with the NVIDIA runtime (`--gpus all`), or use the CPU \
                 device",
            ),
            driver::Absent::Symbols(names) => Self::new(
                format!("the driver's library lacks {}", names.join(", ")),
                "update NVIDIA's driver, or use the CPU device",
            ),
            driver::Absent::Start(error) => error.clone().into(),
        }
    }

    pub(super) fn ordinal(ordinal: u32, count: u32) -> Self {
        match count {
            0 => Self::new(
                "the driver sees no device",
                "see what `nvidia-smi` lists and what CUDA_VISIBLE_DEVICES hides, or use the CPU device",
            ),
            count => Self::new(
                format!("there is no device {ordinal}: the driver sees {count}, counted from 0"),
                format!(
                    "use a number up to {}, see what CUDA_VISIBLE_DEVICES hides, or use the CPU device",
                    count - 1
                ),
            ),
        }
    }

    pub(super) fn newer_driver((major, minor): (u32, u32), (least, least_minor): (u32, u32)) -> Self {
        Self::new(
            format!("the driver knows CUDA {major}.{minor}, and the kernels need {least}.{least_minor}"),
            "update NVIDIA's driver to 525 or newer, or use the CPU device",
        )
    }

    pub(super) fn newer_device(
        name: &str,
        (major, minor): (u32, u32),
        (least, least_minor): (u32, u32),
    ) -> Self {
        Self::new(
            format!(
                "{name} has compute capability {major}.{minor}, and the kernels need {least}.{least_minor} (Turing)"
            ),
            "use a newer GPU, or use the CPU device",
        )
    }

    pub(crate) fn context(error: &CudaError) -> Self {
        let remedy = if error.is_out_of_memory() {
            "end the processes that hold the GPU's memory (`nvidia-smi` lists them), or use the CPU device"
        } else if error.is_sticky() {
            RESTART
        } else {
            "see in `nvidia-smi` whether another process has the GPU for itself, or use the CPU device"
        };
        Self::new(format!("the device does not start ({error})"), remedy)
    }

    pub(crate) fn nvjpeg(absent: &nvjpeg::Absent) -> Self {
        let remedy = match absent.is_for_not_starting() {
            true => NO_NEWER,
            false => {
                "`pip install nvidia-nvjpeg` and set FEEDLINE_NVJPEG to the libnvjpeg.so.13 in it, or install the CUDA \
                 toolkit; without it the CPU decodes"
            }
        };
        Self::new(absent.to_string(), remedy)
    }

    pub(crate) fn backend(error: &NvjpegError) -> Self {
        Self::new(format!("nvJPEG does not start ({error})"), NO_NEWER)
    }

    pub(super) fn engines(error: &NvjpegError) -> Self {
        match error.lacks_the_engine() {
            true => Self::new(
                format!("nvJPEG finds no decoding engine that it can use ({error})"),
                "none is needed; if the GPU has some (A100, H100 and others), a container must be started with \
                 NVIDIA_DRIVER_CAPABILITIES=compute,utility,video",
            ),
            false => Self::new(
                format!("nvJPEG does not start the decoding engines ({error})"),
                "see whether the driver's libnvcuvid.so.1 is there: in a container it needs \
                 NVIDIA_DRIVER_CAPABILITIES=compute,utility,video",
            ),
        }
    }
}

/// A call that failed before any device was started.
impl From<CudaError> for Missing {
    fn from(error: CudaError) -> Self {
        match error.code {
            code::STUB_LIBRARY => Self::new(
                format!("the library that was opened is a toolkit's stub and no driver ({error})"),
                "take the toolkit's `stubs` folder out of LD_LIBRARY_PATH, install NVIDIA's driver, or use the CPU \
                 device",
            ),
            code::NO_DEVICE => Self::new(
                format!("the driver sees no device ({error})"),
                "see what `nvidia-smi` lists and what CUDA_VISIBLE_DEVICES hides, or use the CPU device",
            ),
            code::SYSTEM_DRIVER_MISMATCH => Self::new(
                format!("the driver's library and its kernel module are of different versions ({error})"),
                "restart the machine after the driver's update, or use the CPU device",
            ),
            _ => Self::new(
                format!("the driver does not start ({error})"),
                "see what `nvidia-smi` says, or use the CPU device",
            ),
        }
    }
}

/// The linker's message, with the library's name if it lacks it.
fn named(name: &str, said: &str) -> String {
    if said.contains(name) { said.into() } else { format!("{name}: {said}") }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.why, self.remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: u32) -> CudaError {
        CudaError { call: "cuInit", code, name: "CUDA_ERROR".into() }
    }

    #[test]
    fn every_way_without_a_device_has_a_remedy_that_leads_on() {
        let absent = driver::Absent::Library { tried: &["libcuda.so.1"], why: "no such file".into() };
        let ways = [
            Missing::driver(&absent),
            Missing::driver(&driver::Absent::Symbols(vec!["cuInit"])),
            Missing::driver(&driver::Absent::Start(failed(code::NO_DEVICE))),
            Missing::from(failed(code::STUB_LIBRARY)),
            Missing::from(failed(4711)),
            Missing::ordinal(3, 2),
            Missing::ordinal(0, 0),
            Missing::newer_driver((11, 4), (12, 0)),
            Missing::newer_device("GTX 1080", (6, 1), (7, 5)),
            Missing::context(&failed(code::OUT_OF_MEMORY)),
            Missing::context(&failed(46)),
            Missing::context(&failed(700)),
        ];
        for way in ways {
            assert!(way.remedy.ends_with("or use the CPU device"), "{way}");
        }
    }

    #[test]
    fn a_stub_is_told_from_a_machine_without_a_gpu() {
        assert!(Missing::from(failed(code::STUB_LIBRARY)).remedy.contains("stubs"));
        assert!(Missing::from(failed(code::NO_DEVICE)).remedy.contains("CUDA_VISIBLE_DEVICES"));
        assert!(Missing::ordinal(3, 2).remedy.contains("up to 1"));
    }
}
