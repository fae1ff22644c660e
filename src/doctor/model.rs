//! What a pipeline gives whose parts were measured one by one.
//!
//! Workers go round: each waits for its file, then works on it. So there are two stations, storage and processor, each with
//! a rate that depends on how many workers are there, and the number of workers is fixed. If times were as irregular as those of
//! a Poisson process, the chances of each division of the workers follow from the rates alone (a closed network of queues,
//! Gordon and Newell 1967). If they were all alike, the slower station would never wait. Files are in between; the
//! variation of their sizes says where. A trainer takes batches at its own pace, and where it computes on the same cores it takes
//! some of theirs.

use super::rate::Rate;
use super::storage::ReadersRate;
use serde::Serialize;

/// What was measured of each part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// Cores that this process may use.
    pub(super) cores: usize,
    /// Samples a second of one worker whose files lie in memory, and of one worker for each core.
    pub(super) one_worker: Rate,
    pub(super) all_cores: Rate,
    /// Processor seconds of a sample.
    pub(super) cpu_seconds: f64,
    /// Files read for a sample.
    pub(super) reads: f64,
    /// Files a second, by one reader and by so many at once.
    pub(super) one_reader: Rate,
    pub(super) many_readers: Rate,
    pub(super) readers: usize,
    /// The same by more than those, where it was measured.
    pub(super) more_readers: Option<ReadersRate>,
    /// Squared variation of the files' sizes.
    pub(super) variation: f64,
    pub(super) trainer: Option<TrainerRate>,
    /// Whether samples are made on a GPU: then cores may be left over.
    pub(super) on_gpu: bool,
}

/// How fast a trainer takes samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrainerRate {
    /// Samples a second, if none is ever waited for.
    pub samples: Rate,
    /// Processor seconds that it takes for a sample, on the cores that the loader uses.
    pub cpu_seconds: f64,
}

/// The end of the interval of each measurement that is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Low,
    Median,
    High,
}

impl End {
    fn of(self, rate: Rate) -> f64 {
        match self {
            End::Low => rate.low,
            End::Median => rate.per_s,
            End::High => rate.high,
        }
    }
}

impl Parts {
    /// Samples a second with so many workers.
    pub(super) fn together(&self, workers: usize) -> Rate {
        self.interval(|end| {
            let loader = self.loader(workers, end);
            match self.trainer {
                Some(trainer) => end.of(trainer.samples).min(self.beside(&trainer, loader, end)),
                None => loader,
            }
        })
    }

    /// Samples a second of the loader alone, with so many workers.
    pub(super) fn alone(&self, workers: usize) -> Rate {
        self.interval(|end| self.loader(workers, end))
    }

    /// The same if files were in memory.
    pub(super) fn without_storage(&self) -> Self {
        let at_once = Rate::exactly(f64::INFINITY);
        Self { one_reader: at_once, many_readers: at_once, more_readers: None, ..*self }
    }

    /// The same if samples made themselves.
    pub(super) fn without_work(&self) -> Self {
        let at_once = Rate::exactly(f64::INFINITY);
        Self { one_worker: at_once, all_cores: at_once, cpu_seconds: 0.0, ..*self }
    }

    fn interval(&self, rate: impl Fn(End) -> f64) -> Rate {
        Rate { per_s: rate(End::Median), low: rate(End::Low), high: rate(End::High) }
    }

    /// What cores are left to the loader where the trainer computes beside it.
    fn beside(&self, trainer: &TrainerRate, loader: f64, end: End) -> f64 {
        if trainer.cpu_seconds <= 0.0 || self.cpu_seconds <= 0.0 {
            return loader;
        }
        // What all cores do together, in seconds of the loader's work: less than their number where they share a core's units.
        let used = end.of(self.all_cores) * self.cpu_seconds;
        let capacity = if self.on_gpu { used.max(self.cores as f64) } else { used };
        loader.min(capacity / (self.cpu_seconds + trainer.cpu_seconds))
    }

    /// The part of the time of so many workers in which they read, or wait for it.
    pub(super) fn reading(&self, workers: usize) -> f64 {
        let at_work = busy(self.alone(workers).per_s, workers, |count| self.work(count, End::Median));
        1.0 - at_work / workers as f64
    }

    fn work(&self, count: usize, end: End) -> f64 {
        between(count, self.cores, end.of(self.one_worker), end.of(self.all_cores))
    }

    fn read(&self, count: usize, end: End) -> f64 {
        let many = between(count, self.readers, end.of(self.one_reader), end.of(self.many_readers));
        let files = match self.more_readers {
            Some(more) if count > self.readers && more.readers > self.readers => {
                let part =
                    (count.min(more.readers) - self.readers) as f64 / (more.readers - self.readers) as f64;
                many + part * (end.of(more.files) - many).max(0.0)
            }
            _ => many,
        };
        files / self.reads
    }

    fn loader(&self, workers: usize, end: End) -> f64 {
        let (work, read) = (|count: usize| self.work(count, end), |count: usize| self.read(count, end));
        let workers = workers.max(1);
        if read(1).is_infinite() || work(1).is_infinite() {
            return read(workers).min(work(workers));
        }
        let (regular, irregular) = (regular(workers, work, read), irregular(workers, work, read));
        regular - self.variation.clamp(0.0, 1.0) * (regular - irregular).max(0.0)
    }
}

/// A station's rate with `count` at it: in proportion up to `full`, where it was measured, and no more beyond.
fn between(count: usize, full: usize, one: f64, all: f64) -> f64 {
    if count == 0 {
        return 0.0;
    }
    if count >= full {
        return all.max(one);
    }
    if one.is_infinite() {
        return one;
    }
    one + (all - one).max(0.0) * count.saturating_sub(1) as f64 / (full - 1) as f64
}

/// Workers that take turns without ever meeting: the highest pace for which there are workers enough at both stations.
fn regular(workers: usize, work: impl Fn(usize) -> f64, read: impl Fn(usize) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, work(workers).min(read(workers)));
    let enough = |pace: f64| busy(pace, workers, &work) + busy(pace, workers, &read) <= workers as f64;
    if enough(high) {
        return high;
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if enough(middle) { low = middle } else { high = middle }
    }
    low
}

/// How many workers a station needs for a pace that it can keep, between two whole numbers in proportion.
fn busy(pace: f64, workers: usize, rate: impl Fn(usize) -> f64) -> f64 {
    let reached = (1..=workers).find(|&count| rate(count) >= pace).unwrap_or(workers);
    let (below, above) = (rate(reached - 1), rate(reached));
    (reached - 1) as f64 + (pace - below) / (above - below).max(f64::MIN_POSITIVE)
}

/// Workers that meet as often as chance has it.
fn irregular(workers: usize, work: impl Fn(usize) -> f64, read: impl Fn(usize) -> f64) -> f64 {
    // The weight of n workers at work and the others reading is the product of the mean times of both stations.
    let mut weights = vec![0.0f64; workers + 1];
    let mut logs = 0.0;
    for reading in 1..=workers {
        logs -= read(reading).ln();
    }
    let mut highest = f64::NEG_INFINITY;
    for (at_work, weight) in weights.iter_mut().enumerate() {
        if at_work > 0 {
            logs += read(workers - at_work + 1).ln() - work(at_work).ln();
        }
        *weight = logs;
        highest = highest.max(logs);
    }
    let parts: Vec<f64> = weights.iter().map(|weight| (weight - highest).exp()).collect();
    let all: f64 = parts.iter().sum();
    parts.iter().enumerate().map(|(at_work, part)| part / all * work(at_work)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cores that a worker each fills, and storage that is never waited for.
    fn parts() -> Parts {
        Parts {
            cores: 2,
            one_worker: Rate::exactly(100.0),
            all_cores: Rate::exactly(200.0),
            cpu_seconds: 0.01,
            reads: 1.0,
            one_reader: Rate::exactly(1e9),
            many_readers: Rate::exactly(1e9),
            readers: 8,
            more_readers: None,
            variation: 0.3,
            trainer: None,
            on_gpu: false,
        }
    }

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() < 0.01 * want, "{got} and not {want}");
    }

    #[test]
    fn without_storage_the_cores_are_the_limit() {
        near(parts().alone(1).per_s, 100.0);
        near(parts().alone(2).per_s, 200.0);
        near(parts().alone(8).per_s, 200.0);
        near(parts().without_storage().alone(2).per_s, 200.0);
    }

    #[test]
    fn one_worker_reads_and_works_by_turns() {
        let slow = Rate::exactly(50.0);
        let parts = Parts { one_reader: slow, many_readers: slow, ..parts() };
        near(parts.alone(1).per_s, 1.0 / (0.01 + 0.02));
        // Behind storage that serves one at a time, others only wait in line.
        let eight = parts.alone(8).per_s;
        assert!((45.0..=50.01).contains(&eight), "{eight}");
        near(parts.without_work().alone(8).per_s, 50.0);
        let mixing = Parts { reads: 4.0, ..parts };
        assert!(mixing.alone(8).per_s <= 12.51, "four files a sample");
    }

    #[test]
    fn delays_are_hidden_by_more_workers_until_the_cores_are_full() {
        // 20 ms to each file, however many are on their way.
        let parts = Parts {
            one_reader: Rate::exactly(50.0),
            many_readers: Rate::exactly(50.0 * 64.0),
            readers: 64,
            ..parts()
        };
        near(parts.alone(1).per_s, 1.0 / 0.03);
        let two = parts.alone(2).per_s;
        assert!((60.0..=66.7).contains(&two), "{two}");
        let rates: Vec<f64> = [4, 6, 8, 32].map(|workers| parts.alone(workers).per_s).into();
        assert!(rates.is_sorted() && rates[3] > 195.0 && rates[3] <= 200.01, "{rates:?}");
    }

    #[test]
    fn what_more_readers_gave_holds_beyond_the_first_ones() {
        let parts = Parts {
            one_reader: Rate::exactly(10.0),
            many_readers: Rate::exactly(20.0),
            readers: 2,
            more_readers: Some(ReadersRate { readers: 12, files: Rate::exactly(120.0) }),
            ..parts()
        };
        let without_work = parts.without_work();
        let rates: Vec<f64> = [1, 2, 7, 12, 40].map(|workers| without_work.alone(workers).per_s).into();
        assert_eq!(rates, [10.0, 20.0, 70.0, 120.0, 120.0]);
        assert!(parts.reading(2) > 0.8 && parts.without_storage().reading(2) < 0.01);
    }

    #[test]
    fn a_trainer_beside_a_gpu_s_loader_has_the_cores_that_are_left() {
        let trainer = Some(TrainerRate { samples: Rate::exactly(500.0), cpu_seconds: 0.004 });
        let parts = Parts { cores: 16, cpu_seconds: 0.0002, trainer, ..parts() };
        assert!(parts.together(16).per_s < 20.0);
        near(Parts { on_gpu: true, ..parts }.together(16).per_s, 200.0);
    }

    #[test]
    fn variation_costs_where_both_stations_are_as_fast() {
        let slow = Rate::exactly(100.0);
        let even = Parts {
            one_reader: slow,
            many_readers: slow,
            variation: 0.0,
            cores: 1,
            all_cores: slow,
            ..parts()
        };
        let uneven = Parts { variation: 1.0, ..even };
        near(even.alone(2).per_s, 100.0);
        // Two exponential stations with two customers: 2 / 3 of the rate of each.
        near(uneven.alone(2).per_s, 100.0 * 2.0 / 3.0);
    }

    #[test]
    fn a_trainer_sets_the_pace_or_takes_cores() {
        let with = |samples: f64, cpu_seconds: f64| {
            let trainer = TrainerRate { samples: Rate::exactly(samples), cpu_seconds };
            Parts { trainer: Some(trainer), ..parts() }.together(2).per_s
        };
        near(with(80.0, 0.0), 80.0);
        near(with(500.0, 0.0), 200.0);
        near(with(500.0, 0.01), 100.0);
        near(with(80.0, 0.01), 80.0);
        near(parts().together(2).per_s, 200.0);
    }

    #[test]
    fn the_interval_is_that_of_what_limits() {
        let samples = Rate { per_s: 80.0, low: 70.0, high: 90.0 };
        let trainer = Some(TrainerRate { samples, cpu_seconds: 0.0 });
        assert_eq!(Parts { trainer, ..parts() }.together(2), samples);
    }
}
