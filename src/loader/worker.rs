//! A worker thread: takes rows in order and carries each through read, plan, decode and render.

use super::course::Course;
use super::indexing::Indexing;
use super::planner::{Place, Planner};
use super::policy::{Failure, Stage, Status};
use super::queue::{Job, Outcome, Queue, Sample};
use super::shelf::Shelf;
use super::stats::Meters;
use crate::device::cpu;
use crate::error::Error;
use crate::image::{Index, Limits};
use crate::output::Output;
use crate::plan::Plan;
use crate::policy::{BadSample, DecodeScale};
use crate::source::Source;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Samples tried in place of a bad one before the batch fails.
const SUBSTITUTES: u32 = 16;

/// What all workers share and none changes.
pub(super) struct Context {
    pub(super) source: Box<dyn Source>,
    pub(super) planner: Planner,
    /// `None`: images are decoded whole and not rendered.
    pub(super) output: Option<Output>,
    pub(super) limits: Limits,
    pub(super) exif: bool,
    pub(super) scale: DecodeScale,
    pub(super) bad: BadSample,
    pub(super) meters: Meters,
    pub(super) indexing: Indexing,
}

/// Works until the queue stops.
pub(super) fn work(queue: &Queue, context: &Context) {
    let mut desk = Desk::new(context);
    while let Some(job) = queue.claim() {
        let caught = catch_unwind(AssertUnwindSafe(|| desk.row(&job)));
        let outcome = caught.unwrap_or_else(|panic| {
            // Whatever the panic left half done on the desk is thrown away with it.
            desk = Desk::new(context);
            let (position, _) = job.course.position(job.batch, job.row);
            Outcome {
                panic: Some(panicked(context, job.course.order.index(position), &*panic)),
                ..Outcome::default()
            }
        });
        queue.finish(job, outcome);
    }
}

fn panicked(context: &Context, index: u64, panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // The source may be what panicked: asking it for the name must not end the thread.
    let key = catch_unwind(AssertUnwindSafe(|| context.source.key(index as usize).into_owned()));
    Error::Panic {
        key: key.unwrap_or_else(|_| "its name is not known".into()),
        index,
        message: message.unwrap_or_else(|| "a value that is no text".into()),
    }
}

/// One worker's tools, kept from sample to sample.
struct Desk<'a> {
    context: &'a Context,
    shelf: Shelf<'a>,
    cpu: cpu::Worker,
    /// Of the images at hand; none where indexes are off.
    indexes: Vec<Index>,
}

impl<'a> Desk<'a> {
    fn new(context: &'a Context) -> Self {
        let shelf = Shelf::new(&*context.source, &context.meters, context.exif);
        Self {
            context,
            shelf,
            cpu: cpu::Worker::new(&context.limits).scale(context.scale),
            indexes: Vec::new(),
        }
    }

    /// Fills one row, with a substitute where that is asked for.
    fn row(&mut self, job: &Job) -> Outcome {
        let (position, padded) = job.course.position(job.batch, job.row);
        let own = job.course.order.index(position);
        let mut outcome = Outcome::default();
        let Some(mut row) = job.slot.claim(job.row) else {
            let cause = "its row was claimed twice; this is a bug, please report it";
            outcome.failures.push(Failure {
                stage: Stage::Render,
                key: String::new(),
                index: own,
                cause: cause.into(),
            });
            return outcome;
        };
        let attempts = if self.context.bad == BadSample::Substitute { SUBSTITUTES } else { 0 };
        for attempt in 0..=attempts {
            let index = if attempt == 0 { own } else { job.course.substitute(position, attempt) };
            match self.sample(&job.course, position, index, &mut row) {
                Ok(mut sample) => {
                    sample.status = match (padded, attempt) {
                        (true, _) => Status::Padded,
                        (false, 0) => Status::Ok,
                        (false, _) => Status::Substituted { for_index: own },
                    };
                    outcome.sample = Some(sample);
                    break;
                }
                Err(failure) => outcome.failures.push(failure),
            }
        }
        outcome
    }

    fn sample(
        &mut self,
        course: &Course,
        position: u64,
        index: u64,
        row: &mut [u8],
    ) -> Result<Sample, Failure> {
        self.shelf.clear();
        let plan = self.plan(Place { epoch: course.epoch, order: &course.order, position, index })?;
        let meters = &self.context.meters;
        let inputs = self.shelf.inputs(&plan);
        let started = Instant::now();
        self.context.indexing.fetch(&plan, &mut self.indexes);
        let decoded = self.cpu.decode_indexed(&plan, &inputs, &mut self.indexes);
        if decoded.is_ok() {
            self.context.indexing.keep(&plan, &self.indexes);
        }
        meters.stage(Stage::Decode).record(started.elapsed() + self.shelf.parsing());
        decoded.map_err(|(image, cause)| {
            let bad = plan.images.get(image).map_or(index, |image| image.index);
            failure(self.context, Stage::Decode, bad, cause)
        })?;
        if let Some(output) = &self.context.output {
            let started = Instant::now();
            let rendered = self.cpu.render(&plan, output, row);
            meters.stage(Stage::Render).record(started.elapsed());
            rendered.map_err(|cause| failure(self.context, Stage::Render, index, cause))?;
        }
        meters.images.fetch_add(plan.images.len() as u64, Relaxed);
        meters.samples.fetch_add(1, Relaxed);
        Ok(self.described(index, &plan))
    }

    fn plan(&mut self, place: Place<'_>) -> Result<Plan, Failure> {
        let (context, index) = (self.context, place.index);
        let started = Instant::now();
        let shelf = &mut self.shelf;
        let planned = context.planner.plan(place, &mut |index| shelf.look(index));
        let waited: Duration = self.shelf.reading() + self.shelf.parsing();
        context.meters.stage(Stage::Plan).record(started.elapsed().saturating_sub(waited));
        let (plan, _) = planned
            .map_err(|error| error.into_failure(index, || context.source.key(index as usize).into_owned()))?;
        match &context.output {
            Some(output) if plan.size() != output.size => {
                let cause = super::paper::wrong_size(plan.size(), output.size);
                Err(failure(context, Stage::Plan, index, cause.into()))
            }
            _ => Ok(plan),
        }
    }

    fn described(&self, index: u64, plan: &Plan) -> Sample {
        let source = &self.context.source;
        let class = |index: u64| source.label(index as usize).class();
        let share =
            |share: &crate::plan::LabelShare| (class(plan.images[share.image as usize].index), share.share);
        Sample {
            index,
            key: source.key(index as usize).into_owned(),
            class: class(index),
            shares: plan.labels.iter().map(share).collect(),
            status: Status::Ok,
        }
    }
}

fn failure(context: &Context, stage: Stage, index: u64, cause: crate::error::Cause) -> Failure {
    Failure { stage, key: context.source.key(index as usize).into_owned(), index, cause }
}
