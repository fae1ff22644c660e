//! The queue's state without its lock: which batches are pending, which row is next, what is finished.
//!
//! Each change is one method. What it asks of the threads that wait, and memory that is to be freed without the lock, it
//! returns as [`Effects`].

use super::buffers::BufferPool;
use super::task::{FinishedBatch, Job, Outcome, Task};
use crate::device::backend::BufferAllocator;
use crate::error::{Error, Result, bail};
use crate::loader::epoch::plan::EpochPlan;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a change asks for once the lock is released.
#[must_use = "threads wait for it"]
pub(super) struct Effects<A: BufferAllocator> {
    /// There may be a task for workers that wait.
    pub(super) wake_workers: bool,
    /// There may be something for the consumer that waits.
    pub(super) wake_consumer: bool,
    /// Memory that is one too many.
    pub(super) surplus: Vec<A::Ready>,
}

/// What a worker gets when it asks for a task.
pub(super) enum NextTask<A: BufferAllocator> {
    Task(Task<A>),
    /// The size of the epoch's next batch is to be found, without the lock.
    Size(Arc<EpochPlan>, usize),
    /// There is none yet.
    Wait,
    /// The thread is to end.
    Stop,
}

/// A row to fill, and whether a batch was opened for it.
enum NextRow<A: BufferAllocator> {
    Row(Job<A>, bool),
    Size(Arc<EpochPlan>, usize),
    None,
}

/// A batch for the consumer, and what giving it away asks for.
pub(super) type Delivered<A> = (FinishedBatch<<A as BufferAllocator>::Ready>, Effects<A>);

/// A batch being filled, submitted or ready.
struct PendingBatch<A: BufferAllocator> {
    batch: usize,
    buffer: Arc<A::Buffer>,
    rows: usize,
    claimed: usize,
    finished: usize,
    outcomes: Vec<Outcome>,
    submission: Submission,
}

/// How far a batch has come that has to be submitted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Submission {
    /// It is complete with its last row.
    NotNeeded,
    Due,
    UnderWay,
    Done,
}

/// The epoch that runs.
struct ActiveEpoch<A: BufferAllocator> {
    /// Which start of an epoch this is; results of earlier ones are thrown away.
    serial: u64,
    plan: Arc<EpochPlan>,
    next_batch: usize,
    /// The batch whose size a worker is finding.
    sizing: Option<usize>,
    pending: VecDeque<PendingBatch<A>>,
    /// Why the epoch cannot go on.
    broken: Option<Error>,
}

pub(super) struct QueueState<A: BufferAllocator> {
    active: Option<ActiveEpoch<A>>,
    serial: u64,
    buffers: BufferPool<A>,
    stopping: bool,
    /// Whether a worker thread is gone, so that no epoch would surely end.
    lost_thread: bool,
}

impl<A: BufferAllocator> QueueState<A> {
    pub(super) fn new(buffers: BufferPool<A>) -> Self {
        Self { active: None, serial: 0, buffers, stopping: false, lost_thread: false }
    }

    /// Starts an epoch at `first_batch`, ending the one that runs; returns its serial number.
    pub(super) fn start(&mut self, plan: Arc<EpochPlan>, first_batch: usize) -> (u64, Effects<A>) {
        let surplus = self.abandon_epoch();
        self.serial += 1;
        let (serial, pending) = (self.serial, VecDeque::new());
        let broken = self.lost_thread.then(lost_thread);
        let (next_batch, sizing) = (first_batch, None);
        self.active = Some(ActiveEpoch { serial, plan, next_batch, sizing, pending, broken });
        (serial, Effects { surplus, ..Effects::wake_all() })
    }

    /// Ends the epoch `serial`, if it still runs.
    pub(super) fn cancel(&mut self, serial: u64) -> Effects<A> {
        let surplus = if self.epoch(serial).is_some() { self.abandon_epoch() } else { Vec::new() };
        Effects { surplus, ..Effects::none() }
    }

    /// Lets this epoch and all others end with an error.
    pub(super) fn lose_thread(&mut self) -> Effects<A> {
        self.lost_thread = true;
        self.break_off(lost_thread());
        Effects::wake_all()
    }

    /// Ends everything.
    pub(super) fn stop(&mut self) -> Effects<A> {
        self.stopping = true;
        Effects { surplus: self.abandon_epoch(), ..Effects::wake_all() }
    }

    /// The next task for a worker.
    pub(super) fn claim(&mut self) -> (NextTask<A>, Effects<A>) {
        if self.stopping {
            return (NextTask::Stop, Effects::none());
        }
        if let Some(task) = self.next_submission() {
            return (NextTask::Task(task), Effects::none());
        }
        match self.next_row() {
            Ok(NextRow::Row(job, opened)) => {
                let wake_workers = opened && job.plan.rows(job.batch) > 1;
                (NextTask::Task(Task::Row(job)), Effects { wake_workers, ..Effects::none() })
            }
            Ok(NextRow::Size(plan, batch)) => (NextTask::Size(plan, batch), Effects::none()),
            Ok(NextRow::None) => (NextTask::Wait, Effects::none()),
            Err(error) => {
                self.break_off(error);
                (NextTask::Wait, Effects { wake_consumer: true, ..Effects::none() })
            }
        }
    }

    /// Takes a worker's result.
    pub(super) fn finish(&mut self, job: Job<A>, outcome: Outcome) -> Effects<A> {
        let Job { buffer, batch, row, serial, .. } = job;
        let Some(pending) = self.pending(serial, batch) else { return self.abandon(buffer) };
        // The buffer's other owner is the pending batch: taking it relies on the workers' clones being dropped by now.
        drop(buffer);
        pending.outcomes[row] = outcome;
        pending.finished += 1;
        let (wake_consumer, wake_workers) = (pending.is_complete(), pending.is_due());
        Effects { wake_workers, wake_consumer, surplus: Vec::new() }
    }

    /// Takes the result of a submission.
    pub(super) fn submitted(
        &mut self,
        job: Job<A>,
        outcomes: Vec<Outcome>,
        result: Result<()>,
    ) -> Effects<A> {
        let Job { buffer, batch, serial, .. } = job;
        if self.epoch(serial).is_none() {
            return self.abandon(buffer);
        }
        drop(buffer);
        if let Some(pending) = self.pending(serial, batch) {
            pending.outcomes = outcomes;
            pending.submission = Submission::Done;
        }
        if let Err(error) = result {
            self.break_off(error);
        }
        // The next batch may have been waiting for this one.
        Effects::wake_all()
    }

    /// How many batches of the epoch `serial` are ready, in order.
    pub(super) fn ready(&self, serial: u64) -> usize {
        let active = self.active.as_ref().filter(|active| active.serial == serial);
        active.map_or(0, |active| active.pending.iter().take_while(|pending| pending.is_complete()).count())
    }

    /// Whether the consumer has to wait for the next batch of the epoch `serial`.
    pub(super) fn must_wait(&self, serial: u64) -> bool {
        let active = self.active.as_ref().filter(|active| active.serial == serial);
        active.is_some_and(|active| {
            active.broken.is_none() && !active.pending.front().is_some_and(PendingBatch::is_complete)
        })
    }

    /// The next batch of the epoch `serial`; `None` where it is not ready.
    pub(super) fn take(&mut self, serial: u64) -> Result<Option<Delivered<A>>> {
        let Some(active) = self.epoch(serial) else {
            bail!(
                "this epoch was ended because another one was started: finish or drop an epoch's iterator before the \
                 next one is made"
            );
        };
        if let Some(error) = active.broken.take() {
            return Err(error);
        }
        if !active.pending.front().is_some_and(PendingBatch::is_complete) {
            return Ok(None);
        }
        let Some(PendingBatch { buffer, outcomes, .. }) = active.pending.pop_front() else { return Ok(None) };
        self.buffers.hand_over();
        let buffer = Arc::into_inner(buffer).ok_or_else(still_shared)?;
        let finished = FinishedBatch { memory: A::finish(buffer), outcomes };
        Ok(Some((finished, Effects { wake_workers: true, ..Effects::none() })))
    }

    /// Takes the memory of a batch back.
    pub(super) fn give_back(&mut self, ready: A::Ready) -> Effects<A> {
        let surplus = self.buffers.give_back(ready).into_iter().collect();
        Effects { wake_workers: true, surplus, ..Effects::none() }
    }

    /// Allows one more buffer, if one is reserved.
    pub(super) fn grow(&mut self) -> Effects<A> {
        self.buffers.grow();
        Effects { wake_workers: true, ..Effects::none() }
    }

    /// Buffers that may be in use at once.
    pub(super) fn allowed(&self) -> usize {
        self.buffers.allowed()
    }

    fn epoch(&mut self, serial: u64) -> Option<&mut ActiveEpoch<A>> {
        self.active.as_mut().filter(|active| active.serial == serial)
    }

    fn pending(&mut self, serial: u64, batch: usize) -> Option<&mut PendingBatch<A>> {
        self.epoch(serial)?.pending.iter_mut().find(|pending| pending.batch == batch)
    }

    /// The first batch whose rows are all filled. One is submitted at a time, so that batches reach the device in order.
    fn next_submission(&mut self) -> Option<Task<A>> {
        let active = self.active.as_mut().filter(|active| active.broken.is_none())?;
        if active.pending.iter().any(|pending| pending.submission == Submission::UnderWay) {
            return None;
        }
        let pending = active.pending.iter_mut().find(|pending| pending.submission != Submission::Done)?;
        if !pending.is_due() {
            return None;
        }
        pending.submission = Submission::UnderWay;
        let (buffer, batch) = (Arc::clone(&pending.buffer), pending.batch);
        let job = Job { plan: Arc::clone(&active.plan), buffer, batch, row: 0, serial: active.serial };
        Some(Task::Submit(job, std::mem::take(&mut pending.outcomes)))
    }

    /// The first unclaimed row of the pending batches, or of a new one.
    fn next_row(&mut self) -> Result<NextRow<A>> {
        let Some(active) = self.active.as_mut().filter(|active| active.broken.is_none()) else {
            return Ok(NextRow::None);
        };
        let unclaimed = active.pending.iter().position(|pending| pending.claimed < pending.rows);
        let opened = unclaimed.is_none();
        let at = match unclaimed {
            Some(at) => at,
            None => {
                let batch = active.next_batch;
                if batch >= active.plan.batches() {
                    return Ok(NextRow::None);
                }
                if !active.plan.is_sized(batch) {
                    let is_under_way = active.sizing.replace(batch) == Some(batch);
                    return Ok(match is_under_way {
                        true => NextRow::None,
                        false => NextRow::Size(Arc::clone(&active.plan), batch),
                    });
                }
                let Some(mut buffer) = self.buffers.take()? else { return Ok(NextRow::None) };
                A::resize_rows(&mut buffer, &active.plan.row_bytes(batch));
                active.pending.push_back(PendingBatch::new(batch, buffer, active.plan.rows(batch)));
                active.next_batch += 1;
                active.pending.len() - 1
            }
        };
        let pending = &mut active.pending[at];
        pending.claimed += 1;
        let (buffer, batch, row) = (Arc::clone(&pending.buffer), pending.batch, pending.claimed - 1);
        let job = Job { plan: Arc::clone(&active.plan), buffer, batch, row, serial: active.serial };
        Ok(NextRow::Row(job, opened))
    }

    /// Keeps what the consumer is to get as an error; no more of the epoch is begun.
    fn break_off(&mut self, error: Error) {
        if let Some(active) = &mut self.active {
            active.broken.get_or_insert(error);
        }
    }

    /// A worker is done with a buffer of an epoch that was ended; the last one brings it back.
    fn abandon(&mut self, buffer: Arc<A::Buffer>) -> Effects<A> {
        let Some(buffer) = Arc::into_inner(buffer) else { return Effects::none() };
        let surplus = self.buffers.abandon(buffer).into_iter().collect();
        Effects { wake_workers: true, surplus, ..Effects::none() }
    }

    /// Buffers that workers still write come back when the last of them finishes.
    fn abandon_epoch(&mut self) -> Vec<A::Ready> {
        let pending = self.active.take().into_iter().flat_map(|active| active.pending);
        pending.filter_map(|pending| self.buffers.abandon(Arc::into_inner(pending.buffer)?)).collect()
    }
}

impl<A: BufferAllocator> PendingBatch<A> {
    fn new(batch: usize, buffer: A::Buffer, rows: usize) -> Self {
        let outcomes = std::iter::repeat_with(Outcome::default).take(rows).collect();
        let submission = if A::SUBMITS { Submission::Due } else { Submission::NotNeeded };
        Self { batch, buffer: Arc::new(buffer), rows, claimed: 0, finished: 0, outcomes, submission }
    }

    /// Whether all rows are filled and the batch has still to be submitted.
    fn is_due(&self) -> bool {
        self.finished == self.rows && self.submission == Submission::Due
    }

    fn is_complete(&self) -> bool {
        self.finished == self.rows && matches!(self.submission, Submission::NotNeeded | Submission::Done)
    }
}

impl<A: BufferAllocator> Effects<A> {
    fn none() -> Self {
        Self { wake_workers: false, wake_consumer: false, surplus: Vec::new() }
    }

    fn wake_all() -> Self {
        Self { wake_workers: true, wake_consumer: true, surplus: Vec::new() }
    }
}

fn lost_thread() -> Error {
    Error::Unavailable {
        what: "a worker thread".into(),
        why: "it ended by a panic that could not be caught".into(),
        remedy: "make the loader anew, and report the panic's message on standard error if it is none of your own code"
            .into(),
    }
}

fn still_shared() -> Error {
    Error::config("a finished batch is still being written; this is a bug, please report it")
}
