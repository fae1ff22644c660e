//! One worker's tools: what carries a row through read, plan, decode and render, wherever pixels are made.

use super::masks::Masks;
use super::memory::Slot;
use super::planner::Place;
use super::policy::{Failure, Stage, Status};
use super::queue::{Job, Outcome, Sample};
use super::shelf::Shelf;
use super::worker::Context;
use crate::device::batch::Row;
use crate::device::{cpu, cuda};
use crate::error::{Cause, Error, Result};
use crate::image::Index;
use crate::output::Output;
use crate::plan::{LabelShare, Plan};
use crate::policy::BadSample;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Samples tried in place of a bad one before the batch fails.
const SUBSTITUTES: u32 = 16;

/// Kept from sample to sample.
pub(super) struct Desk<'a> {
    context: &'a Context,
    shelf: Shelf<'a>,
    tools: Tools,
    /// `None` where nobody asked for masks.
    masks: Option<Masks<'a>>,
    /// Of the images at hand; none where indexes are off.
    indexes: Vec<Index>,
    /// The row that is or was worked on last.
    row_at_hand: usize,
}

/// What makes pixels, or stages files for a device that does.
enum Tools {
    Cpu(Box<cpu::Worker>),
    Cuda(Box<cuda::Worker>),
}

/// Where a row's pixels go.
enum Seat<'a> {
    Host(Row<'a>),
    Device {
        slot: &'a cuda::Slot,
        row: usize,
        /// Whether the device has failed on this row already, so that the CPU is to decode it.
        decode_here: bool,
    },
}

impl<'a> Desk<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        let gallery = context.gallery.as_ref();
        let shelf = Shelf::new(&*context.source, &context.meters, context.exif, gallery);
        let tools = match &context.engine {
            None => Tools::Cpu(Box::new(cpu::Worker::new(&context.limits).scale(context.scale))),
            Some(engine) => Tools::Cuda(Box::new(cuda::Worker::new(engine))),
        };
        Self { context, shelf, tools, masks: Masks::new(context), indexes: Vec::new(), row_at_hand: 0 }
    }

    /// The row that is or was worked on last.
    pub(super) fn row_at_hand(&self) -> usize {
        self.row_at_hand
    }

    /// Fills one row, with a substitute where that is asked for.
    pub(super) fn row(&mut self, job: &Job) -> Outcome {
        let mut outcome = Outcome::default();
        let seat = match &*job.slot {
            Slot::Host(slot) => slot.claim(job.row).map(Seat::Host),
            Slot::Cuda(slot) => Some(Seat::Device { slot, row: job.row, decode_here: false }),
        };
        match seat {
            Some(mut seat) => self.fill(job, job.row, 0, &mut seat, &mut outcome),
            None => {
                let (position, _) = job.course.position(job.batch, job.row);
                let cause = "its row was claimed twice; this is a bug, please report it";
                let index = job.course.order.index(position);
                outcome.failures.push(failure(self.context, Stage::Render, index, cause.into()));
            }
        }
        outcome
    }

    /// Sends a batch whose rows are all staged to its device, and replaces the rows that it cannot decode.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the device itself fails: no row of the batch can be used then.
    pub(super) fn submit(&mut self, job: &Job, outcomes: &mut [Outcome]) -> Result<()> {
        let (Some(engine), Slot::Cuda(slot)) = (&self.context.engine, &*job.slot) else {
            return Err(Error::config(
                "a batch of the host's was submitted; this is a bug, please report it",
            ));
        };
        let started = Instant::now();
        let output = job.course.output(job.batch);
        let submitted = engine.submit(slot, output, &mut |row, index, cause| {
            let Some(outcome) = outcomes.get_mut(row) else { return false };
            outcome.sample = None;
            outcome.failures.push(failure(self.context, Stage::Decode, index, cause));
            let mut seat = Seat::Device { slot, row, decode_here: true };
            self.fill(job, row, outcome.substitutes + 1, &mut seat, outcome);
            outcome.sample.is_some()
        });
        self.context.meters.stage(Stage::Render).record(started.elapsed());
        submitted
    }

    /// Tries the sample itself (attempt 0) and then its substitutes, from attempt `first` on.
    fn fill(&mut self, job: &Job, row: usize, first: u32, seat: &mut Seat<'_>, outcome: &mut Outcome) {
        self.row_at_hand = row;
        let (position, padded) = job.course.position(job.batch, row);
        let own = job.course.order.index(position);
        let attempts = if self.context.bad == BadSample::Substitute { SUBSTITUTES } else { 0 };
        for attempt in first..=attempts {
            let index = if attempt == 0 { own } else { job.course.substitute(position, attempt) };
            outcome.substitutes = attempt;
            match self.sample(job, (position, index), seat) {
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
    }

    fn sample(
        &mut self,
        job: &Job,
        (position, index): (u64, u64),
        seat: &mut Seat<'_>,
    ) -> Result<Sample, Failure> {
        self.shelf.clear();
        let (course, output) = (&job.course, job.course.output(job.batch));
        let (epoch, order, target) = (course.epoch, &course.order, course.target(job.batch));
        let plan = self.plan(Place { epoch, order, position, index, target }, output)?;
        // Ahead of the pixels: a row that a device has been given can no longer fail.
        let mask = match &mut self.masks {
            Some(masks) => masks.of(&plan)?,
            None => None,
        };
        self.make(index, (&plan, output), seat)?;
        self.context.meters.samples.fetch_add(1, Relaxed);
        Ok(Sample { mask, ..self.described(index, &plan) })
    }

    /// Decodes and renders a planned sample, or stages it for the device.
    fn make(
        &mut self,
        index: u64,
        (plan, output): (&Plan, Option<Output>),
        seat: &mut Seat<'_>,
    ) -> Result<(), Failure> {
        if self.context.gallery.is_some() {
            return self.make_of_shared(index, (plan, output), seat);
        }
        let (context, inputs) = (self.context, self.shelf.inputs(plan));
        let started = Instant::now();
        let decoded = match (&mut self.tools, &mut *seat) {
            (Tools::Cpu(worker), Seat::Host(_)) => {
                context.indexing.fetch(&*context.source, plan, &mut self.indexes);
                let decoded = worker.decode_indexed(plan, &inputs, &mut self.indexes);
                if decoded.is_ok() {
                    context.indexing.keep(&*context.source, plan, &self.indexes);
                }
                decoded
            }
            (Tools::Cuda(worker), Seat::Device { slot, row, decode_here }) => {
                worker.stage(slot, *row, plan, &inputs, *decode_here)
            }
            _ => Err((
                0,
                "its memory is not where its device makes pixels; this is a bug, please report it".into(),
            )),
        };
        context.meters.stage(Stage::Decode).record(started.elapsed() + self.shelf.parsing());
        decoded.map_err(|bad| undecodable(context, plan, index, bad))?;
        context.meters.images.fetch_add(plan.images.len() as u64, Relaxed);
        let (Tools::Cpu(worker), Some(output), Seat::Host(row)) = (&mut self.tools, &output, seat) else {
            return Ok(());
        };
        rendered(context, index, || worker.render(plan, output, row))
    }

    /// As [`Desk::make`] on the CPU, with images that other samples may have decoded, and may use after this one.
    fn make_of_shared(
        &mut self,
        index: u64,
        (plan, output): (&Plan, Option<Output>),
        seat: &mut Seat<'_>,
    ) -> Result<(), Failure> {
        let context = self.context;
        let (Tools::Cpu(worker), Some(output), Seat::Host(row)) = (&mut self.tools, &output, seat) else {
            let cause = "images are shared only where the CPU renders; this is a bug, please report it";
            return Err(failure(context, Stage::Decode, index, cause.into()));
        };
        let started = Instant::now();
        let decoded = self.shelf.pictures(plan, |input, image| worker.decode_whole(input, image));
        context.meters.stage(Stage::Decode).record(started.elapsed() + self.shelf.parsing());
        let pictures = decoded.map_err(|bad| undecodable(context, plan, index, bad))?;
        rendered(context, index, || worker.render_shared(plan, &pictures, output, row))
    }

    fn plan(&mut self, place: Place<'_>, output: Option<Output>) -> Result<Plan, Failure> {
        let (context, index) = (self.context, place.index);
        let started = Instant::now();
        let shelf = &mut self.shelf;
        let planned = context.planner.plan(place, &mut |index| shelf.look(index));
        let waited: Duration = self.shelf.reading() + self.shelf.parsing();
        context.meters.stage(Stage::Plan).record(started.elapsed().saturating_sub(waited));
        let (plan, _) = planned
            .map_err(|error| error.into_failure(index, || context.source.key(index as usize).into_owned()))?;
        match output {
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
        let share = |share: &LabelShare| (class(plan.images[share.image as usize].index), share.share);
        Sample {
            index,
            key: source.key(index as usize).into_owned(),
            class: class(index),
            shares: plan.labels.iter().map(share).collect(),
            objects: self.context.labels.objects(&**source, plan),
            mask: None,
            status: Status::Ok,
        }
    }
}

/// Times a rendering, and says whose failed.
fn rendered(
    context: &Context,
    index: u64,
    render: impl FnOnce() -> Result<(), Cause>,
) -> Result<(), Failure> {
    let started = Instant::now();
    let rendered = render();
    context.meters.stage(Stage::Render).record(started.elapsed());
    rendered.map_err(|cause| failure(context, Stage::Render, index, cause))
}

/// The failure of the plan's image that cannot be decoded, for the sample `index`.
fn undecodable(context: &Context, plan: &Plan, index: u64, (image, cause): (usize, Cause)) -> Failure {
    let bad = plan.images.get(image).map_or(index, |image| image.index);
    failure(context, Stage::Decode, bad, cause)
}

fn failure(context: &Context, stage: Stage, index: u64, cause: Cause) -> Failure {
    Failure { stage, key: context.source.key(index as usize).into_owned(), index, cause }
}
