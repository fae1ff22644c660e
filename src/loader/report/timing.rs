//! Durations in logarithmic buckets, counted by many threads without a lock.

use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Buckets per octave: a percentile is exact to an eighth.
const PER_OCTAVE: usize = 8;
const BUCKETS: usize = 64 * PER_OCTAVE;

/// Counts, sum and percentiles of durations, which threads record without a lock.
pub struct Histogram {
    buckets: Box<[AtomicU64]>,
    count: AtomicU64,
    nanos: AtomicU64,
}

/// The durations of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// The count of runs.
    pub count: u64,
    /// Seconds spent in it, summed over threads.
    pub total_seconds: f64,
    /// Mean seconds.
    pub mean_seconds: f64,
    /// Half of the runs took at most about this many seconds (to an eighth).
    pub p50_seconds: f64,
    /// 99 of 100 runs took at most about this many seconds (to an eighth).
    pub p99_seconds: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        let buckets = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self { buckets, count: AtomicU64::new(0), nanos: AtomicU64::new(0) }
    }
}

impl Histogram {
    /// Counts a run that took so long.
    pub fn record(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(nanos)].fetch_add(1, Relaxed);
        self.count.fetch_add(1, Relaxed);
        self.nanos.fetch_add(nanos, Relaxed);
    }

    /// Seconds so far, without the percentiles.
    pub(in crate::loader) fn total_seconds(&self) -> f64 {
        self.nanos.load(Relaxed) as f64 * 1e-9
    }

    /// The figures so far.
    pub fn timing(&self) -> Timing {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect();
        // Other threads keep recording: the sum of these buckets keeps the percentiles consistent with each other.
        let count: u64 = counts.iter().sum();
        let total_seconds = self.total_seconds();
        let mean_seconds = if count == 0 { 0.0 } else { total_seconds / count as f64 };
        let percentile = |share: f64| percentile(&counts, (share * count as f64).ceil() as u64);
        Timing {
            count,
            total_seconds,
            mean_seconds,
            p50_seconds: percentile(0.5),
            p99_seconds: percentile(0.99),
        }
    }
}

/// The upper edge, in seconds, of the bucket that holds the `rank`th shortest duration.
fn percentile(counts: &[u64], rank: u64) -> f64 {
    if rank == 0 {
        return 0.0;
    }
    let mut below = 0;
    let holds = |count: &u64| {
        below += count;
        below >= rank
    };
    counts.iter().position(holds).map_or(0.0, |at| edge(at + 1) * 1e-9)
}

fn bucket(nanos: u64) -> usize {
    let octave = nanos.max(1).ilog2();
    // The bits after the leading one give the part of the octave.
    let part = ((nanos.max(1) as u128) << 3 >> octave) as usize % PER_OCTAVE;
    octave as usize * PER_OCTAVE + part
}

/// The minimum duration of a bucket, in nanoseconds.
fn edge(bucket: usize) -> f64 {
    let octave = (bucket / PER_OCTAVE) as i32;
    2f64.powi(octave) * (1.0 + (bucket % PER_OCTAVE) as f64 / PER_OCTAVE as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_between_its_buckets_edges() {
        for nanos in (1..5000).chain([1 << 40, (1 << 40) - 1, u64::MAX / 3]) {
            let at = bucket(nanos);
            assert!(edge(at) <= nanos as f64 && (nanos as f64) < edge(at + 1), "{nanos} in bucket {at}");
        }
        assert!(bucket(u64::MAX) < BUCKETS);
        assert_eq!(bucket(0), bucket(1));
    }

    #[test]
    fn percentiles_are_exact_to_an_eighth() {
        let histogram = Histogram::default();
        (1..=1000).for_each(|micros| histogram.record(Duration::from_micros(micros)));
        let timing = histogram.timing();
        assert_eq!(timing.count, 1000);
        assert!((timing.mean_seconds - 500.5e-6).abs() < 1e-9);
        assert!((500e-6..563e-6).contains(&timing.p50_seconds), "{timing:?}");
        assert!((990e-6..1114e-6).contains(&timing.p99_seconds), "{timing:?}");
        assert_eq!(Histogram::default().timing(), Timing::default());
    }
}
