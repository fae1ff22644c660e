//! From one sample's plan to jobs: passes and inputs, and where a statistic makes a canvas needed.
//!
//! A statistic of an input or a pass is measured on a canvas: one job renders as far as the step that waits for it,
//! stores the levels and sums them up, and the next starts from there.

use super::layout::{BlendInput, KIND_UPRIGHT, LayerDesc, NONE, RenderJob};
use super::schedule::Kernel;
use super::source::Canvas;
use super::steps::{Part, Steps, join};
use super::tables::Tables;
use super::{Sample, Surface};
use crate::error::Cause;
use crate::geometry::{Rect, Size};
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
    /// Index of the first row of its masks.
    pub(super) masks: u32,
}

/// An input as far as it is known: its layers, the steps that are left, and the level on which all that it reads is
/// there.
struct Lowered {
    layers: Span,
    steps: Steps,
    /// Statistics that any of its steps name, those of its layers included.
    stats: Span,
    ready: u32,
}

/// What a pass is rendered into.
#[derive(Clone, Copy)]
enum Target {
    Sample(u64),
    Canvas { place: u64, measured: u32, rect: Rect },
}

impl<'a> Lowering<'a> {
    pub(super) fn new(tables: &'a mut Tables, sample: &Sample<'a>) -> Self {
        let Sample { plan, surfaces, output } = *sample;
        let masks = tables.begin(plan);
        Self { tables, plan, surfaces, passes: Vec::new(), output, masks }
    }

    pub(super) fn run(mut self) -> Result<(), Cause> {
        let passes: &[Pass] = &self.plan.passes;
        let last = passes.len() - 1;
        for (index, pass) in passes.iter().enumerate() {
            if index == last {
                self.pass(pass, Target::Sample(self.output))?;
                break;
            }
            let place = self.tables.reserve(Canvas::bytes(pass.size));
            let ready = self.pass(pass, Target::canvas(place))?;
            self.passes.push(Canvas { place, size: pass.size, ready });
        }
        Ok(())
    }

    /// Renders a pass; returns the level on which it is there.
    fn pass(&mut self, pass: &Pass, target: Target) -> Result<u32, Cause> {
        let inputs = &self.plan.inputs[pass.inputs.range()];
        let lowered: Vec<Lowered> =
            inputs.iter().map(|input| self.input(pass.size, input)).collect::<Result<_, _>>()?;
        if let ([only], [drawn]) = (inputs, lowered.as_slice())
            && only.weight == 1.0
            && only.window == pass.size.rect()
            && pass.steps.len == 0
        {
            return Ok(self.render(pass.size, drawn, only.erases, target));
        }
        let start = self.tables.inputs.len() as u32;
        for (input, drawn) in inputs.iter().zip(&lowered) {
            let erases = self.tables.add_erases(&self.plan.erases[input.erases.range()]);
            let window = input.window.intersect(pass.size.rect());
            let (layers, steps, weight) = (drawn.layers, drawn.steps.span, input.weight);
            let entry = BlendInput { window, layers, steps, erases, weight, reserved: [0; 5] };
            self.tables.inputs.push(entry);
        }
        let inputs = Span { start, len: lowered.len() as u32 };
        let ready = lowered.iter().map(|drawn| drawn.ready).max().unwrap_or(0);
        let stats = lowered.iter().fold(Span::default(), |stats, drawn| join(stats, drawn.stats));
        let steps = Steps::lower(self.tables, self.plan, pass.steps)?;
        let (parts, rest) = steps.parts(self.tables, self.plan);
        let [first, others @ ..] = parts.as_slice() else {
            return Ok(self.blend(pass.size, inputs, steps, (ready, stats), target));
        };
        let (place, between) = self.measured_on(pass.size, first);
        let ready = self.blend(pass.size, inputs, first.steps, (ready, stats), between);
        let drawn = self.measured(Canvas { place, size: pass.size, ready }, others, rest)?;
        Ok(self.render(pass.size, &drawn, Span::default(), target))
    }

    fn blend(
        &mut self,
        size: Size,
        inputs: Span,
        steps: Steps,
        (ready, stats): (u32, Span),
        target: Target,
    ) -> u32 {
        let all = &self.tables.inputs[inputs.range()];
        let kernel = match all.iter().any(|input| input.erases.len > 0) {
            true => Kernel::BlendErased,
            false => Kernel::Blend,
        };
        let stats = join(stats, steps.stats);
        let job = RenderJob { inputs, steps: steps.span, stats, ..target.job(size) };
        self.tables.schedule.render(ready, kernel, job)
    }

    /// Renders an input that fills its canvas.
    fn render(&mut self, size: Size, drawn: &Lowered, erases: Span, target: Target) -> u32 {
        let erases = self.tables.add_erases(&self.plan.erases[erases.range()]);
        let (layers, steps) = (drawn.layers, drawn.steps.span);
        let input =
            BlendInput { window: size.rect(), layers, steps, erases, weight: 1.0, ..BlendInput::zeroed() };
        let inputs = Tables::add(&mut self.tables.inputs, &[input]);
        let job = RenderJob { inputs, stats: drawn.stats, ..target.job(size) };
        self.tables.schedule.render(drawn.ready, Kernel::Render, job)
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
        let (place, between) = self.measured_on(size, first);
        let ready = self.render(size, &drawn, Span::default(), between);
        self.measured(Canvas { place, size, ready }, others, rest)
    }

    /// Goes on from a canvas on which one statistic was measured: a job for each further one, then what is left.
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
