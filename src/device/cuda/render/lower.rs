//! From one sample's plan to jobs: stages and pictures, and where a statistic makes a canvas needed.
//!
//! A statistic of a picture or a stage is measured on a canvas: one pass renders as far as the step that waits for it,
//! stores the levels and sums them up, and the next starts from there.

use super::agenda::Kernel;
use super::layout::{KIND_UPRIGHT, NONE, Paint, Picture, RenderJob};
use super::source::Canvas;
use super::steps::{Part, Steps, join};
use super::tables::Tables;
use super::{Sample, Surface};
use crate::error::Cause;
use crate::geometry::{Rect, Size};
use crate::plan::{self, Plan, Span, Stage};
use bytemuck::Zeroable;

/// One sample on its way into the tables.
pub(super) struct Lowering<'a> {
    pub(super) tables: &'a mut Tables,
    pub(super) plan: &'a Plan,
    pub(super) surfaces: &'a [Surface],
    /// Earlier stages.
    pub(super) stages: Vec<Canvas>,
    output: u64,
    /// Number of the first row of its masks.
    pub(super) masks: u32,
}

/// A picture as far as it is known: its layers, the steps that are left, and the level on which all that it reads is
/// there.
struct Lowered {
    layers: Span,
    steps: Steps,
    /// Statistics that any of its steps name, those of its layers included.
    stats: Span,
    ready: u32,
}

/// What a stage is rendered into.
#[derive(Clone, Copy)]
enum Target {
    Sample(u64),
    Canvas { place: u64, measured: u32, rect: Rect },
}

impl<'a> Lowering<'a> {
    pub(super) fn new(tables: &'a mut Tables, sample: &Sample<'a>) -> Self {
        let Sample { plan, surfaces, output } = *sample;
        let masks = tables.begin(plan);
        Self { tables, plan, surfaces, stages: Vec::new(), output, masks }
    }

    pub(super) fn run(mut self) -> Result<(), Cause> {
        let stages: &[Stage] = &self.plan.stages;
        let last = stages.len() - 1;
        for (index, stage) in stages.iter().enumerate() {
            if index == last {
                self.stage(stage, Target::Sample(self.output))?;
                break;
            }
            let place = self.tables.reserve(Canvas::bytes(stage.size));
            let ready = self.stage(stage, Target::canvas(place))?;
            self.stages.push(Canvas { place, size: stage.size, ready });
        }
        Ok(())
    }

    /// Renders a stage; returns the level on which it is there.
    fn stage(&mut self, stage: &Stage, target: Target) -> Result<u32, Cause> {
        let pictures = &self.plan.pictures[stage.pictures.range()];
        let lowered: Vec<Lowered> =
            pictures.iter().map(|picture| self.picture(stage.size, picture)).collect::<Result<_, _>>()?;
        if let ([only], [drawn]) = (pictures, lowered.as_slice())
            && only.share == 1.0
            && only.window == stage.size.rect()
            && stage.steps.len == 0
        {
            return Ok(self.render(stage.size, drawn, only.erases, target));
        }
        let start = self.tables.pictures.len() as u32;
        for (picture, drawn) in pictures.iter().zip(&lowered) {
            let erases = self.tables.add_erases(&self.plan.erases[picture.erases.range()]);
            let window = picture.window.intersect(stage.size.rect());
            let (layers, steps, share) = (drawn.layers, drawn.steps.span, picture.share);
            let entry = Picture { window, layers, steps, erases, share, reserved: [0; 5] };
            self.tables.pictures.push(entry);
        }
        let pictures = Span { start, len: lowered.len() as u32 };
        let ready = lowered.iter().map(|drawn| drawn.ready).max().unwrap_or(0);
        let stats = lowered.iter().fold(Span::default(), |stats, drawn| join(stats, drawn.stats));
        let steps = Steps::lower(self.tables, self.plan, stage.steps)?;
        let (parts, rest) = steps.parts(self.tables, self.plan);
        let [first, others @ ..] = parts.as_slice() else {
            return Ok(self.blend(stage.size, pictures, steps, (ready, stats), target));
        };
        let (place, between) = self.measured_on(stage.size, first);
        let ready = self.blend(stage.size, pictures, first.steps, (ready, stats), between);
        let drawn = self.measured(Canvas { place, size: stage.size, ready }, others, rest)?;
        Ok(self.render(stage.size, &drawn, Span::default(), target))
    }

    fn blend(
        &mut self,
        size: Size,
        pictures: Span,
        steps: Steps,
        (ready, stats): (u32, Span),
        target: Target,
    ) -> u32 {
        let all = &self.tables.pictures[pictures.range()];
        let kernel = match all.iter().any(|picture| picture.erases.len > 0) {
            true => Kernel::BlendErased,
            false => Kernel::Blend,
        };
        let stats = join(stats, steps.stats);
        let job = RenderJob { pictures, steps: steps.span, stats, ..target.job(size) };
        self.tables.agenda.render(ready, kernel, job)
    }

    /// Renders a picture that fills its canvas.
    fn render(&mut self, size: Size, drawn: &Lowered, erases: Span, target: Target) -> u32 {
        let erases = self.tables.add_erases(&self.plan.erases[erases.range()]);
        let (layers, steps) = (drawn.layers, drawn.steps.span);
        let picture = Picture { window: size.rect(), layers, steps, erases, share: 1.0, ..Picture::zeroed() };
        let pictures = Tables::add(&mut self.tables.pictures, &[picture]);
        let job = RenderJob { pictures, stats: drawn.stats, ..target.job(size) };
        self.tables.agenda.render(drawn.ready, Kernel::Render, job)
    }

    /// Brings a picture to where only steps without statistics of their own are left.
    fn picture(&mut self, size: Size, picture: &plan::Picture) -> Result<Lowered, Cause> {
        let mut paints: Vec<Paint> = Vec::new();
        let (mut ready, mut stats) = (0, Span::default());
        for layer in &self.plan.layers[picture.layers.range()] {
            let painted = self.layer(layer)?;
            ready = ready.max(painted.ready);
            stats = join(stats, painted.steps.stats);
            paints.push(painted.paint);
        }
        let layers = self.add_paints(&paints);
        let steps = Steps::lower(self.tables, self.plan, picture.steps)?;
        let (parts, rest) = steps.parts(self.tables, self.plan);
        let [first, others @ ..] = parts.as_slice() else {
            return Ok(Lowered { layers, steps, stats: join(stats, steps.stats), ready });
        };
        let drawn = Lowered { layers, steps: first.steps, stats: join(stats, first.steps.stats), ready };
        let (place, between) = self.measured_on(size, first);
        let ready = self.render(size, &drawn, Span::default(), between);
        self.measured(Canvas { place, size, ready }, others, rest)
    }

    /// Goes on from a canvas on which one statistic was measured: a pass for each further one, then what is left.
    fn measured(&mut self, mut canvas: Canvas, parts: &[Part], rest: Steps) -> Result<Lowered, Cause> {
        for part in parts {
            let drawn = self.shown(&canvas, part.steps)?;
            let (place, between) = self.measured_on(canvas.size, part);
            let ready = self.render(canvas.size, &drawn, Span::default(), between);
            canvas = Canvas { place, ready, ..canvas };
        }
        self.shown(&canvas, rest)
    }

    fn shown(&mut self, canvas: &Canvas, steps: Steps) -> Result<Lowered, Cause> {
        let paint = self.showing(canvas)?;
        let layers = self.add_paints(&[paint]);
        Ok(Lowered { layers, steps, stats: steps.stats, ready: canvas.ready })
    }

    fn add_paints(&mut self, paints: &[Paint]) -> Span {
        let layers = Tables::add(&mut self.tables.paints, paints);
        let resampled = |paint: &Paint| paint.kind == KIND_UPRIGHT;
        let numbers = (layers.start..).zip(paints).filter(|(_, paint)| resampled(paint));
        self.tables.agenda.taps.extend(numbers.map(|(number, _)| number));
        layers
    }
}

impl Target {
    fn canvas(place: u64) -> Self {
        Target::Canvas { place, measured: NONE, rect: Rect::default() }
    }

    /// A job with this target and nothing to do yet.
    fn job(self, size: Size) -> RenderJob {
        let empty = RenderJob { size, measured: NONE, ..RenderJob::zeroed() };
        match self {
            Target::Sample(target) => RenderJob { target, ..empty },
            Target::Canvas { place, measured, rect } => {
                RenderJob { target: place, pitch: Canvas::pitch(size), measured, rect, ..empty }
            }
        }
    }
}

impl Lowering<'_> {
    /// A new canvas on which the statistic of `part` is measured.
    fn measured_on(&mut self, size: Size, part: &Part) -> (u64, Target) {
        let place = self.tables.reserve(Canvas::bytes(size));
        let rect = part.rect.intersect(size.rect());
        self.tables.count(part.measured, rect.size().pixels());
        (place, Target::Canvas { place, measured: part.measured, rect })
    }
}
