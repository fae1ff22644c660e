//! How busy the machine's GPUs are, as their driver tells (NVML).

use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// A GPU, as it was when it was asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuUse {
    /// Its number, in the order of their places on the bus.
    pub index: u32,
    /// What it is called.
    pub name: String,
    /// Part of the last sampling period (a sixth of a second to a second) in which a kernel ran. `None` where the driver does not
    /// report it, as for a GPU that MIG divides.
    pub utilization: Option<f64>,
    /// Its memory. `None` where the driver does not report it: for a GPU without memory of its own, and before driver 510.
    pub memory: Option<GpuMemory>,
}

/// The memory of a GPU, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GpuMemory {
    /// What processes have taken.
    pub used: u64,
    /// All of it.
    pub total: u64,
}

/// All GPUs that the driver knows and reaches; none where there is no NVIDIA driver, or this build has not the feature `cuda`.
///
/// A GPU that never waits for data is busy all the time; one that is not may wait for something else as well, such as a trainer's
/// Python.
pub fn gpu_use() -> Vec<GpuUse> {
    asked()
}

impl fmt::Display for GpuUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.utilization {
            Some(busy) => write!(f, "{} was busy for {:.0} % of the time", self.name, 100.0 * busy)?,
            None => {
                write!(f, "{} does not tell how busy it is (one that is divided by MIG does not)", self.name)?
            }
        }
        match self.memory {
            Some(GpuMemory { used, total }) => write!(f, "; {} of {} MiB taken", used >> 20, total >> 20),
            None => Ok(()),
        }
    }
}

#[cfg(feature = "cuda")]
fn asked() -> Vec<GpuUse> {
    use nvml_wrapper::Nvml;
    use std::sync::OnceLock;

    // Opening it takes some milliseconds, and it stays as long as the process.
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    // By the name that the driver installs; the one without a number is of the development package.
    let open = || Nvml::builder().lib_path("libnvidia-ml.so.1".as_ref()).init().ok();
    let Some(nvml) = NVML.get_or_init(open) else { return Vec::new() };
    let one = |index| {
        let device = nvml.device_by_index(index).ok()?;
        Some(GpuUse {
            index,
            name: device.name().ok()?,
            utilization: device.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0),
            memory: device.memory_info().ok().map(|of| GpuMemory { used: of.used, total: of.total }),
        })
    };
    (0..nvml.device_count().unwrap_or(0)).filter_map(one).collect()
}

#[cfg(not(feature = "cuda"))]
fn asked() -> Vec<GpuUse> {
    Vec::new()
}

/// The mean use of each GPU over several looks.
#[derive(Debug, Default)]
pub struct GpuMeter {
    seen: Vec<Seen>,
}

/// A GPU over several looks.
#[derive(Debug)]
struct Seen {
    /// As it was the last time.
    last: GpuUse,
    /// Looks at which its use was told.
    looks: u32,
    /// Of its use at each of them.
    utilization: f64,
}

impl GpuMeter {
    /// How long to wait before the first look in a measurement of so many seconds: what the driver reports covers up to a second
    /// before a look.
    pub fn settles_in(seconds: f64) -> Duration {
        Duration::try_from_secs_f64(0.5 * seconds).unwrap_or(Duration::MAX).min(Duration::from_secs(1))
    }

    /// Looks once more. Returns how many GPUs there are; the first look of a process finds the driver, which takes a while.
    pub fn look(&mut self) -> usize {
        let gpus = gpu_use();
        let count = gpus.len();
        self.add(gpus);
        count
    }

    fn add(&mut self, gpus: Vec<GpuUse>) {
        for gpu in gpus {
            let (looks, utilization) = gpu.utilization.map_or((0, 0.0), |busy| (1, busy));
            match self.seen.iter_mut().find(|seen| seen.last.index == gpu.index) {
                Some(seen) => {
                    (seen.looks, seen.last) = (seen.looks + looks, gpu);
                    seen.utilization += utilization;
                }
                None => self.seen.push(Seen { last: gpu, looks, utilization }),
            }
        }
    }

    /// Each GPU as it was last seen, with its mean use.
    pub fn mean(&self) -> Vec<GpuUse> {
        let mean = |seen: &Seen| GpuUse {
            utilization: (seen.looks > 0).then(|| seen.utilization / f64::from(seen.looks)),
            ..seen.last.clone()
        };
        self.seen.iter().map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn gpu(index: u32, utilization: f64) -> GpuUse {
        let memory = Some(GpuMemory { used: 3 << 20, total: 4 << 20 });
        GpuUse { index, name: "a".into(), utilization: Some(utilization), memory }
    }

    fn silent(index: u32) -> GpuUse {
        GpuUse { utilization: None, memory: None, ..gpu(index, 0.0) }
    }

    #[test]
    fn the_mean_is_that_of_each_gpu_over_the_looks_at_which_it_told() {
        let mut meter = GpuMeter::default();
        assert_eq!(meter.mean(), []);
        meter.add(vec![gpu(0, 0.25), silent(2)]);
        let memory = Some(GpuMemory { used: 1, total: 2 });
        meter.add(vec![GpuUse { memory, ..gpu(0, 0.75) }, gpu(1, 1.0), silent(2)]);
        meter.add(Vec::new());
        meter.add(vec![silent(1)]);
        let mean = [GpuUse { memory, ..gpu(0, 0.5) }, silent(2), GpuUse { memory: None, ..gpu(1, 1.0) }];
        assert_eq!(meter.mean(), mean);
    }

    #[test]
    fn many_looks_take_no_more_memory_than_one() {
        let mut meter = GpuMeter::default();
        for _ in 0..1000 {
            meter.add(vec![gpu(0, 0.5)]);
        }
        assert_eq!((meter.seen.len(), meter.mean()), (1, vec![gpu(0, 0.5)]));
    }

    #[test]
    fn the_first_second_is_not_looked_at_or_half_of_what_is_shorter() {
        let ms = |seconds| GpuMeter::settles_in(seconds).as_millis();
        assert_eq!([30.0, 2.0, 1.0, 0.0, -1.0, f64::NAN].map(ms), [1000, 1000, 500, 0, 1000, 1000]);
    }

    #[test]
    fn what_a_gpu_does_not_tell_is_not_made_up() {
        assert_eq!(gpu(0, 0.434).to_string(), "a was busy for 43 % of the time; 3 of 4 MiB taken");
        assert_eq!(
            silent(0).to_string(),
            "a does not tell how busy it is (one that is divided by MIG does not)"
        );
    }

    #[test]
    fn without_a_driver_there_are_none_and_what_one_says_is_possible() {
        let gpus = gpu_use();
        // Where Linux's driver shows itself, and where Windows' does in its Linux.
        let may_be = ["/proc/driver/nvidia", "/dev/dxg"].iter().any(|path| Path::new(path).exists());
        assert!(may_be || gpus.is_empty(), "{gpus:?}");
        for gpu in &gpus {
            assert!(gpu.utilization.is_none_or(|busy| (0.0..=1.0).contains(&busy)), "{gpu:?}");
            assert!(gpu.memory.is_none_or(|memory| memory.used <= memory.total), "{gpu:?}");
        }
    }
}
