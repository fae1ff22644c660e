//! The clocks of a run: wall, processor, waits, and the memory's high-water mark.

use crate::cli::doctor::bytes_in;
use nix::sys::resource::{UsageWho, getrusage};
use std::time::{Duration, Instant};

/// Clocks that run.
pub(crate) struct Meter {
    started: Instant,
    cpu_at_start: f64,
    first_batch: Option<First>,
    waited: Duration,
    stepped: Duration,
    images: u64,
}

/// Where the clocks stood when the first batch came.
struct First {
    after: Duration,
    cpu: f64,
    images: u64,
}

/// What the clocks showed.
pub(crate) struct Measured {
    pub(crate) seconds: f64,
    /// User and system time of all threads.
    pub(crate) cpu_seconds: f64,
    pub(crate) first_batch_seconds: f64,
    /// Behind the first batch; `None` where there was no other.
    pub(crate) steady: Option<Steady>,
    /// The consumer's waits behind the first batch.
    pub(crate) waited_seconds: f64,
    /// The simulated trainer's own time.
    pub(crate) stepped_seconds: f64,
    pub(crate) images: u64,
    /// The most memory that the process ever held; 0 where the system does not tell.
    pub(crate) peak_rss_mb: f64,
}

/// What the clocks showed behind the first batch: without what starting costs.
pub(crate) struct Steady {
    pub(crate) images: u64,
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
}

impl Meter {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let zero = Duration::ZERO;
        let cpu_at_start = cpu_seconds()?;
        let started = Instant::now();
        Ok(Self { started, cpu_at_start, first_batch: None, waited: zero, stepped: zero, images: 0 })
    }

    /// A batch came after a wait. The first wait is the start-up and counted apart.
    pub(crate) fn delivered(&mut self, waited: Duration, images: usize) -> anyhow::Result<()> {
        self.images += images as u64;
        match self.first_batch {
            None => {
                let (after, cpu) = (self.started.elapsed(), cpu_seconds()?);
                self.first_batch = Some(First { after, cpu, images: self.images });
            }
            Some(_) => self.waited += waited,
        }
        Ok(())
    }

    /// Images delivered so far.
    pub(crate) fn images(&self) -> u64 {
        self.images
    }

    /// The trainer was busy.
    pub(crate) fn stepped(&mut self, took: Duration) {
        self.stepped += took;
    }

    pub(crate) fn stop(&self) -> anyhow::Result<Measured> {
        let seconds = self.started.elapsed().as_secs_f64();
        let cpu = cpu_seconds()?;
        let behind = self.first_batch.as_ref().filter(|first| self.images > first.images);
        Ok(Measured {
            seconds,
            cpu_seconds: cpu - self.cpu_at_start,
            first_batch_seconds: self.first_batch.as_ref().map_or(seconds, |first| first.after.as_secs_f64()),
            steady: behind.map(|first| Steady {
                images: self.images - first.images,
                seconds: seconds - first.after.as_secs_f64(),
                cpu_seconds: cpu - first.cpu,
            }),
            waited_seconds: self.waited.as_secs_f64(),
            stepped_seconds: self.stepped.as_secs_f64(),
            images: self.images,
            peak_rss_mb: peak_rss_mb(),
        })
    }
}

fn cpu_seconds() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// Linux' high-water mark, in MB of 1,000,000 bytes. `ru_maxrss` would count the parent's memory before `exec` too.
fn peak_rss_mb() -> f64 {
    bytes_in("/proc/self/status", "VmHWM:").unwrap_or(0) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_is_the_start_and_no_wait() {
        let mut meter = Meter::start().expect("the clocks of this process");
        meter.delivered(Duration::from_secs(9), 4).expect("the clocks of this process");
        assert!(meter.stop().expect("the clocks of this process").steady.is_none());
        meter.delivered(Duration::from_secs(2), 3).expect("the clocks of this process");
        let measured = meter.stop().expect("the clocks of this process");
        assert_eq!((measured.waited_seconds, measured.images), (2.0, 7));
        let steady = measured.steady.expect("a second batch");
        assert_eq!(steady.images, 3);
        assert!(steady.seconds <= measured.seconds && steady.cpu_seconds <= measured.cpu_seconds);
        assert!(measured.first_batch_seconds <= measured.seconds);
        assert!(measured.cpu_seconds >= 0.0);
    }
}
