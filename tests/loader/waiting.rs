//! Waiting for a batch in slices, and what is known of a run without starting it.

use crate::support::{Flat, builder, flat};
use feedline::error::{Error, Result};
use feedline::label::Label;
use feedline::loader::Loader;
use feedline::source::Source;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Takes a while for each file.
struct Slow(Flat, Duration);

impl Source for Slow {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        std::thread::sleep(self.1);
        self.0.read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.0.key(index)
    }

    fn label(&self, index: usize) -> Label {
        self.0.label(index)
    }
}

#[test]
fn a_wait_ends_with_its_time_or_with_the_batch() {
    let slow = Slow(flat(3), Duration::from_millis(300));
    let loader = Loader::builder(slow).workers(1).decode_only().build().unwrap();
    let mut epoch = loader.epoch(0);
    let began = Instant::now();
    assert!(!epoch.wait(Duration::from_millis(5)), "the file takes 300 ms");
    assert!(began.elapsed() >= Duration::from_millis(5));
    for left in (0..3).rev() {
        assert!(epoch.wait(Duration::from_secs(60)));
        epoch.next().unwrap().unwrap();
        assert_eq!(epoch.len(), left);
    }
    assert!(epoch.wait(Duration::from_secs(60)), "behind the last batch there is nothing to wait for");
    assert!(epoch.next().is_none());
}

#[test]
fn time_in_slices_counts_as_waited_for_one_batch() {
    let slow = Slow(flat(4), Duration::from_millis(20));
    let loader = Loader::builder(slow).workers(1).prefetch(1).decode_only().build().unwrap();
    let mut epoch = loader.epoch(0);
    while {
        while !epoch.wait(Duration::from_millis(2)) {}
        epoch.next().is_some()
    } {}
    let stats = loader.stats();
    assert!(stats.wait.total_seconds >= 0.05, "{:?}", stats.wait);
    assert!(stats.trainer.total_seconds < 0.05, "{:?}", stats.trainer);
}

#[test]
fn a_wait_ends_where_the_epoch_does() {
    let slow = Slow(flat(3), Duration::from_millis(300));
    let loader = Loader::builder(slow).workers(1).decode_only().build().unwrap();
    let mut first = loader.epoch(0);
    let second = loader.epoch(1);
    assert!(first.wait(Duration::from_secs(60)));
    assert!(matches!(first.next(), Some(Err(Error::Config(_)))));
    drop(second);
}

#[test]
fn the_state_ahead_of_an_epoch_is_that_of_its_start() {
    let loader = builder(flat(24), 4).shuffle(true).build().unwrap();
    let ahead = loader.state_ahead_of(3);
    assert_eq!(ahead, loader.epoch(3).state());
    assert!(loader.check_state(&ahead).is_ok());
    let other = builder(flat(24), 4).shuffle(true).seed(1).build().unwrap();
    assert!(other.check_state(&ahead).unwrap_err().to_string().contains("its seed is"));
    assert!(loader.check_process().is_ok());
}
