//! Worker threads under shuttle, on the queue's model: how they start, are lost by a panic and end beside a consumer, by many
//! orders of events. A thread that waits for ever is found as a deadlock.

#[path = "threads.rs"]
#[allow(clippy::duplicate_mod, reason = "the same file with other threads is what is tested")]
#[allow(dead_code, reason = "the pool uses all of it")]
mod threads;

use crate::error::Result;
use crate::loader::queue::model::{
    Allocator, BATCHES, BatchMemory, Lent, Memory, Queue, RESERVED, explore, plan, rows_of,
};
use crate::loader::queue::task::{FinishedBatch, Job, Outcome};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use threads::{Work, WorkerThreads, work};

/// What worker threads take for the threads of `std`.
mod sync {
    pub(super) use shuttle::thread::{Builder, JoinHandle, current};
}

type Allocated = Allocator<true>;

/// Fills rows with the number of their batch, and panics at one of them.
struct Filler {
    panics_at: Option<(usize, usize)>,
}

impl Work<Allocated> for Filler {
    fn row(&mut self, job: &Job<Allocated>) -> Outcome {
        if self.panics_at == Some((job.batch, job.row)) {
            // As a panic, but without a message.
            resume_unwind(Box::new("on purpose"));
        }
        job.buffer.rows[job.row].store(job.batch + 1, SeqCst);
        Outcome::default()
    }

    fn submit(&mut self, job: &Job<Allocated>, _: &mut Vec<Outcome>) -> Result<()> {
        assert!(
            rows_of(&job.buffer, job.batch),
            "batch {} is submitted before its rows are there",
            job.batch
        );
        Ok(())
    }

    fn settle(&mut self) {}
}

/// A queue and its threads, which end as those of a loader do.
struct Pool {
    queue: Arc<Queue<Allocated>>,
    threads: WorkerThreads,
}

impl Pool {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        let allocator = Arc::new(Allocator::new(alive, usize::MAX));
        let queue = Queue::new(allocator, RESERVED, RESERVED).expect("memory");
        Self { queue: Arc::new(queue), threads: WorkerThreads::default() }
    }

    fn spawn(&mut self, panics_at: Option<(usize, usize)>) {
        let queue = Arc::clone(&self.queue);
        // shuttle takes a panic that leaves a thread for the end of the test.
        let body = move || drop(catch_unwind(AssertUnwindSafe(|| work(&queue, &mut Filler { panics_at }))));
        self.threads.spawn(body).expect("a thread");
    }

    fn take(&self, serial: u64) -> Result<Box<Lent<Allocated>>> {
        let FinishedBatch { memory, .. } = self.queue.take(serial)?;
        Ok(Box::new(Lent::<Allocated> { ready: memory, queue: Arc::downgrade(&self.queue) }))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.threads.stop(&self.queue);
    }
}

/// Runs `test`, after which no batch's memory may be left.
fn without_leaks(test: impl FnOnce(Pool)) {
    let alive = Arc::new(AtomicUsize::new(0));
    test(Pool::new(&alive));
    assert_eq!(alive.load(SeqCst), 0, "a buffer is left");
}

fn number(memory: &Memory) -> usize {
    memory.rows[0].load(SeqCst)
}

#[test]
fn threads_end_wherever_an_epoch_is_by_any_order_of_events() {
    for taken in 0..=BATCHES {
        // The number goes by the thread's name for it, as a test under shuttle is a plain function.
        let test: [fn(); BATCHES + 1] =
            [ended_after::<0>, ended_after::<1>, ended_after::<2>, ended_after::<3>];
        explore(test[taken]);
    }
}

fn ended_after<const TAKEN: usize>() {
    without_leaks(|mut pool| {
        pool.spawn(None);
        let serial = pool.queue.start(plan(), 0);
        pool.spawn(None);
        for batch in 0..TAKEN {
            let lent = pool.take(serial).expect("a batch");
            assert_eq!(number(&lent.ready), batch + 1);
            lent.give_back();
        }
    });
}

#[test]
fn batches_that_outlive_their_loader_are_freed_by_any_order_of_events() {
    explore(|| {
        without_leaks(|mut pool| {
            (0..2).for_each(|_| pool.spawn(None));
            let serial = pool.queue.start(plan(), 0);
            let (first, second) = (pool.take(serial).expect("a batch"), pool.take(serial).expect("a batch"));
            let elsewhere = shuttle::thread::spawn(move || first.give_back());
            drop(pool);
            assert_eq!(number(&second.ready), 2, "what a consumer holds stays");
            second.give_back();
            elsewhere.join().expect("it does not panic");
        });
    });
}

#[test]
fn a_thread_that_is_lost_ends_the_epoch_with_an_error_by_any_order_of_events() {
    explore(|| {
        without_leaks(|mut pool| {
            (0..2).for_each(|_| pool.spawn(Some((1, 1))));
            let serial = pool.queue.start(plan(), 0);
            let (mut taken, mut failed) = (0, None);
            while taken < BATCHES && failed.is_none() {
                match pool.take(serial) {
                    Ok(lent) => {
                        taken += 1;
                        lent.give_back();
                    }
                    Err(error) => failed = Some(error.to_string()),
                }
            }
            assert!(taken <= 1, "the batch that the thread was lost at is not whole");
            assert!(failed.is_some_and(|error| error.contains("worker thread")));
            let next = pool.queue.start(plan(), 0);
            assert!(pool.take(next).is_err(), "an epoch that starts later says so as well");
        });
    });
}
