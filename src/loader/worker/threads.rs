//! Worker threads: they work until a queue stops, and are joined by their owner.

use super::Queue;
use super::sync::{Builder, JoinHandle, current};
use crate::device::backend::BufferAllocator;
use crate::error::Result;
use crate::loader::queue::task::{Job, Outcome, Task};

/// What a thread does with its tasks. None of it panics; where something does after all, the thread and the epoch end.
pub(super) trait Work<A: BufferAllocator> {
    /// Fills a row.
    fn row(&mut self, job: &Job<A>) -> Outcome;

    /// Submits a batch whose rows are filled.
    ///
    /// # Errors
    /// Why the epoch cannot go on.
    fn submit(&mut self, job: &Job<A>, outcomes: &mut Vec<Outcome>) -> Result<()>;

    /// Does what is left of the batch that was submitted last, which is in its consumer's hands by now.
    fn settle(&mut self);
}

/// Works until the queue stops.
pub(super) fn work<A: BufferAllocator>(queue: &Queue<A>, worker: &mut impl Work<A>) {
    let _guard = ThreadGuard(queue);
    while let Some(task) = queue.claim() {
        match task {
            Task::Row(job) => {
                let outcome = worker.row(&job);
                queue.finish(job, outcome);
            }
            Task::Submit(job, mut outcomes) => {
                let result = worker.submit(&job, &mut outcomes);
                queue.submitted(job, outcomes, result);
                worker.settle();
            }
        }
    }
}

/// Ends the epoch with an error where the thread leaves by a panic that nothing caught: its row would never be finished.
struct ThreadGuard<'a, A: BufferAllocator>(&'a Queue<A>);

impl<A: BufferAllocator> Drop for ThreadGuard<'_, A> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lose_thread();
        }
    }
}

/// The threads that there are.
#[derive(Default)]
pub(super) struct WorkerThreads(Vec<JoinHandle<()>>);

impl WorkerThreads {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Starts one more.
    ///
    /// # Errors
    /// The system's, where it gives none.
    pub(super) fn spawn(&mut self, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let name = format!("feedline-{}", self.0.len());
        self.0.push(Builder::new().name(name).spawn(work)?);
        Ok(())
    }

    /// Stops the queue that they work on, and waits for their end. Where one of them is the caller, because
    /// a callback has dropped the last owner, it waits for the others alone, and ends when it returns.
    pub(super) fn stop<A: BufferAllocator>(&mut self, queue: &Queue<A>) {
        queue.stop();
        let own = current().id();
        for thread in self.0.drain(..).filter(|thread| thread.thread().id() != own) {
            // A worker catches its panics; one that still died has nothing left to stop.
            drop(thread.join());
        }
    }

    /// Leaves them to themselves: in a forked child there are none.
    pub(super) fn forget(&mut self) {
        std::mem::forget(std::mem::take(&mut self.0));
    }
}
