//! The queue under shuttle: the same file with a lock whose every interleaving is chosen by the test, not by the machine.
//!
//! A thread that waits for ever is found as a deadlock. Buffers have no memory; they say which rows were filled.

#[path = "locked.rs"]
#[allow(clippy::duplicate_mod, reason = "the same file with another lock is what is tested")]
#[allow(dead_code, reason = "the loader uses all of it")]
mod locked;

#[path = "lent.rs"]
#[allow(clippy::duplicate_mod, reason = "as above")]
#[allow(dead_code, reason = "as above")]
mod lent;

use super::{buffers, state, task};
use crate::device::DeviceImages;
use crate::device::backend::{BufferAllocator, ReadyBuffer};
use crate::error::{Error, Result, bail};
use crate::loader::epoch::batch_size::Sizes;
use crate::loader::epoch::plan::EpochPlan;
use crate::policy::LastBatch;
use crate::sampler::{Order, RankPartition};
pub(in crate::loader) use lent::{BatchMemory, Lent};
pub(in crate::loader) use locked::Queue;
use shuttle::scheduler::DfsScheduler;
use shuttle::thread;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use task::{FinishedBatch, Outcome, Task};

/// What the queue takes for the lock and the conditions of `std`.
mod sync {
    pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard};
}

const ROWS: usize = 2;
pub(in crate::loader) const BATCHES: usize = 3;
pub(in crate::loader) const RESERVED: usize = 3;

/// A batch's memory: each row holds the number of the batch that filled it, counted from 1, or 0.
pub(in crate::loader) struct Memory {
    pub(in crate::loader) rows: [AtomicUsize; ROWS],
    alive: Arc<AtomicUsize>,
}

impl Memory {
    /// Memory of no allocator's.
    pub(in crate::loader) fn alone() -> Self {
        Self { rows: Default::default(), alive: Arc::new(AtomicUsize::new(1)) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, SeqCst);
    }
}

/// Makes buffers that are submitted, or are not, and counts those that there are.
pub(in crate::loader) struct Allocator<const SUBMITS: bool> {
    alive: Arc<AtomicUsize>,
    /// How many can be had at once.
    limit: usize,
}

impl<const SUBMITS: bool> Default for Allocator<SUBMITS> {
    fn default() -> Self {
        Self { alive: Arc::default(), limit: usize::MAX }
    }
}

impl<const SUBMITS: bool> Allocator<SUBMITS> {
    pub(in crate::loader) fn new(alive: &Arc<AtomicUsize>, limit: usize) -> Self {
        Self { alive: Arc::clone(alive), limit }
    }
}

impl<const SUBMITS: bool> BufferAllocator for Allocator<SUBMITS> {
    type Buffer = Memory;
    type Ready = Memory;
    const SUBMITS: bool = SUBMITS;

    fn allocate(&self) -> Result<Memory> {
        if self.alive.load(SeqCst) >= self.limit {
            bail!("no memory is left");
        }
        self.alive.fetch_add(1, SeqCst);
        Ok(Memory { rows: Default::default(), alive: Arc::clone(&self.alive) })
    }

    fn resize_rows(_: &mut Memory, _: &[usize]) {}

    fn finish(buffer: Memory) -> Memory {
        buffer
    }

    fn reuse(ready: Memory) -> Memory {
        ready.rows.iter().for_each(|row| row.store(0, SeqCst));
        ready
    }
}

impl ReadyBuffer for Memory {
    fn host(&self) -> &[u8] {
        &[]
    }

    fn host_address(&self) -> *mut u8 {
        std::ptr::null_mut()
    }

    fn on_device(&self, _: Range<usize>) -> Option<DeviceImages<'_>> {
        None
    }

    fn move_row(&mut self, _: Range<usize>, _: usize) {}

    fn retire(&self) {}
}

/// An epoch of three batches; the last one has one row.
pub(in crate::loader) fn plan() -> Arc<EpochPlan> {
    let samples = (ROWS * BATCHES - 1) as u64;
    Arc::new(EpochPlan {
        epoch: 0,
        order: Order::sequential(samples),
        partition: RankPartition::new(samples, 1, 1),
        rank: 0,
        batch_size: ROWS,
        last: LastBatch::Partial,
        seed: 1,
        outputs: Arc::default(),
        sizes: Sizes::none(),
        consumed: None,
        found: Arc::default(),
    })
}

pub(in crate::loader) fn rows_of(memory: &Memory, batch: usize) -> bool {
    let rows = plan().rows(batch);
    memory.rows[..rows].iter().all(|row| row.load(SeqCst) == batch + 1)
}

/// A worker's life. The submission of a batch whose number is `fails` fails.
fn work<const SUBMITS: bool>(queue: &Queue<Allocator<SUBMITS>>, fails: Option<usize>) {
    while let Some(task) = queue.claim() {
        match task {
            Task::Row(job) => {
                let before = job.buffer.rows[job.row].swap(job.batch + 1, SeqCst);
                assert_eq!(before, 0, "row {} of batch {} is filled twice", job.row, job.batch);
                queue.finish(job, Outcome::default());
            }
            Task::Submit(job, outcomes) => {
                assert_eq!(outcomes.len(), job.plan.rows(job.batch));
                assert!(
                    rows_of(&job.buffer, job.batch),
                    "batch {} is submitted before its rows are there",
                    job.batch
                );
                thread::yield_now();
                let failed = fails == Some(job.batch);
                let result = if failed { Err(Error::config("the device failed")) } else { Ok(()) };
                queue.submitted(job, outcomes, result);
            }
        }
    }
}

type Shared<const SUBMITS: bool> = Arc<Queue<Allocator<SUBMITS>>>;

/// Runs `consumer` beside so many workers, by one order of events; no buffer may be left at its end.
fn run<const SUBMITS: bool>(
    workers: usize,
    (allowed, limit): (usize, usize),
    fails: Option<usize>,
    consumer: impl Fn(&Shared<SUBMITS>),
) {
    let alive = Arc::new(AtomicUsize::new(0));
    let allocator = Arc::new(Allocator::new(&alive, limit));
    let queue: Shared<SUBMITS> = Arc::new(Queue::new(allocator, allowed, RESERVED).expect("memory"));
    let spawn = |_| {
        let queue = Arc::clone(&queue);
        thread::spawn(move || work(&queue, fails))
    };
    let threads: Vec<_> = (0..workers).map(spawn).collect();
    consumer(&queue);
    queue.stop();
    threads.into_iter().for_each(|thread| thread.join().expect("a worker does not panic"));
    assert!(alive.load(SeqCst) <= RESERVED, "what is beyond the reserve is freed");
    drop(queue);
    assert_eq!(alive.load(SeqCst), 0, "a buffer is left");
}

/// Runs `test` by many orders of events.
pub(in crate::loader) fn explore(test: fn()) {
    feedline_test_support::explore::explore(400, 0, test);
}

/// The next batch, which must be `batch` and whole.
fn take<const SUBMITS: bool>(queue: &Shared<SUBMITS>, serial: u64, batch: usize) -> Memory {
    let FinishedBatch { memory, outcomes } = queue.take(serial).expect("a batch");
    assert!(rows_of(&memory, batch), "batch {batch} is not whole, or is another one");
    assert_eq!(outcomes.len(), plan().rows(batch));
    memory
}

fn whole_epoch<const SUBMITS: bool>() {
    run::<SUBMITS>(3, (1, RESERVED), None, |queue| {
        let serial = queue.start(plan(), 0);
        for batch in 0..BATCHES {
            assert!(queue.wait(serial, Duration::MAX));
            queue.give_back(take(queue, serial, batch));
            queue.grow();
        }
        assert_eq!((queue.ready(serial), queue.allowed()), (0, RESERVED));
    });
}

#[test]
fn batches_come_whole_and_in_order_by_any_order_of_events() {
    explore(whole_epoch::<false>);
}

#[test]
fn batches_that_are_submitted_come_whole_and_in_order_by_any_order_of_events() {
    explore(whole_epoch::<true>);
}

#[test]
fn every_order_of_events_of_two_workers_and_a_batch_ends() {
    let scheduler = DfsScheduler::new(Some(4_000), false);
    shuttle::Runner::new(scheduler, shuttle::Config::new()).run(|| {
        run::<true>(2, (1, RESERVED), None, |queue| {
            let serial = queue.start(plan(), BATCHES - 1);
            queue.give_back(take(queue, serial, BATCHES - 1));
        });
    });
}

fn ended_in_its_middle<const SUBMITS: bool>() {
    run::<SUBMITS>(2, (2, RESERVED), None, |queue| {
        let first = queue.start(plan(), 0);
        let held = take(queue, first, 0);
        let second = queue.start(plan(), 1);
        assert!(queue.take(first).is_err(), "the first epoch has ended");
        queue.cancel(first); // which ends nothing any more
        let next = take(queue, second, 1);
        queue.give_back(held);
        queue.cancel(second);
        let third = queue.start(plan(), 0);
        queue.give_back(next);
        (0..BATCHES).for_each(|batch| queue.give_back(take(queue, third, batch)));
    });
}

#[test]
fn an_epoch_that_is_ended_leaves_nothing_to_the_next_one() {
    explore(ended_in_its_middle::<false>);
    explore(ended_in_its_middle::<true>);
}

#[test]
fn a_failure_is_told_once_and_the_next_epoch_runs() {
    explore(|| {
        run::<true>(2, (2, RESERVED), Some(1), |queue| {
            let first = queue.start(plan(), 0);
            let mut taken = 0;
            while let Ok(finished) = queue.take(first) {
                assert!(rows_of(&finished.memory, taken));
                queue.give_back(finished.memory);
                taken += 1;
            }
            assert!(taken <= 1, "what comes after the failure is not delivered");
            let second = queue.start(plan(), 2);
            queue.give_back(take(queue, second, 2));
        });
    });
}

#[test]
fn a_consumer_that_keeps_its_batches_gets_them_all_and_gives_them_back_from_elsewhere() {
    explore(|| {
        run::<false>(2, (1, usize::MAX), None, |queue| {
            let serial = queue.start(plan(), 0);
            let kept: Vec<Memory> = (0..BATCHES).map(|batch| take(queue, serial, batch)).collect();
            let elsewhere = Arc::clone(queue);
            let other =
                thread::spawn(move || kept.into_iter().for_each(|memory| elsewhere.give_back(memory)));
            let next = queue.start(plan(), 1);
            (1..BATCHES).for_each(|batch| queue.give_back(take(queue, next, batch)));
            other.join().expect("it does not panic");
        });
    });
}

#[test]
fn memory_that_is_not_there_ends_the_epoch_and_no_thread_waits_for_it() {
    explore(|| {
        run::<false>(2, (1, RESERVED), None, |queue| {
            let serial = queue.start(plan(), 0);
            let mut kept: Vec<Memory> = (0..BATCHES).map(|batch| take(queue, serial, batch)).collect();
            // All that can be had are kept, and one more is wanted.
            let next = queue.start(plan(), 0);
            assert!(queue.take(next).is_err_and(|error| error.to_string().contains("no memory")));
            kept.drain(..).for_each(|memory| queue.give_back(memory));
            let last = queue.start(plan(), 2);
            queue.give_back(take(queue, last, 2));
        });
    });
}

#[test]
fn memory_that_is_given_back_is_filled_before_the_next_batch_is_asked_for() {
    explore(|| {
        run::<false>(2, (2, RESERVED), None, |queue| {
            let serial = queue.start(plan(), 0);
            let first = take(queue, serial, 0);
            // One more than the consumer holds may be filled, and then no other.
            while queue.ready(serial) < 1 {
                thread::yield_now();
            }
            queue.give_back(first);
            while queue.ready(serial) < 2 {
                thread::yield_now();
            }
            (1..BATCHES).for_each(|batch| queue.give_back(take(queue, serial, batch)));
        });
    });
}
