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
    looks: Vec<Vec<GpuUse>>,
}

impl GpuMeter {
    /// Looks once more.
    pub fn look(&mut self) {
        let seen = gpu_use();
        if !seen.is_empty() {
            self.looks.push(seen);
        }
    }

    /// Each GPU as it was last seen, with its mean use.
    pub fn mean(&self) -> Vec<GpuUse> {
        let mut mean = self.looks.last().cloned().unwrap_or_default();
        for gpu in &mut mean {
            let of_it = self.looks.iter().flatten().filter(|seen| seen.index == gpu.index);
            let (count, sum) =
                of_it.fold((0u32, 0.0), |(count, sum), seen| (count + 1, sum + seen.utilization));
            gpu.utilization = sum / f64::from(count.max(1));
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_each_gpu() {
        let gpu = |index, utilization| GpuUse {
            index,
            name: "a".into(),
            utilization,
            memory_used: 1,
            memory_total: 2,
        };
        let meter = GpuMeter { looks: vec![vec![gpu(0, 0.2)], vec![gpu(0, 0.6), gpu(1, 1.0)]] };
        assert_eq!(meter.mean(), [gpu(0, 0.4), gpu(1, 1.0)]);
        assert_eq!(GpuMeter::default().mean(), []);
    }

    #[test]
    fn without_a_driver_there_are_none() {
        // Where there is one, what it says must be possible.
        assert!(
            gpu_use()
                .iter()
                .all(|gpu| (0.0..=1.0).contains(&gpu.utilization) && gpu.memory_used <= gpu.memory_total)
        );
    }
}
