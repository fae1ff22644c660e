//! The CUDA support of this machine; for each missing part the reason and the remedy.
//!
//! A usable device needs a driver, a compute capability and a context. nvJPEG and decoding engines are optional:
//! without them images are decoded in another way, which [`Decoding`] names.

mod missing;

pub use missing::Missing;

use super::driver::{Context, CudaError, Driver};
use super::kernel::compiled_for;
use super::nvjpeg::{self, Backend, Handle, NvjpegFlags};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The oldest CUDA whose drivers can translate the kernels.
const OLDEST_CUDA: (u32, u32) = (12, 0);
/// The oldest processors that the kernels are made for (Turing).
const OLDEST_COMPUTE: (u32, u32) = (7, 5);
/// The prefix of a simulated device's name.
const SIMULATED: &str = "FAKE";

/// What there is of nvJPEG beside feedline's own decoder, from the best to the worst: for loaders whose option `decoder` asks
/// for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decoding {
    /// All its decoders, those on the GPU's decoding engines included.
    Engines {
        /// The number of engines; 0 if nvJPEG does not report it.
        engines: u32,
        /// The number of images that an engine decodes at a time; 0 if nvJPEG does not report it.
        cores: u32,
        /// How the engines' decoder was opened.
        flags: NvjpegFlags,
        /// How the decoder of the other files was opened.
        hybrid: NvjpegFlags,
    },
    /// All but the engines.
    Hybrid {
        /// How its decoder was opened.
        flags: NvjpegFlags,
        /// What is missing for engines.
        engines: Missing,
    },
    /// None: feedline's own decoder needs no library.
    Cpu {
        /// What is missing for nvJPEG.
        nvjpeg: Missing,
    },
}

/// A device that the driver lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The driver's ordinal for it, after `CUDA_VISIBLE_DEVICES`.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// Its compute capability, as (major, minor).
    pub compute_capability: (u32, u32),
    /// Its memory in bytes.
    pub memory_bytes: u64,
    /// What there is for decoding, or why it cannot be used.
    pub usable: Result<Decoding, Missing>,
}

/// The nvJPEG library that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NvjpegFound {
    /// The file; where the system does not tell it, the name by which it was found.
    pub path: PathBuf,
    /// Major, minor, patch.
    pub version: String,
    /// Whether it decodes parts of images correctly; with older versions whole images are decoded, which is slower.
    pub decodes_parts: bool,
    /// Libraries that were found ahead of it and do not work: path, version and reason of each.
    pub passed_over: Vec<String>,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survey {
    /// The newest CUDA that the driver supports, as (major, minor), or why there is no driver.
    pub driver: Result<(u32, u32), Missing>,
    /// The devices, or why none can be listed.
    pub devices: Result<Vec<Found>, Missing>,
    /// nvJPEG, or why there is none.
    pub nvjpeg: Result<NvjpegFound, Missing>,
}

/// Probes everything. A missing part is not an error here. Each usable device is started for a moment, one after the other:
/// a started device has some hundred MB of its memory taken.
pub fn survey() -> Survey {
    let driver = Driver::get().map_err(Missing::driver);
    let devices = driver.clone().and_then(|driver| {
        (0..driver.device_count()?).map(|ordinal| Ok(identify(driver, ordinal, Started::Released)?)).collect()
    });
    let nvjpeg = library(devices.as_deref().unwrap_or_default());
    Survey { driver: driver.map(Driver::version), devices, nvjpeg }
}

/// The library that these devices use; where none has tried any, the one that would be tried first.
fn library(devices: &[Found]) -> Result<NvjpegFound, Missing> {
    let (library, passed_over) = match nvjpeg::chosen() {
        Some(chosen) => (chosen.library, chosen.passed_over),
        None => {
            let missing = devices.iter().find_map(|device| match &device.usable {
                Ok(Decoding::Cpu { nvjpeg }) => Some(nvjpeg.clone()),
                _ => None,
            });
            missing.map_or(Ok(()), Err)?;
            (nvjpeg::in_use().map_err(|absent| Missing::nvjpeg(&absent))?, Vec::new())
        }
    };
    Ok(NvjpegFound {
        path: library.path.clone(),
        version: library.version.to_string(),
        decodes_parts: library.decodes_parts(),
        passed_over: passed_over.iter().map(ToString::to_string).collect(),
    })
}

/// The device `ordinal`, usable or not. A usable one stays started until the process ends, since who asks for it uses it
/// next, and a start takes a good part of a second.
///
/// # Errors
/// No driver, or no such device.
pub fn find(ordinal: u32) -> Result<Found, Missing> {
    let driver = Driver::get().map_err(Missing::driver)?;
    let count = driver.device_count()?;
    if ordinal >= count {
        return Err(Missing::ordinal(ordinal, count));
    }
    Ok(identify(driver, ordinal, Started::Kept)?)
}

impl Found {
    /// Where its kernels come from, in words: machine code that this build holds, or the driver's translation.
    pub fn kernels(&self) -> String {
        match compiled_for(self.compute_capability) {
            Some(architecture) => format!("kernels compiled for sm_{architecture}"),
            None => "kernels translated by the driver".into(),
        }
    }

    /// Whether this is not a GPU but a driver made for tests, whose speed means nothing.
    pub fn is_simulated(&self) -> bool {
        is_simulated(&self.name)
    }
}

/// Whether the device `ordinal` exists and is simulated. No device is started for it.
pub(crate) fn is_simulated_device(ordinal: u32) -> bool {
    let name = Driver::get().ok().and_then(|driver| driver.device_name(ordinal).ok());
    name.is_some_and(|name| is_simulated(&name))
}

fn is_simulated(name: &str) -> bool {
    name.starts_with(SIMULATED)
}

/// What becomes of a device that the probe has started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Started {
    Kept,
    Released,
}

fn identify(driver: &'static Driver, ordinal: u32, then: Started) -> Result<Found, CudaError> {
    let name = driver.device_name(ordinal)?;
    let compute_capability = driver.compute_capability(ordinal)?;
    let usable = suits(driver.version(), &name, compute_capability).and_then(|()| start(ordinal, then));
    let memory_bytes = driver.device_memory(ordinal)? as u64;
    Ok(Found { ordinal, name, compute_capability, memory_bytes, usable })
}

/// Whether the kernels run there, according to version numbers alone.
fn suits(cuda: (u32, u32), name: &str, compute: (u32, u32)) -> Result<(), Missing> {
    if cuda < OLDEST_CUDA {
        return Err(Missing::newer_driver(cuda, OLDEST_CUDA));
    }
    if compute < OLDEST_COMPUTE {
        return Err(Missing::newer_device(name, compute, OLDEST_COMPUTE));
    }
    Ok(())
}

/// Starts the device, and finds out what there is of nvJPEG. Success is remembered: starting takes a good part of a second.
fn start(ordinal: u32, then: Started) -> Result<Decoding, Missing> {
    /// How the device decodes, and what keeps it started.
    static STARTED: Mutex<BTreeMap<u32, (Decoding, Option<Context>)>> = Mutex::new(BTreeMap::new());
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((decoding, kept)) = started.get(&ordinal)
        && (kept.is_some() || then == Started::Released)
    {
        return Ok(decoding.clone());
    }
    let context = Context::open(ordinal).map_err(|error| Missing::context(&error))?;
    let decoding = match started.get(&ordinal) {
        Some((decoding, _)) => decoding.clone(),
        None => decoding(&context),
    };
    started.insert(ordinal, (decoding.clone(), (then == Started::Kept).then_some(context)));
    Ok(decoding)
}

fn decoding(context: &Context) -> Decoding {
    let hybrid = match nvjpeg::start(context) {
        Ok(handle) => handle,
        Err(absent) => return Decoding::Cpu { nvjpeg: Missing::nvjpeg(&absent) },
    };
    match Handle::open(hybrid.library(), context, Backend::Hardware) {
        Ok(handle) => {
            let (engines, cores) = handle.engines().unwrap_or((0, 0));
            Decoding::Engines { engines, cores, flags: handle.flags(), hybrid: hybrid.flags() }
        }
        Err(error) => Decoding::Hybrid { flags: hybrid.flags(), engines: Missing::engines(&error) },
    }
}

impl std::fmt::Display for Decoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count: u32, one: &'static str, more: &'static str| if count == 1 { one } else { more };
        match self {
            Decoding::Engines { engines, cores, flags, .. } => {
                match engines {
                    0 => f.write_str("nvJPEG on its engines")?,
                    _ => write!(
                        f,
                        "nvJPEG on {engines} {} of {cores} {}",
                        plural(*engines, "engine", "engines"),
                        plural(*cores, "core", "cores")
                    )?,
                }
                write!(f, " ({flags})")
            }
            Decoding::Hybrid { flags, .. } => write!(f, "nvJPEG without engines ({flags})"),
            Decoding::Cpu { .. } => f.write_str("no nvJPEG"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_driver_or_device_is_refused_by_its_number() {
        assert_eq!(suits((13, 0), "a GPU", (9, 0)), Ok(()));
        assert_eq!(suits(OLDEST_CUDA, "a GPU", OLDEST_COMPUTE), Ok(()));
        let why = |cuda, compute| suits(cuda, "Tesla P100", compute).unwrap_err().why;
        assert!(why((11, 8), (9, 0)).contains("11.8"));
        assert!(why((13, 0), (6, 0)).contains("Tesla P100") && why((13, 0), (6, 0)).contains("6.0"));
    }

    #[test]
    fn the_name_tells_a_simulated_device() {
        assert!(is_simulated("FAKE (simulated driver, not a GPU)"));
        assert!(!is_simulated("NVIDIA H200"));
    }

    #[test]
    fn a_survey_never_panics_and_always_says_why() {
        let survey = survey();
        if let Err(missing) = survey.driver {
            assert!(!missing.why.is_empty() && missing.remedy.contains("CPU"));
        }
    }
}
