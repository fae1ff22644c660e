//! The pipeline's state under its lock.
//!
//! Workers claim samples in the epoch's order, so the first batch is finished first and batches can be delivered in
//! order without sorting. A sample takes hundreds of microseconds, so one lock per sample costs nothing.

use super::buffers::BufferPool;
use super::state::{Effects, NextTask, QueueState};
use super::sync::{Condvar, Mutex, MutexGuard};
use super::task::{FinishedBatch, Job, Outcome, Task};
use crate::device::backend::BufferAllocator;
use crate::error::Result;
use crate::loader::epoch::plan::EpochPlan;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The state of the pipeline under its lock, and who waits for a change of it.
pub(in crate::loader) struct Queue<A: BufferAllocator> {
    state: Mutex<QueueState<A>>,
    /// A row may have become claimable.
    work: Condvar,
    /// A batch may have become ready.
    ready: Condvar,
}

impl<A: BufferAllocator> Queue<A> {
    /// Reserves `reserved` buffers and allows `allowed` of them at once.
    ///
    /// # Errors
    /// Where a device has not the memory for them.
    pub(in crate::loader) fn new(allocator: Arc<A>, allowed: usize, reserved: usize) -> Result<Self> {
        let state = QueueState::new(BufferPool::new(allocator, allowed, reserved)?);
        Ok(Self { state: Mutex::new(state), work: Condvar::new(), ready: Condvar::new() })
    }

    /// Starts an epoch at `first_batch`, ending the one that runs; returns its serial number.
    pub(in crate::loader) fn start(&self, plan: Arc<EpochPlan>, first_batch: usize) -> u64 {
        let (serial, effects) = self.lock().start(plan, first_batch);
        self.apply(effects);
        serial
    }

    /// Ends the epoch `serial`, if it still runs. Workers finish the samples that they have begun and drop them.
    pub(in crate::loader) fn cancel(&self, serial: u64) {
        let effects = self.lock().cancel(serial);
        self.apply(effects);
    }

    /// Ends the workers.
    pub(in crate::loader) fn stop(&self) {
        let effects = self.lock().stop();
        self.apply(effects);
    }

    /// The next task for a worker; waits for one. `None`: the thread is to end.
    pub(in crate::loader) fn claim(&self) -> Option<Task<A>> {
        let mut state = self.lock();
        loop {
            let (next, effects) = state.claim();
            self.wake(&effects);
            match next {
                NextTask::Task(task) => return Some(task),
                NextTask::Stop => return None,
                // That plans samples, so it takes a while, and calls what others wrote.
                NextTask::Size(plan, batch) => {
                    drop(state);
                    plan.size(batch);
                    state = self.lock();
                    // Others may have been waiting for it.
                    self.work.notify_all();
                }
                NextTask::Wait => state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Takes a worker's result.
    pub(in crate::loader) fn finish(&self, job: Job<A>, outcome: Outcome) {
        let effects = self.lock().finish(job, outcome);
        self.apply(effects);
    }

    /// Takes the result of a submission.
    pub(in crate::loader) fn submitted(&self, job: Job<A>, outcomes: Vec<Outcome>, result: Result<()>) {
        let effects = self.lock().submitted(job, outcomes, result);
        self.apply(effects);
    }

    /// Ends the epoch that runs, and each one that starts, with an error: a worker thread is gone by a panic.
    pub(in crate::loader) fn lose_thread(&self) {
        let effects = self.lock().lose_thread();
        self.apply(effects);
    }

    /// How many batches of the epoch `serial` are ready, in order.
    pub(in crate::loader) fn ready(&self, serial: u64) -> usize {
        self.lock().ready(serial)
    }

    /// Waits until [`Queue::take`] would not wait for the epoch `serial`, or for `at_most`; says which.
    pub(in crate::loader) fn wait(&self, serial: u64, at_most: Duration) -> bool {
        let must_wait = |state: &mut QueueState<A>| state.must_wait(serial);
        let waited = self.ready.wait_timeout_while(self.lock(), at_most, must_wait);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Waits for the next batch of the epoch `serial`.
    pub(in crate::loader) fn take(&self, serial: u64) -> Result<FinishedBatch<A::Ready>> {
        let mut state = self.lock();
        loop {
            if let Some((finished, effects)) = state.take(serial)? {
                drop(state);
                self.apply(effects);
                return Ok(finished);
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the memory of a batch back.
    pub(in crate::loader::queue) fn give_back(&self, ready: A::Ready) {
        let effects = self.lock().give_back(ready);
        self.apply(effects);
    }

    /// Allows one more buffer, if one is reserved.
    pub(in crate::loader) fn grow(&self) {
        let effects = self.lock().grow();
        self.apply(effects);
    }

    /// Buffers that may be in use at once.
    pub(in crate::loader) fn allowed(&self) -> usize {
        self.lock().allowed()
    }

    /// Wakes who waits, and frees memory; the lock is released.
    fn apply(&self, effects: Effects<A>) {
        self.wake(&effects);
        drop(effects.surplus);
    }

    fn wake(&self, effects: &Effects<A>) {
        if effects.wake_workers {
            self.work.notify_all();
        }
        if effects.wake_consumer {
            self.ready.notify_all();
        }
    }

    /// Nothing that can panic runs under the lock, so a poisoned one is still whole.
    fn lock(&self) -> MutexGuard<'_, QueueState<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
