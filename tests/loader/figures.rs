//! What the loader says about itself.

use crate::support::{Flat, builder, flat};
use feedline::loader::Limit;
use feedline_test_support::clock;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn counts_are_exact() {
    let source = flat(20);
    let bytes = source.bytes.clone();
    let loader = builder(source, 4).workers(2).build().unwrap();
    assert_eq!(loader.stats().limiting_stage(), None);
    assert_eq!(loader.epoch(0).count(), 5);
    let stats = loader.stats();
    for stage in [stats.source, stats.plan, stats.decode, stats.render] {
        assert_eq!(stage.count, 20);
        assert!(stage.total_seconds > 0.0 && stage.p50_seconds <= stage.p99_seconds);
    }
    assert_eq!((stats.images, stats.samples, stats.failures), (20, 20, 0));
    assert_eq!(stats.bytes_read as usize, bytes.load(Ordering::Relaxed));
    assert_eq!((stats.wait.count, stats.trainer.count), (4, 4));
    assert!(stats.first_batch_seconds.unwrap() > 0.0);
    let json = serde_json::to_value(&stats).unwrap();
    assert_eq!((&json["samples"], &json["decode"]["count"]), (&20.into(), &20.into()), "{json}");
    assert_eq!(json["explanation"], loader.explain());
}

#[test]
fn a_slow_consumer_finds_its_batches_ready_and_is_the_limit() {
    let loader = builder(flat(80), 4).workers(2).prefetch(3).clock(clock::now).build().unwrap();
    for (number, batch) in (1..).zip(loader.epoch(0)) {
        let held = batch.unwrap();
        // Five batches may exist; the consumer holds one, and looks for the next when the others are there.
        while loader.stats().samples < 80.min(4 * (number + 4)) {
            std::thread::yield_now();
        }
        clock::advance(Duration::from_millis(10));
        drop(held);
    }
    let stats = loader.stats();
    assert!(stats.ready_batches > 2.0, "{stats:?}");
    let (limit, why) = stats.limiting_stage().unwrap();
    assert_eq!(limit, Limit::Trainer, "{why}");
}

#[test]
fn a_slow_source_is_the_limit_and_gets_more_workers_if_their_number_is_free() {
    let slow = || Flat { reading: Duration::from_millis(3), ..flat(240) };
    clock::tick(Duration::from_millis(1)); // so that each batch is waited for
    let fixed = builder(slow(), 4).workers(2).clock(clock::now).build().unwrap();
    let automatic = builder(slow(), 4).clock(clock::now).build().unwrap();
    for loader in [&fixed, &automatic] {
        assert_eq!(loader.epoch(0).count(), 60);
        let (limit, why) = loader.stats().limiting_stage().unwrap();
        assert_eq!(limit, Limit::Source, "{why}");
    }
    assert_eq!(fixed.stats().workers, 2);
    let cores = std::thread::available_parallelism().unwrap().get();
    let workers = automatic.stats().workers;
    assert!(workers > cores.min(63) && workers <= (4 * cores).min(64), "{workers} workers on {cores} cores");
}
