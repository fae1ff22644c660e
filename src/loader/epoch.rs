//! One pass over the data, batch by batch.

pub(super) mod batch_size;
pub(super) mod fingerprint;
mod padded;
pub(super) mod plan;
pub(super) mod ranks;
pub(super) mod resume;
pub(super) mod sampling;

use super::batch::{Batch, BatchErrors};
use super::worker::context::Context;
use super::worker::pipeline::Pipeline;
use crate::error::{Error, Result};
use crate::policy::BadSample;
use crate::source::Source;
use plan::EpochPlan;
use resume::State;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The batches of one epoch, in order; its length is exact.
///
/// After an error it ends. Dropping it stops the work on it at once; samples that a worker has begun are finished
/// and thrown away. It keeps the worker threads alive, so it may outlive the loader.
pub struct Epoch {
    pipeline: Arc<dyn Pipeline>,
    plan: Arc<EpochPlan>,
    serial: u64,
    next: usize,
    /// Whether the last batch was an error, so that it has still to come.
    failed: bool,
    end: usize,
    max_failures: Option<u64>,
    failures: u64,
    started: Instant,
    /// When the last batch was handed over.
    delivered: Option<Instant>,
    /// When the next one was asked for, if it was.
    asked: Option<Instant>,
    /// Why the epoch could not start.
    error: Option<Error>,
}

impl Epoch {
    pub(super) fn start(
        pipeline: &Arc<dyn Pipeline>,
        plan: EpochPlan,
        first: usize,
        max_failures: Option<u64>,
    ) -> Self {
        let end = plan.batches();
        let started = pipeline.context().clock.now();
        let plan = Arc::new(plan);
        let (serial, error) = match pipeline.context().process.check() {
            Ok(()) => (pipeline.start(Arc::clone(&plan), first.min(end)), pipeline.spawn_threads().err()),
            Err(forked) => (0, Some(forked)),
        };
        Self {
            pipeline: Arc::clone(pipeline),
            plan,
            serial,
            next: first.min(end),
            failed: false,
            end,
            max_failures,
            failures: 0,
            started,
            delivered: None,
            asked: None,
            error,
        }
    }

    /// The source of its samples.
    pub fn source(&self) -> Arc<dyn Source> {
        Arc::clone(&self.context().source)
    }

    fn context(&self) -> &Context {
        self.pipeline.context()
    }

    /// Batches of the plan that need not come again.
    fn steps(&self) -> usize {
        self.next - usize::from(self.failed)
    }

    /// Where the run stands after the last batch that this epoch handed out, whatever was made ahead of it.
    ///
    /// Takes the same time at any batch. The first call of a loader names every sample once, to tell the data set.
    ///
    /// ```no_run
    /// # use feedline::{loader::Loader, source::Folder};
    /// # let loader = Loader::builder(Folder::open("train")?).build()?;
    /// let mut epoch = loader.epoch(0);
    /// while let Some(batch) = epoch.next() {
    ///     // Train on it, and from time to time:
    ///     let state = epoch.state();
    /// }
    /// # Ok::<(), feedline::error::Error>(())
    /// ```
    pub fn state(&self) -> State {
        resume::state(self.context(), &self.plan, self.steps() as u64)
    }

    /// Waits until `next` would return at once, or for `at_most`; says whether it would.
    ///
    /// For consumers that have to look up while they wait, for a signal or a request to stop. The time counts as waited
    /// for the batch.
    pub fn wait(&mut self, at_most: Duration) -> bool {
        if self.next >= self.end || self.error.is_some() || !self.context().process.is_this() {
            return true;
        }
        self.ask();
        self.pipeline.wait(self.serial, at_most)
    }

    /// When the next batch was first asked for.
    fn ask(&mut self) -> Instant {
        *self.asked.get_or_insert_with(|| {
            let meters = &self.pipeline.context().meters;
            meters.ready.fetch_add(self.pipeline.ready(self.serial) as u64, Relaxed);
            meters.requests.fetch_add(1, Relaxed);
            self.pipeline.context().clock.now()
        })
    }

    fn deliver(&mut self) -> Result<Batch> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.context().process.check()?;
        let asked = self.ask();
        self.asked = None;
        let pipeline = Arc::clone(&self.pipeline);
        let context = pipeline.context();
        let Context { meters, clock, .. } = context;
        let finished = pipeline.take(self.serial)?;
        let waited = clock.since(asked);
        let trainer = self.delivered.map(|delivered| (delivered, asked.saturating_duration_since(delivered)));
        context.note_consumer(trainer, (asked, waited));
        match trainer {
            Some(_) => pipeline.follow(waited),
            None => meters.first_batch(clock.since(self.started)),
        }
        let outputs = self.plan.outputs(self.next);
        let (batch, errors) = Batch::new(finished, &pipeline.context().form(), (self.next, &outputs));
        self.check(errors)?;
        if self.next + 1 == self.end {
            // What a device could not do is known when it is done: nobody may wait for the last batches otherwise.
            batch.wait()?;
        }
        self.delivered = Some(clock.now());
        Ok(batch)
    }

    /// Reports what was bad, and says whether the batch may be used all the same.
    fn check(&mut self, mut errors: BatchErrors) -> Result<()> {
        if let Some(panic) = errors.panic {
            return Err(panic);
        }
        self.note(&errors);
        let excused = self.context().bad == BadSample::Skip;
        if let Some((at, substitutes)) = errors.lost.filter(|_| !excused) {
            let mut failure = errors.failures.swap_remove(at);
            if substitutes > 0 {
                let cause = &failure.cause;
                failure.cause =
                    format!("{cause}; {substitutes} substitutes for it were bad too: see the report").into();
            }
            return Err(failure.into_error());
        }
        match (self.max_failures, errors.failures.pop()) {
            (Some(most), Some(last)) if self.failures > most => {
                let count = self.failures;
                let cause = format!(
                    "{}; it is one of {count} bad samples of this epoch, and max_failures is {most}: mend the files \
                     that the report lists, or raise max_failures",
                    last.cause
                );
                Err(Error::sample(last.key, last.index, cause))
            }
            _ => Ok(()),
        }
    }

    fn cancel(&self) {
        if self.context().process.is_this() {
            self.pipeline.cancel(self.serial);
        }
    }

    fn note(&mut self, errors: &BatchErrors) {
        let count = errors.failures.len() as u64;
        self.failures += count;
        self.context().meters.failures.fetch_add(count, Relaxed);
        let mut report = self.context().report();
        errors.failures.iter().for_each(|failure| report.add(failure));
    }
}

impl Iterator for Epoch {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        if self.next >= self.end {
            return None;
        }
        let batch = self.deliver();
        self.next += 1;
        if self.next == self.end {
            self.context().decode_indexes.save_at_epoch_end();
        }
        if batch.is_err() {
            self.failed = true;
            self.end = self.next;
            self.cancel();
        }
        Some(batch)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Epoch {}

impl std::iter::FusedIterator for Epoch {}

impl Drop for Epoch {
    fn drop(&mut self) {
        self.cancel();
    }
}
