//! One worker: carries a row through read, plan, decode and render, whatever backend makes pixels.

use super::context::Context;
use super::inputs::SampleInputs;
use super::pictures::KnownImages;
use crate::device::backend::{Afterwards, Backend, BackendWorker, BadImage};
use crate::error::{Cause, Result};
use crate::field::FieldValue;
use crate::geometry::Size;
use crate::image::Index;
use crate::label::Label;
use crate::loader::batch::labels::SeenObjects;
use crate::loader::planner::SampleContext;
use crate::loader::promises::Promise;
use crate::loader::queue::task::{Job, Outcome, Sample, SampleView};
use crate::loader::report::errors::{Failure, Stage, Status};
use crate::loader::validate;
use crate::output::Output;
use crate::plan::{ImageRef, LabelShare, ViewPlan, ViewPlans};
use crate::policy::BadSample;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Samples tried in place of a bad one before the batch fails.
const SUBSTITUTES: u32 = 16;

/// What a worker keeps from sample to sample.
pub(super) struct SampleWorker<'a, B: Backend> {
    context: &'a Context,
    backend: &'a B,
    worker: B::Worker,
    inputs: SampleInputs<'a, B>,
    /// Of the current sample's images; none where indexes are off.
    indexes: Vec<Index>,
    current_row: Option<usize>,
    /// What is left to do of the batch that was submitted last.
    left: Option<(Afterwards, Promise<'a>)>,
}

impl<'a, B: Backend> SampleWorker<'a, B> {
    pub(super) fn new(context: &'a Context, backend: &'a B) -> Self {
        Self {
            context,
            backend,
            worker: backend.worker(),
            inputs: SampleInputs::new(context, backend),
            indexes: Vec::new(),
            current_row: None,
            left: None,
        }
    }

    /// The row of the current job that is or was worked on last; `None` while a batch is submitted as a whole.
    pub(super) fn current_row(&self) -> Option<usize> {
        self.current_row
    }

    /// Fills one row, with a substitute where that is asked for.
    pub(super) fn row(&mut self, job: &Job<B>) -> Outcome {
        let mut outcome = Outcome::default();
        self.current_row = Some(job.row);
        match self.backend.row(&job.buffer, job.row) {
            Some(mut row) => self.fill(job, (job.row, &mut row), 0, &mut outcome),
            None => {
                let (position, _) = job.plan.position(job.batch, job.row);
                let cause = "its row was claimed twice; this is a bug, please report it";
                let index = job.plan.order.index(position);
                outcome.failures.push(self.context.failure(Stage::Render, index, cause.into()));
            }
        }
        outcome
    }

    /// Submits a batch whose rows are all filled, and replaces the rows that turn out to be bad.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device itself fails: no row of the batch can be used then.
    pub(super) fn submit(&mut self, job: &Job<B>, outcomes: &mut [Outcome]) -> Result<()> {
        self.current_row = None;
        let started = self.context.clock.now();
        let outputs = job.plan.outputs(job.batch);
        let (context, backend) = (self.context, self.backend);
        let note_damage = |image, damage| context.note_damage([(image, damage)]);
        let known = context.decode_indexes.of(&*context.source, &note_damage);
        let mut replace = |number: usize, mut row: B::Row<'_>, index, cause| {
            let Some(outcome) = outcomes.get_mut(number) else { return false };
            outcome.sample = None;
            outcome.failures.push(self.context.failure(Stage::Decode, index, cause));
            self.fill(job, (number, &mut row), outcome.substitutes + 1, outcome);
            outcome.sample.is_some()
        };
        let submitted = backend.submit(&job.buffer, &outputs, &mut replace, &known);
        context.note_stage(Stage::Render, None, started, context.clock.since(started));
        self.left = submitted?.map(|afterwards| {
            let promise = context.decode_indexes.promise(&*context.source, &afterwards.images);
            (afterwards, promise)
        });
        Ok(())
    }

    /// Notes what was learned of the files of the batch that was submitted last.
    pub(super) fn settle(&mut self) {
        if let Some((afterwards, _promise)) = self.left.take() {
            let context = self.context;
            let note_damage = |image, damage| context.note_damage([(image, damage)]);
            (afterwards.learn)(&context.decode_indexes.of(&*context.source, &note_damage));
        }
    }

    /// Tries the sample itself (attempt 0) and then its substitutes, from attempt `first` on. A row that is filled again
    /// shares no images: what others show has been submitted.
    fn fill(
        &mut self,
        job: &Job<B>,
        (number, row): (usize, &mut B::Row<'_>),
        first: u32,
        outcome: &mut Outcome,
    ) {
        self.current_row = Some(number);
        let (position, padded) = job.plan.position(job.batch, number);
        let own = job.plan.order.index(position);
        let attempts = if self.context.bad == BadSample::Substitute { SUBSTITUTES } else { 0 };
        let alone = first > 0;
        for attempt in first..=attempts {
            let index = if attempt == 0 { own } else { job.plan.substitute(position, attempt) };
            outcome.substitutes = attempt;
            self.inputs.clear(alone);
            match self.sample(job, (position, index), row) {
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
        // Files may lie in memory of the batch.
        self.inputs.clear(false);
    }

    fn sample(
        &mut self,
        job: &Job<B>,
        (position, index): (u64, u64),
        row: &mut B::Row<'_>,
    ) -> Result<Sample, Failure> {
        let (epoch_plan, outputs) = (&job.plan, job.plan.outputs(job.batch));
        let (epoch, order, target) = (epoch_plan.epoch, &epoch_plan.order, epoch_plan.target(job.batch));
        let plans = self.plan(SampleContext { epoch, order, position, index, target }, &outputs, row)?;
        // Ahead of the pixels: a row that a device has been given can no longer fail.
        let mut seen = self.seen(index, &plans)?;
        let values = self.values(index)?;
        let shown = if outputs.is_empty() { Arc::clone(&plans) } else { self.with_companions(&plans, row)? };
        if outputs.is_empty() {
            self.decode(index, &shown, row)?;
            self.worker.forget();
        } else if self.inputs.is_shared() {
            self.render_shared(index, (&shown, &outputs), row)?;
        } else {
            self.decode(index, &shown, row)?;
            self.render(index, |worker| worker.render(&shown, &outputs, row))?;
        }
        self.stage_masks(&plans, &mut seen, row);
        self.context.meters.samples.fetch_add(1, Relaxed);
        Ok(Sample { values, ..self.described(index, &plans, seen) })
    }

    /// The plans of the views, and behind them those of what the batch shows beside them, whose files are read.
    fn with_companions(
        &mut self,
        plans: &Arc<ViewPlans>,
        row: &B::Row<'_>,
    ) -> Result<Arc<ViewPlans>, Failure> {
        let companions = &self.context.companions;
        if companions.is_empty() {
            return Ok(Arc::clone(plans));
        }
        let views = || plans.views().iter().map(|view| &view.plan);
        let others = companions.iter().flat_map(|companion| views().map(|plan| companion.plan(plan)));
        let all = ViewPlans::new(views().cloned().chain(others));
        let pictures = all.images().iter().filter(|image| !image.modality.is_image());
        for picture in pictures {
            self.inputs.load_picture(picture, row)?;
        }
        Ok(Arc::new(all))
    }

    fn plan(
        &mut self,
        sample: SampleContext<'_>,
        outputs: &[Output],
        row: &B::Row<'_>,
    ) -> Result<Arc<ViewPlans>, Failure> {
        let (context, index) = (self.context, sample.index);
        let started = self.context.clock.now();
        let inputs = &mut self.inputs;
        let mut images = KnownImages::new(context, |index| inputs.load_header(index, row));
        let views = 0..context.planner.view_count();
        let planned = views.map(|view| context.planner.plan(sample, view, &mut images));
        let planned = planned.collect::<Result<Vec<_>, _>>();
        let waited: Duration = self.inputs.reading() + self.inputs.parsing();
        let took = context.clock.since(started).saturating_sub(waited);
        context.note_stage(Stage::Plan, Some(index), started, took);
        let planned = planned.map_err(|error| context.unplanned(index, error))?;
        for (planned, output) in planned.iter().zip(outputs) {
            let size = planned.plan.size();
            if size != output.size {
                let cause = validate::wrong_size(size, output.size);
                return Err(self.context.failure(Stage::Plan, index, cause.into()));
            }
        }
        Ok(Arc::new(ViewPlans::new(planned.into_iter().map(|planned| planned.plan))))
    }

    /// What is seen in each view.
    fn seen(&self, index: u64, plans: &ViewPlans) -> Result<Vec<Option<SeenObjects>>, Failure> {
        let Context { labels, source, .. } = self.context;
        let of_view = |view: &ViewPlan| labels.objects(&**source, &view.plan);
        let seen: Result<_, Cause> = plans.views().iter().map(of_view).collect();
        seen.map_err(|cause| self.context.failure(Stage::Plan, index, cause))
    }

    /// Hands the masks of all views to the device, where it makes them.
    fn stage_masks(&mut self, plans: &ViewPlans, seen: &mut [Option<SeenObjects>], row: &mut B::Row<'_>) {
        let Some(rules) = self.context.labels.instances.filter(|_| B::MAKES_OBJECT_MASKS) else { return };
        let masks = |(view, seen): (&ViewPlan, &mut Option<SeenObjects>)| {
            let known = seen.as_mut().and_then(|seen| seen.masks.take());
            known.unwrap_or_else(|| rules.unknown(view.plan.size()))
        };
        self.worker.stage_masks(plans.views().iter().zip(seen).map(masks).collect(), row);
    }

    /// The values of the fields of sample `index`, but of pictures; what is mixed into it brings none.
    fn values(&mut self, index: u64) -> Result<Vec<FieldValue>, Failure> {
        let fields = self.context.source.fields();
        if fields.is_empty() {
            return Ok(Vec::new());
        }
        let values = self.inputs.values(index)?.iter_mut().zip(fields);
        let own = values.filter(|(_, field)| !field.kind().is_picture());
        // What is left of them is not asked for again.
        Ok(own.map(|(value, _)| std::mem::replace(value, FieldValue::Integer(0))).collect())
    }

    /// Decodes the images of all views for this sample alone.
    fn decode(&mut self, index: u64, plans: &Arc<ViewPlans>, row: &mut B::Row<'_>) -> Result<(), Failure> {
        let (context, images) = (self.context, plans.images());
        let inputs = self.inputs.files(images).map_err(|bad| self.undecodable(images, index, bad))?;
        let started = self.context.clock.now();
        if B::USES_DECODE_INDEX {
            context.decode_indexes.fetch(&*context.source, images, &mut self.indexes);
        }
        let decoded = self.worker.decode(plans, &inputs, &mut self.indexes, row);
        let damaged = self.worker.take_damaged().into_iter();
        context.note_damage(damaged.map(|(number, damage)| (images[number].index, damage)));
        if B::USES_DECODE_INDEX && decoded.is_ok() {
            context.decode_indexes.keep(&*context.source, images, &self.indexes);
        }
        let took = context.clock.since(started) + self.inputs.parsing();
        context.note_stage(Stage::Decode, Some(index), started, took);
        decoded.map_err(|bad| self.undecodable(images, index, bad))?;
        let counted = images.iter().filter(|image| context.is_decoded(image.modality));
        context.meters.images.fetch_add(counted.count() as u64, Relaxed);
        Ok(())
    }

    /// Renders a sample of images that other samples may have decoded, and may use after this one.
    fn render_shared(
        &mut self,
        index: u64,
        (plans, outputs): (&Arc<ViewPlans>, &[Output]),
        row: &mut B::Row<'_>,
    ) -> Result<(), Failure> {
        let started = self.context.clock.now();
        let (worker, context) = (&mut self.worker, self.context);
        let decoded = self.inputs.shared_images(plans.images(), |(image, record), input| {
            let decoded = worker.decode_shared(record, input, row);
            context.note_damage(worker.take_damaged().into_iter().map(|(_, damage)| (image, damage)));
            decoded
        });
        let took = context.clock.since(started) + self.inputs.parsing();
        context.note_stage(Stage::Decode, Some(index), started, took);
        let images = decoded.map_err(|bad| self.undecodable(plans.images(), index, bad))?;
        self.render(index, |worker| worker.render_shared(plans, images, outputs, row))
    }

    /// Times a rendering, and names the sample where it fails.
    fn render(
        &mut self,
        index: u64,
        render: impl FnOnce(&mut B::Worker) -> Result<(), Cause>,
    ) -> Result<(), Failure> {
        let started = self.context.clock.now();
        let rendered = render(&mut self.worker);
        // A batch that is submitted is rendered then.
        if !B::SUBMITS {
            let took = self.context.clock.since(started);
            self.context.note_stage(Stage::Render, Some(index), started, took);
        }
        rendered.map_err(|cause| self.context.failure(Stage::Render, index, cause))
    }

    /// `seen` is what is seen in each view.
    fn described(&self, index: u64, plans: &ViewPlans, seen: Vec<Option<SeenObjects>>) -> Sample {
        let source = &self.context.source;
        let mut seen = seen.into_iter();
        let view = |ViewPlan { plan, .. }: &ViewPlan| {
            let (mut shares, mut labelled) = (Vec::with_capacity(plan.labels.len()), 0.0);
            for LabelShare { image, share, .. } in &plan.labels {
                let label = source.label(plan.images[*image as usize].index as usize);
                match &label {
                    Label::Class(0..) | Label::Classes(_) => {
                        shares.extend(label.classes().iter().map(|class| (*class, *share)));
                        labelled += share;
                    }
                    _ => shares.push((-1, *share)),
                }
            }
            SampleView {
                shares,
                labelled,
                objects: seen.next().flatten(),
                unpadded: plan.unpadded,
                placement: plan.placement(),
            }
        };
        Sample {
            index,
            key: source.key(index as usize).into_owned(),
            class: source.label(index as usize).class(),
            original_size: original_size(index, plans),
            views: plans.views().iter().map(view).collect(),
            values: Vec::new(),
            status: Status::Ok,
        }
    }

    /// The failure of that of these images that cannot be decoded, for the sample `index`.
    fn undecodable(&self, images: &[ImageRef], index: u64, (image, cause): BadImage) -> Failure {
        let bad = images.get(image).map_or(index, |image| image.index);
        self.context.failure(Stage::Decode, bad, cause)
    }
}

/// Height and width of the image of sample `index`, upright.
fn original_size(index: u64, plans: &ViewPlans) -> [i64; 2] {
    let own = plans.images().iter().find(|image| image.index == index && image.modality.is_image());
    let size = own.map_or(Size::default(), |image| image.orientation.apply_size(image.stored));
    [size.height, size.width].map(i64::from)
}
