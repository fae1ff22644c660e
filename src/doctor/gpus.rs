//! How busy the machine's GPUs are, as their driver tells (NVML).

use serde::Serialize;

/// A GPU, as it was when it was asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuUse {
    /// Its number, in the order of their places on the bus.
    pub index: u32,
    /// What it is called.
    pub name: String,
    /// Part of the last sampling period (a sixth of a second to a second) in which a kernel ran.
    pub utilization: f64,
    /// Bytes of its memory that are taken.
    pub memory_used: u64,
    /// Bytes of its memory.
    pub memory_total: u64,
}

/// All GPUs that the driver knows; none where there is no NVIDIA driver, or this build has not the feature `cuda`.
///
/// A GPU that never waits for data is busy all the time; one that is not may wait for something else as well, such as a trainer's
/// Python.
pub fn gpu_use() -> Vec<GpuUse> {
    asked()
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
        let memory = device.memory_info().ok()?;
        Some(GpuUse {
            index,
            name: device.name().ok()?,
            utilization: f64::from(device.utilization_rates().ok()?.gpu) / 100.0,
            memory_used: memory.used,
            memory_total: memory.total,
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
    looks: u32,
    /// Of its use at each look.
    utilization: f64,
}

impl GpuMeter {
    /// Looks once more.
    pub fn look(&mut self) {
        self.add(gpu_use());
    }

    fn add(&mut self, gpus: Vec<GpuUse>) {
        for gpu in gpus {
            let utilization = gpu.utilization;
            match self.seen.iter_mut().find(|seen| seen.last.index == gpu.index) {
                Some(seen) => {
                    (seen.looks, seen.last) = (seen.looks + 1, gpu);
                    seen.utilization += utilization;
                }
                None => self.seen.push(Seen { last: gpu, looks: 1, utilization }),
            }
        }
    }

    /// Each GPU as it was last seen, with its mean use.
    pub fn mean(&self) -> Vec<GpuUse> {
        let mean = |seen: &Seen| GpuUse {
            utilization: seen.utilization / f64::from(seen.looks),
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
        GpuUse { index, name: "a".into(), utilization, memory_used: 1, memory_total: 2 }
    }

    #[test]
    fn the_mean_is_that_of_each_gpu() {
        let mut meter = GpuMeter::default();
        assert_eq!(meter.mean(), []);
        meter.add(vec![gpu(0, 0.25)]);
        meter.add(vec![GpuUse { memory_used: 2, ..gpu(0, 0.75) }, gpu(1, 1.0)]);
        meter.add(Vec::new());
        assert_eq!(meter.mean(), [GpuUse { memory_used: 2, ..gpu(0, 0.5) }, gpu(1, 1.0)]);
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
    fn without_a_driver_there_are_none_and_what_one_says_is_possible() {
        let gpus = gpu_use();
        // Where Linux's driver shows itself, and where Windows' does in its Linux.
        let may_be = ["/proc/driver/nvidia", "/dev/dxg"].iter().any(|path| Path::new(path).exists());
        assert!(may_be || gpus.is_empty(), "{gpus:?}");
        for gpu in &gpus {
            assert!((0.0..=1.0).contains(&gpu.utilization) && gpu.memory_used <= gpu.memory_total, "{gpu:?}");
        }
    }
}
