//! The clocks of a run: wall, processor, waits, and the memory's high-water mark.

use anyhow::Context;
use feedline::machine;
use std::time::{Duration, Instant};

/// Clocks that run.
pub(crate) struct Meter {
    started: Instant,
    cpu_at_start: f64,
    /// Images delivered so far.
    pub(crate) images: u64,
    /// When the first batch came.
    pub(crate) first_batch: Option<Reading>,
    /// The consumer's waits behind the first batch.
    pub(crate) waited: Duration,
    /// The simulated trainer's own time.
    pub(crate) stepped: Duration,
}

/// What the clocks show, from the start on or from an earlier reading.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) images: u64,
    pub(crate) seconds: f64,
    /// User and system time of all threads.
    pub(crate) cpu_seconds: f64,
}

impl Reading {
    pub(crate) fn images_per_s(&self) -> f64 {
        self.images as f64 / self.seconds
    }

    pub(crate) fn cpu_s_per_1000(&self) -> f64 {
        1000.0 * self.cpu_seconds / (self.images as f64).max(1.0)
    }
}

impl Meter {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let (waited, stepped) = (Duration::ZERO, Duration::ZERO);
        let cpu_at_start = cpu_seconds()?;
        let started = Instant::now();
        Ok(Self { started, cpu_at_start, images: 0, first_batch: None, waited, stepped })
    }

    /// A batch came after a wait. The first wait is the start-up and counted apart.
    pub(crate) fn delivered(&mut self, waited: Duration, images: usize) -> anyhow::Result<()> {
        self.images += images as u64;
        match self.first_batch {
            None => self.first_batch = Some(self.read()?),
            Some(_) => self.waited += waited,
        }
        Ok(())
    }

    fn read(&self) -> anyhow::Result<Reading> {
        let seconds = self.started.elapsed().as_secs_f64();
        Ok(Reading { images: self.images, seconds, cpu_seconds: cpu_seconds()? - self.cpu_at_start })
    }

    /// The whole run, and what came behind its first batch, without what starting costs; `None` where nothing came.
    pub(crate) fn stop(&self) -> anyhow::Result<(Reading, Option<Reading>)> {
        let whole = self.read()?;
        let behind = self.first_batch.filter(|first| whole.images > first.images);
        let steady = behind.map(|first| Reading {
            images: whole.images - first.images,
            seconds: whole.seconds - first.seconds,
            cpu_seconds: whole.cpu_seconds - first.cpu_seconds,
        });
        Ok((whole, steady))
    }
}

fn cpu_seconds() -> anyhow::Result<f64> {
    machine::cpu_seconds().context("this system does not tell the processor time of a process")
}

/// The most memory that the process ever held, in MB of 1,000,000 bytes; 0 where the system is not Linux. `ru_maxrss` would count the parent's memory before `exec` too.
pub(crate) fn peak_rss_mb() -> f64 {
    machine::bytes_in("/proc/self/status", "VmHWM:").unwrap_or(0) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_is_the_start_and_no_wait() {
        let mut meter = Meter::start().expect("the clocks of this process");
        meter.delivered(Duration::from_secs(9), 4).expect("the clocks of this process");
        assert!(meter.stop().expect("the clocks of this process").1.is_none());
        meter.delivered(Duration::from_secs(2), 3).expect("the clocks of this process");
        let (whole, steady) = meter.stop().expect("the clocks of this process");
        assert_eq!((meter.waited, whole.images), (Duration::from_secs(2), 7));
        let steady = steady.expect("a second batch");
        assert_eq!(steady.images, 3);
        assert!(steady.seconds <= whole.seconds && steady.cpu_seconds <= whole.cpu_seconds);
        assert!(meter.first_batch.is_some_and(|first| first.seconds <= whole.seconds));
        assert!(whole.cpu_seconds >= 0.0);
    }
}
