//! The one lock of the pipeline: which batches are open, which sample is next, what is finished.
//!
//! Workers claim samples in the epoch's order, so the first batch is finished first and batches can be delivered in
//! order without sorting. A sample takes hundreds of microseconds, so one lock a sample costs nothing.

use super::course::Course;
use super::memory::{Filled, Slot};
use super::policy::{Failure, Status};
use super::pool::Pool;
use crate::error::{Error, Result};
use crate::plan::carry::Seen;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a worker is to do next.
pub(super) enum Task {
    /// Fill one row.
    Row(Job),
    /// Send a batch whose rows are all staged to its device.
    Submit(Job, Vec<Outcome>),
}

/// One row to be filled, or a whole batch to be submitted.
pub(super) struct Job {
    pub(super) course: Arc<Course>,
    pub(super) slot: Arc<Slot>,
    pub(super) batch: usize,
    pub(super) row: usize,
    epoch: u64,
}

/// What became of a row.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) sample: Option<Sample>,
    pub(super) failures: Vec<Failure>,
    /// Substitutes tried so far.
    pub(super) substitutes: u32,
    pub(super) panic: Option<Error>,
}

/// What a batch says about a row besides its pixels.
pub(super) struct Sample {
    pub(super) index: u64,
    pub(super) key: String,
    pub(super) class: i64,
    pub(super) shares: Vec<(i64, f32)>,
    /// What is seen in it; `None` where its label says nothing of that.
    pub(super) objects: Option<Vec<Seen>>,
    /// Its semantic mask, where masks are asked for and it has one.
    pub(super) mask: Option<Vec<u8>>,
    pub(super) status: Status,
}

/// A finished batch.
pub(super) struct Delivery {
    pub(super) filled: Filled,
    pub(super) outcomes: Vec<Outcome>,
}

/// A batch being filled.
struct Open {
    batch: usize,
    slot: Arc<Slot>,
    rows: usize,
    claimed: usize,
    finished: usize,
    outcomes: Vec<Outcome>,
    submission: Submission,
}

/// Where a batch stands that a device makes; in the host's memory it is done with its last row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Submission {
    NotNeeded,
    Due,
    UnderWay,
    Done,
}

/// The epoch being worked on.
struct Run {
    /// Which start of an epoch this is; results of earlier ones are thrown away.
    serial: u64,
    course: Arc<Course>,
    next_batch: usize,
    open: VecDeque<Open>,
    /// Why the epoch cannot go on.
    broken: Option<Error>,
}

struct State {
    run: Option<Run>,
    serial: u64,
    pool: Pool,
    stopping: bool,
}

/// Where workers and the consumer meet.
pub(super) struct Queue {
    state: Mutex<State>,
    /// A row may have become claimable.
    work: Condvar,
    /// A batch may have become ready.
    ready: Condvar,
}

impl Queue {
    pub(super) fn new(pool: Pool) -> Self {
        let state = State { run: None, serial: 0, pool, stopping: false };
        Self { state: Mutex::new(state), work: Condvar::new(), ready: Condvar::new() }
    }

    /// Starts an epoch at `first_batch`, ending whichever runs; returns its serial number.
    pub(super) fn start(&self, course: Arc<Course>, first_batch: usize) -> u64 {
        let mut state = self.lock();
        let surplus = state.abandon_run();
        state.serial += 1;
        let serial = state.serial;
        state.run =
            Some(Run { serial, course, next_batch: first_batch, open: VecDeque::new(), broken: None });
        self.work.notify_all();
        self.ready.notify_all();
        drop(state);
        drop(surplus);
        serial
    }

    /// Ends the epoch `serial`, if it still runs. Workers finish the samples in their hands and drop them.
    pub(super) fn cancel(&self, serial: u64) {
        let mut state = self.lock();
        let runs = state.run.as_ref().is_some_and(|run| run.serial == serial);
        let surplus = if runs { state.abandon_run() } else { Vec::new() };
        drop(state);
        drop(surplus);
    }

    /// Sends the workers home.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        let surplus = state.abandon_run();
        self.work.notify_all();
        self.ready.notify_all();
        drop(state);
        drop(surplus);
    }

    /// The next task for a worker; waits for one. `None`: go home.
    pub(super) fn claim(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.stopping {
                return None;
            }
            if let Some(task) = state.next_submission() {
                return Some(task);
            }
            match state.next_job() {
                Ok(Some((job, opened))) => {
                    if opened && job.course.rows(job.batch) > 1 {
                        self.work.notify_all();
                    }
                    return Some(Task::Row(job));
                }
                Ok(None) => {}
                Err(error) => state.break_off(error, &self.ready),
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes a worker's result.
    pub(super) fn finish(&self, job: Job, outcome: Outcome) {
        let mut state = self.lock();
        let Job { slot, batch, row, epoch, .. } = job;
        let run = state.run.as_mut().filter(|run| run.serial == epoch);
        let open = run.and_then(|run| run.open.iter_mut().find(|open| open.batch == batch));
        if let Some(open) = open {
            // The slot's other owner is the open batch: delivery relies on the workers' being dropped by now.
            drop(slot);
            open.outcomes[row] = outcome;
            open.finished += 1;
            if open.is_complete() {
                self.ready.notify_all();
            } else if open.is_due() {
                self.work.notify_all();
            }
        } else if let Some(slot) = Arc::into_inner(slot) {
            let surplus = state.pool.abandon(slot);
            self.work.notify_all();
            drop(state);
            drop(surplus);
        }
    }

    /// Takes the result of a submission.
    pub(super) fn submitted(&self, job: Job, outcomes: Vec<Outcome>, result: Result<()>) {
        let mut state = self.lock();
        let Job { slot, batch, epoch, .. } = job;
        let run = state.run.as_mut().filter(|run| run.serial == epoch);
        let Some(run) = run else {
            let surplus = Arc::into_inner(slot).and_then(|slot| state.pool.abandon(slot));
            self.work.notify_all();
            drop(state);
            drop(surplus);
            return;
        };
        drop(slot);
        if let Some(open) = run.open.iter_mut().find(|open| open.batch == batch) {
            open.outcomes = outcomes;
            open.submission = Submission::Done;
        }
        if let Err(error) = result {
            state.break_off(error, &self.ready);
        }
        self.ready.notify_all();
        // The next batch may have been waiting for this one.
        self.work.notify_all();
    }

    /// How many batches of the epoch `serial` stand ready, in order.
    pub(super) fn ready(&self, serial: u64) -> usize {
        let state = self.lock();
        let run = state.run.as_ref().filter(|run| run.serial == serial);
        run.map_or(0, |run| run.open.iter().take_while(|open| open.is_complete()).count())
    }

    /// Waits until [`Queue::take`] would not wait for the epoch `serial`, or for `at_most`; says which.
    pub(super) fn wait(&self, serial: u64, at_most: Duration) -> bool {
        let waits = |state: &mut State| {
            let run = state.run.as_ref().filter(|run| run.serial == serial);
            run.is_some_and(|run| run.broken.is_none() && !run.open.front().is_some_and(Open::is_complete))
        };
        let waited = self.ready.wait_timeout_while(self.lock(), at_most, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Waits for the next batch of the epoch `serial`.
    pub(super) fn take(&self, serial: u64) -> Result<Delivery> {
        let mut state = self.lock();
        loop {
            let Some(run) = state.run.as_mut().filter(|run| run.serial == serial) else {
                return Err(Error::config(
                    "this epoch was ended because another one was started: finish or drop an epoch's iterator \
                     before the next one is made",
                ));
            };
            if let Some(error) = run.broken.take() {
                return Err(error);
            }
            if run.open.front().is_some_and(Open::is_complete)
                && let Some(open) = run.open.pop_front()
            {
                state.pool.hand_over();
                let slot = Arc::into_inner(open.slot).ok_or_else(still_shared)?;
                self.work.notify_all();
                return Ok(Delivery { filled: slot.finish(), outcomes: open.outcomes });
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the memory of a batch back.
    pub(super) fn give_back(&self, filled: Filled) {
        let surplus = self.lock().pool.give_back(filled);
        self.work.notify_all();
        drop(surplus);
    }

    /// Allows one more slot, if one is reserved.
    pub(super) fn grow(&self) {
        self.lock().pool.grow();
        self.work.notify_all();
    }

    /// Slots that may be in use at once.
    pub(super) fn slots(&self) -> usize {
        self.lock().pool.allowed()
    }

    /// Nothing that can panic runs under the lock, so a poisoned one is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The first batch whose rows are all staged. One is submitted at a time, so that batches reach the device in order.
    fn next_submission(&mut self) -> Option<Task> {
        let run = self.run.as_mut().filter(|run| run.broken.is_none())?;
        if run.open.iter().any(|open| open.submission == Submission::UnderWay) {
            return None;
        }
        let open = run.open.iter_mut().find(|open| open.submission != Submission::Done)?;
        if !open.is_due() {
            return None;
        }
        open.submission = Submission::UnderWay;
        let (slot, batch) = (Arc::clone(&open.slot), open.batch);
        let job = Job { course: Arc::clone(&run.course), slot, batch, row: 0, epoch: run.serial };
        Some(Task::Submit(job, std::mem::take(&mut open.outcomes)))
    }

    /// Keeps what the consumer is to be told; nothing more of the epoch is begun.
    fn break_off(&mut self, error: Error, ready: &Condvar) {
        if let Some(run) = &mut self.run {
            run.broken.get_or_insert(error);
            ready.notify_all();
        }
    }

    /// The first unclaimed row of the open batches, or of a new one; says whether a batch was opened.
    fn next_job(&mut self) -> Result<Option<(Job, bool)>> {
        let Some(run) = self.run.as_mut().filter(|run| run.broken.is_none()) else { return Ok(None) };
        let waiting = run.open.iter().position(|open| open.claimed < open.rows);
        let opened = waiting.is_none();
        let at = match waiting {
            Some(at) => at,
            None => {
                if run.next_batch >= run.course.batches() {
                    return Ok(None);
                }
                let Some(mut slot) = self.pool.open()? else { return Ok(None) };
                slot.resize_rows(run.course.row_bytes(run.next_batch));
                run.open.push_back(Open::new(run.next_batch, slot, run.course.rows(run.next_batch)));
                run.next_batch += 1;
                run.open.len() - 1
            }
        };
        let open = &mut run.open[at];
        open.claimed += 1;
        let (slot, batch, row) = (Arc::clone(&open.slot), open.batch, open.claimed - 1);
        Ok(Some((Job { course: Arc::clone(&run.course), slot, batch, row, epoch: run.serial }, opened)))
    }

    /// Slots that workers still write come back when the last of them finishes.
    #[must_use = "what is returned is to be freed outside the lock"]
    fn abandon_run(&mut self) -> Vec<Filled> {
        let open = self.run.take().into_iter().flat_map(|run| run.open);
        open.filter_map(|open| self.pool.abandon(Arc::into_inner(open.slot)?)).collect()
    }
}

impl Open {
    fn new(batch: usize, slot: Slot, rows: usize) -> Self {
        let outcomes = std::iter::repeat_with(Outcome::default).take(rows).collect();
        let submission = if slot.is_submitted() { Submission::Due } else { Submission::NotNeeded };
        Self { batch, slot: Arc::new(slot), rows, claimed: 0, finished: 0, outcomes, submission }
    }

    /// Whether all rows are staged and the batch has still to be submitted.
    fn is_due(&self) -> bool {
        self.finished == self.rows && self.submission == Submission::Due
    }

    fn is_complete(&self) -> bool {
        self.finished == self.rows && matches!(self.submission, Submission::NotNeeded | Submission::Done)
    }
}

fn still_shared() -> Error {
    Error::config("a finished batch is still being written; this is a bug, please report it")
}
