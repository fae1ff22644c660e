//! From one sample's plan to jobs: passes and inputs, and where a statistic makes a canvas needed.
//!
//! A statistic of an input or a pass is measured on a canvas: one job renders as far as the step that waits for it,
//! stores the levels and sums them up, and the next starts from there.

use super::layout::{self, BlendInput, KIND_UPRIGHT, LayerDesc, NONE, RenderJob};
use super::schedule::Kernel;
use super::source::Canvas;
use super::steps::{Part, Steps, join};
use super::tables::Tables;
use super::{Sample, Surface};
use crate::error::Cause;
use crate::geometry::Size;
use crate::output::{DType, Layout, Output};
use crate::plan::{self, Pass, Plan, Span};
use bytemuck::Zeroable;

/// One sample on its way into the tables.
pub(super) struct Lowering<'a> {
    pub(super) tables: &'a mut Tables,
    pub(super) plan: &'a Plan,
    pub(super) surfaces: &'a [Surface],
    /// Earlier passes.
    pub(super) passes: Vec<Canvas>,
    output: u64,
    /// What the sample is made of.
    pub(super) dtype: DType,
    pub(super) layout: Layout,
    /// Index of the first row of its masks.
    pub(super) masks: u32,
}

/// An input as far as it is known: its layers, the steps that are left, and the level on which all that it reads is
/// there.
pub(super) struct Lowered {
    pub(super) layers: Span,
    pub(super) steps: Steps,
    /// Statistics that any of its steps name, those of its layers included.
    stats: Span,
    pub(super) ready: u32,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(tables: &'a mut Tables, sample: &Sample<'a>, of: &Output) -> Self {
        let Sample { plan, surfaces, output } = *sample;
        let masks = tables.begin(plan);
        let (dtype, layout) = (of.dtype, of.layout);
        Self { tables, plan, surfaces, passes: Vec::new(), output, dtype, layout, masks }
    }

    pub(super) fn run(mut self) -> Result<(), Cause> {
        let [earlier @ .., last] = self.plan.passes.as_slice() else { return Ok(()) };
        for pass in earlier {
            let target = self.canvas(pass.size);
            let canvas = self.pass(pass, target)?;
            self.passes.push(canvas);
        }
        let sample =
            RenderJob { target: self.output, size: last.size, measured: NONE, ..RenderJob::zeroed() };
        self.pass(last, sample).map(drop)
    }

    /// Renders a pass into `target`, a job with nothing to do yet.
    fn pass(&mut self, pass: &Pass, target: RenderJob) -> Result<Canvas, Cause> {
        // The means that a job names lie within those of its pass, for which a block has room.
        self.tables.begin_pass();
        let inputs = &self.plan.inputs[pass.inputs.range()];
        let lowered: Vec<Lowered> =
            inputs.iter().map(|input| self.input(pass.size, input)).collect::<Result<_, _>>()?;
        if let ([only], [drawn]) = (inputs, lowered.as_slice())
            && only.weight == 1.0
            && only.mode.is_over()
            && only.window == pass.size.rect()
            && pass.steps.len == 0
        {
            return Ok(self.render(drawn, only.erases, target));
        }
        let start = self.tables.inputs.len() as u32;
        for (input, drawn) in inputs.iter().zip(&lowered) {
            let erases = self.tables.add_erases(&self.plan.erases[input.erases.range()]);
            let window = input.window.intersect(pass.size.rect());
            let (layers, steps, weight) = (drawn.layers, drawn.steps.span, input.weight);
            let mode = layout::blend_mode(input.mode);
            let entry = BlendInput { window, layers, steps, erases, weight, mode, reserved: [0; 4] };
            self.tables.inputs.push(entry);
        }
        let inputs = Span { start, len: lowered.len() as u32 };
        let ready = lowered.iter().map(|drawn| drawn.ready).max().unwrap_or(0);
        let stats = lowered.iter().fold(Span::default(), |stats, drawn| join(stats, drawn.stats));
        let steps = Steps::lower(self.tables, self.plan, pass.steps)?;
        let (parts, rest) = steps.parts(self.tables, self.plan);
        let [first, others @ ..] = parts.as_slice() else {
            return Ok(self.blend(inputs, steps, (ready, stats), target));
        };
        let between = self.measured_on(pass.size, first);
        let canvas = self.blend(inputs, first.steps, (ready, stats), between);
        let drawn = self.measured(canvas, others, rest)?;
        Ok(self.render(&drawn, Span::default(), target))
    }

    fn blend(
        &mut self,
        inputs: Span,
        steps: Steps,
        (ready, stats): (u32, Span),
        target: RenderJob,
    ) -> Canvas {
        let all = &self.tables.inputs[inputs.range()];
        let kernel = match all.iter().any(|input| input.erases.len > 0) {
            true => Kernel::BlendErased,
            false => Kernel::Blend,
        };
        let stats = join(stats, steps.stats);
        self.add(ready, kernel, RenderJob { inputs, steps: steps.span, stats, ..target })
    }

    /// Renders an input that fills its canvas.
    fn render(&mut self, drawn: &Lowered, erases: Span, target: RenderJob) -> Canvas {
        if let Some(job) = self.crop(drawn, erases, &target) {
            let ready = self.tables.schedule.crop(drawn.ready, job);
            return Canvas { place: job.target, size: job.size, ready };
        }
        let erases = self.tables.add_erases(&self.plan.erases[erases.range()]);
        let (layers, steps) = (drawn.layers, drawn.steps.span);
        let window = target.size.rect();
        let input = BlendInput { window, layers, steps, erases, weight: 1.0, ..BlendInput::zeroed() };
        let inputs = Tables::add(&mut self.tables.inputs, &[input]);
        self.add(drawn.ready, Kernel::Render, RenderJob { inputs, stats: drawn.stats, ..target })
    }

    /// Adds a job; returns its canvas with the level on which it is there.
    fn add(&mut self, ready: u32, kernel: Kernel, job: RenderJob) -> Canvas {
        let ready = self.tables.schedule.render(ready, kernel, job);
        Canvas { place: job.target, size: job.size, ready }
    }

    /// Brings an input to where only steps without statistics of their own are left.
    fn input(&mut self, size: Size, input: &plan::BlendInput) -> Result<Lowered, Cause> {
        let mut layers: Vec<LayerDesc> = Vec::new();
        let (mut ready, mut stats) = (0, Span::default());
        for layer in &self.plan.layers[input.layers.range()] {
            let lowered = self.layer(layer)?;
            ready = ready.max(lowered.ready);
            stats = join(stats, lowered.steps.stats);
            layers.push(lowered.desc);
        }
        let layers = self.add_layers(&layers);
        let steps = Steps::lower(self.tables, self.plan, input.steps)?;
        let (parts, rest) = steps.parts(self.tables, self.plan);
        let [first, others @ ..] = parts.as_slice() else {
            return Ok(Lowered { layers, steps, stats: join(stats, steps.stats), ready });
        };
        let drawn = Lowered { layers, steps: first.steps, stats: join(stats, first.steps.stats), ready };
        let between = self.measured_on(size, first);
        let canvas = self.render(&drawn, Span::default(), between);
        self.measured(canvas, others, rest)
    }

    /// Goes on from a canvas on which one statistic was measured: a job for each further one, then what is left.
    fn measured(&mut self, mut canvas: Canvas, parts: &[Part], rest: Steps) -> Result<Lowered, Cause> {
        for part in parts {
            let drawn = self.shown(&canvas, part.steps)?;
            let between = self.measured_on(canvas.size, part);
            canvas = self.render(&drawn, Span::default(), between);
        }
        self.shown(&canvas, rest)
    }

    fn shown(&mut self, canvas: &Canvas, steps: Steps) -> Result<Lowered, Cause> {
        let desc = self.showing(canvas)?;
        let layers = self.add_layers(&[desc]);
        Ok(Lowered { layers, steps, stats: steps.stats, ready: canvas.ready })
    }

    fn add_layers(&mut self, descs: &[LayerDesc]) -> Span {
        let layers = Tables::add(&mut self.tables.layers, descs);
        let numbers = (layers.start..).zip(descs).filter(|(_, desc)| desc.kind == KIND_UPRIGHT);
        self.tables.schedule.taps.extend(numbers.map(|(number, _)| number));
        layers
    }
    /// A job with a new canvas as its target and nothing to do yet.
    fn canvas(&mut self, size: Size) -> RenderJob {
        let target = self.tables.reserve(Canvas::bytes(size));
        RenderJob { target, size, pitch: Canvas::pitch(size), measured: NONE, ..RenderJob::zeroed() }
    }

    /// The same, with the statistic of `part` to be measured on the canvas.
    fn measured_on(&mut self, size: Size, part: &Part) -> RenderJob {
        let (measured, rect) = (part.measured, part.rect.intersect(size.rect()));
        self.tables.count(measured, rect.size().pixels());
        RenderJob { measured, rect, ..self.canvas(size) }
    }
}
