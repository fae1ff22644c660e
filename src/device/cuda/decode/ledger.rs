//! The two sides of a batch: how long the device will be decoding its share, and how long the workers theirs.
//!
//! A file goes to the device as long as that will be done with it within the time that the batch takes anyway: that in
//! which the workers decode their share, or that between two batches, if the trainer is slower. So a trainer that
//! takes its time leaves the CPU idle, and one that is fast is fed by both.

use std::time::Instant;

/// The device is given work for this part of the time between batches. Where it was the device that took so long, its
/// share shrinks from batch to batch until the workers need as long.
const OF_THE_PERIOD: f64 = 0.9;
/// What the newest time between batches weighs.
const NEWEST: f64 = 0.25;
/// A pause longer than so many usual times is not the trainer's pace, unless another one follows.
const PAUSE: f64 = 8.0;

/// The shares of one batch so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger {
    device: f64,
    workers: f64,
    /// Whether the first file has been offered.
    pub(super) begun: bool,
    /// Files that the device still gets whatever that costs, to be measured.
    pub(super) trial: usize,
}

/// The time between batches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    last: Option<Instant>,
    /// In nanoseconds; 0 before it is known.
    period: f64,
    /// Whether the latest one was a pause.
    paused: bool,
}

impl Ledger {
    /// Whether the device gets a file that would cost it, or the workers together, so many nanoseconds.
    pub(super) fn gives_to_device(&mut self, device: f64, workers: f64, pace: &Pace) -> bool {
        let limit = (self.workers + workers).max(OF_THE_PERIOD * pace.period);
        let fits = self.device + device <= limit;
        if fits {
            self.device += device;
        } else {
            self.workers += workers;
        }
        fits
    }

    /// The workers get a file that no other can take.
    pub(super) fn give_to_workers(&mut self, workers: f64) {
        self.workers += workers;
    }
}

impl Pace {
    /// A batch is complete now.
    pub(super) fn note_batch(&mut self, now: Instant) {
        let Some(last) = self.last.replace(now) else { return };
        let period = now.saturating_duration_since(last).as_nanos() as f64;
        let is_pause = self.period > 0.0 && period > PAUSE * self.period;
        if self.period == 0.0 || is_pause && self.paused {
            self.period = period;
        } else if !is_pause {
            self.period += NEWEST * (period - self.period);
        }
        self.paused = is_pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Shares of the device in batches one after the other, of 100 images. An image costs the device or the workers so
    /// many nanoseconds; the trainer takes `trainer` for a batch.
    fn shares(device: f64, workers: f64, trainer: f64) -> Vec<usize> {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        let mut batch = || {
            let mut ledger = Ledger::default();
            let share = (0..100).filter(|_| ledger.gives_to_device(device, workers, &pace)).count();
            let takes = (share as f64 * device).max((100 - share) as f64 * workers).max(trainer);
            now += Duration::from_nanos(takes as u64);
            pace.note_batch(now);
            share
        };
        (0..100).map(|_| batch()).collect()
    }

    #[test]
    fn where_the_trainer_is_fast_both_sides_end_together() {
        let shares = shares(1e5, 1e5, 0.0);
        assert_eq!((shares[0], shares[99]), (50, 50));
        let slow_workers = super::tests::shares(1e5, 3e5, 0.0);
        assert!(slow_workers.iter().all(|&share| (74..=76).contains(&share)), "{slow_workers:?}");
    }

    #[test]
    fn where_the_trainer_is_slow_the_device_gets_all_that_it_can_do_in_time() {
        let shares = shares(1e5, 1e5, 2e7);
        assert_eq!(shares[99], 100, "{shares:?}");
        let shares = super::tests::shares(1e5, 1e5, 8e6);
        assert_eq!(shares[99], 72, "nine tenths of the time: {shares:?}");
    }

    #[test]
    fn a_device_that_turns_out_to_be_the_limit_is_relieved() {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        for batch in 0..60 {
            let mut ledger = Ledger::default();
            let share = (0..100).filter(|_| ledger.gives_to_device(1e5, 1e5, &pace)).count() as f64;
            // A trainer that waits for nothing else from the tenth batch on.
            let trainer = if batch < 10 { 2e7 } else { 0.0 };
            now += Duration::from_nanos((share * 1e5).max((100.0 - share) * 1e5).max(trainer) as u64);
            pace.note_batch(now);
            if batch == 59 {
                assert!((50.0..60.0).contains(&share), "{share}");
            }
        }
    }

    #[test]
    fn a_pause_of_the_trainers_is_not_its_pace() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        [0, 10, 20, 30, 60_000, 60_010].into_iter().for_each(|time| pace.note_batch(at(time)));
        assert_eq!(pace.period, 1e7);
        [61_000, 62_000].into_iter().for_each(|time| pace.note_batch(at(time)));
        assert_eq!(pace.period, 1e9, "two in a row are");
    }
}
