//! Who may be dropped when, and what holds the loader back.

use crate::support::{Flat, builder, epoch_of, flat, shown};
use feedline::augment::Augment;
use feedline::draft::Draft;
use feedline::loader::{Epoch, LastBatch, Loader};
use feedline::rng::Draws;
use feedline_test_support::gate::Gate;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn an_epoch_can_be_dropped_at_any_point() {
    for workers in [1, 4] {
        let loader = builder(flat(24), 4).workers(workers).prefetch(1).build().unwrap();
        for taken in 0..=6 {
            let mut epoch = loader.epoch(0);
            assert_eq!(epoch.by_ref().take(taken).filter(|batch| batch.is_ok()).count(), taken);
            drop(epoch);
        }
        assert_eq!(epoch_of(&loader, 0).concat(), (0..24).collect::<Vec<_>>());
    }
}

#[test]
fn batches_outlive_their_epoch_and_their_loader() {
    let loader = builder(flat(8), 4).build().unwrap();
    let mut epoch = loader.epoch(0);
    let first = epoch.next().unwrap().unwrap();
    drop(loader);
    let second = epoch.next().unwrap().unwrap();
    drop(epoch);
    assert_eq!((shown(&first, 3), shown(&second, 3)), (3, 7));
}

#[test]
fn a_consumer_that_keeps_every_batch_gets_them_all() {
    let loader = builder(flat(200), 4).prefetch(1).workers(3).build().unwrap();
    let batches: Vec<_> = loader.epoch(0).map(|batch| batch.unwrap()).collect();
    assert_eq!(batches.len(), 50);
    for (number, batch) in batches.iter().enumerate() {
        assert_eq!(batch.number(), number);
        assert_eq!(shown(batch, 2), number * 4 + 2);
        assert_eq!(batch.images().as_ptr() as usize % 256, 0);
    }
}

#[test]
fn workers_stop_when_all_slots_are_in_use() {
    let source = flat(400);
    let reads = source.reads.clone();
    let loader = builder(source, 4).prefetch(2).workers(3).build().unwrap();
    let mut epoch = loader.epoch(0);
    let held = epoch.next().unwrap().unwrap();
    // Four slots of four rows: one held, three full.
    while loader.stats().samples < 16 {
        std::thread::yield_now();
    }
    // That no worker goes on is shown for every order of events by the queue's own model.
    assert_eq!(reads.lock().unwrap().len(), 16);
    drop(held);
    while loader.stats().samples < 20 {
        std::thread::yield_now();
    }
    assert_eq!(epoch.count(), 99);
}

#[test]
fn another_epoch_ends_the_one_that_runs() {
    let loader = builder(flat(40), 4).build().unwrap();
    let mut old = loader.epoch(0);
    assert!(old.next().unwrap().is_ok());
    let new = loader.epoch(1);
    let error = old.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("another one was started"), "{error}");
    assert!(old.next().is_none());
    assert_eq!(new.filter(|batch| batch.is_ok()).count(), 10);
}

#[test]
fn many_short_epochs_reuse_threads_and_memory() {
    let loader = builder(flat(3), 2).last_batch(LastBatch::Partial).shuffle(true).workers(2).build().unwrap();
    for epoch in 0..300 {
        let mut seen = epoch_of(&loader, epoch).concat();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
    }
    assert_eq!(loader.stats().workers, 2);
}

#[test]
fn a_dropped_epoch_is_not_worked_on() {
    let gate = Gate::closed();
    let source = Flat { gate: Some(gate.clone()), ..flat(400) };
    let reads = source.reads.clone();
    let loader = builder(source, 200).workers(2).build().unwrap();
    let epoch = loader.epoch(0);
    gate.until_waiting(2);
    drop(epoch);
    gate.open();
    drop(loader); // which waits for its workers
    assert_eq!(
        reads.lock().unwrap().len(),
        2,
        "two workers finish what they have begun, and begin nothing more"
    );
}

/// Drops its own loader, as a garbage collector may that runs in a thread of the loader's.
struct Dropping {
    own: Arc<Mutex<Option<(Loader, Epoch)>>>,
    tell: Sender<bool>,
}

impl Augment for Dropping {
    fn name(&self) -> &'static str {
        "Dropping"
    }

    fn plan(&self, _draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let own = self.own.lock().unwrap().take();
        if own.is_some() {
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(own)));
            self.tell.send(dropped.is_ok()).unwrap();
        }
    }
}

#[test]
fn a_loader_may_be_dropped_by_a_thread_of_its_own() {
    for workers in [1, 3] {
        let gate = Gate::closed();
        let (own, (tell, told)) = (Arc::default(), channel());
        let dropping = Dropping { own: Arc::clone(&own), tell };
        let source = Flat { gate: Some(gate.clone()), ..flat(24) };
        let loader = builder(source, 4).augment(dropping).workers(workers).build().unwrap();
        let epoch = loader.epoch(0);
        *own.lock().unwrap() = Some((loader, epoch));
        gate.open();
        assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(true));
    }
}
