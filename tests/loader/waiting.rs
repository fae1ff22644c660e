//! Waiting for a batch in slices, and what is known of a run without starting it.

use crate::support::{Flat, builder, flat};
use feedline::error::Error;
use feedline::loader::Loader;
use feedline_test_support::clock;
use feedline_test_support::gate::Gate;
use std::time::Duration;

/// Images that are read when the test says so.
fn gated(count: usize) -> (Flat, Gate) {
    let gate = Gate::closed();
    (Flat { gate: Some(gate.clone()), ..flat(count) }, gate)
}

#[test]
fn a_wait_ends_with_its_time_or_with_the_batch() {
    let (source, gate) = gated(3);
    let loader = Loader::builder(source).workers(1).decode_only().build().unwrap();
    let mut epoch = loader.epoch(0);
    for at_most in [Duration::ZERO, Duration::from_millis(5)] {
        assert!(!epoch.wait(at_most), "no file has been read");
    }
    for left in (0..3).rev() {
        gate.admit(1);
        assert!(epoch.wait(Duration::from_secs(60)));
        epoch.next().unwrap().unwrap();
        assert_eq!(epoch.len(), left);
    }
    assert!(epoch.wait(Duration::from_secs(60)), "behind the last batch there is nothing to wait for");
    assert!(epoch.next().is_none());
}

#[test]
fn time_in_slices_counts_as_waited_for_one_batch() {
    let (source, gate) = gated(4);
    let builder = Loader::builder(source).workers(1).prefetch(1).decode_only();
    let loader = builder.clock(clock::now).build().unwrap();
    let mut epoch = loader.epoch(0);
    for _ in 0..4 {
        for slice in [20, 10] {
            assert!(!epoch.wait(Duration::ZERO), "no file has been read");
            clock::advance(Duration::from_millis(slice));
        }
        gate.admit(1);
        epoch.next().unwrap().unwrap();
        clock::advance(Duration::from_millis(5));
    }
    let stats = loader.stats();
    assert_eq!((stats.wait.count, stats.trainer.count), (3, 3), "the first batch has a figure of its own");
    let near = |seconds: f64, want: f64| assert!((seconds - want).abs() < 1e-9, "{stats:?}");
    near(stats.wait.total_seconds, 0.09);
    near(stats.trainer.total_seconds, 0.015);
    near(stats.first_batch_seconds.unwrap(), 0.03);
}

#[test]
fn a_wait_ends_where_the_epoch_does() {
    let (source, gate) = gated(3);
    let loader = Loader::builder(source).workers(1).decode_only().build().unwrap();
    let mut first = loader.epoch(0);
    let second = loader.epoch(1);
    assert!(first.wait(Duration::from_secs(60)));
    assert!(matches!(first.next(), Some(Err(Error::Config(_)))));
    drop(second);
    gate.open(); // or the worker would wait there for ever
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
