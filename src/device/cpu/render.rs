//! Executes a plan: passes, inputs, layers.

mod row_layers;

use super::blend::{self, Blend};
use super::filter;
use super::fused::Decoded;
use super::gather::Gather;
use super::image_view::{Canvas, ImageView};
use super::output::{RowOutput, Sample};
use super::pillow::Pillow;
use super::pixel_block::Resolved;
use super::recolour;
use super::resample::Resampler;
use crate::decode_memory::LARGE;
use crate::device::roi::{self, scale};
use crate::error::Cause;
use crate::geometry::{Orientation, Rect, Size};
use crate::image::Image;
use crate::output::Output;
use crate::plan::{
    BlendInput, CanvasFilter, Content, Layer, LayerSource, Method, Pass, PillowMap, Plan, Run, Sampled, Span,
    WarpMap,
};
use crate::simd::{self, Level};
use row_layers::{RowLayers, lay_warp};
use std::borrow::Borrow;

/// The canvases of all passes together are given back after a sample if they have more bytes.
const KEPT_BYTES: usize = 4 * LARGE;

/// Renders plans on decoded images; one per thread; all memory is reused.
#[derive(Debug)]
pub struct Renderer {
    passes: Vec<Canvas>,
    blend: Blend,
    input: Canvas,
    painter: Painter,
    /// One row of an input that has no canvas.
    line: Vec<u8>,
    rest: Vec<Resolved>,
    level: Level,
}

/// What the layers of a plan show: its images, and the passes that are rendered.
#[derive(Clone, Copy)]
struct Scene<'a> {
    plan: &'a Plan,
    images: &'a [Decoded<'a>],
    passes: &'a [Canvas],
}

/// What a layer shows, and its window.
type Shown<'a> = (Scene<'a>, Rect, &'a Sampled);

/// Brings one layer at a time onto a canvas.
#[derive(Debug)]
struct Painter {
    resampler: Resampler,
    turned: Canvas,
    rest: Vec<Resolved>,
    row: Vec<u8>,
    level: Level,
}

impl Default for Renderer {
    fn default() -> Self {
        Self::with_level(simd::level())
    }
}

impl Renderer {
    /// A renderer that uses an instruction set that the machine has; for comparisons, since all give the same bits.
    pub fn with_level(level: Level) -> Self {
        let level = level.min(simd::level());
        let painter = Painter {
            resampler: Resampler::with_level(level),
            turned: Canvas::default(),
            rest: Vec::new(),
            row: Vec::new(),
            level,
        };
        let (blend, input) = (Blend::default(), Canvas::default());
        Self { passes: Vec::new(), blend, input, painter, line: Vec::new(), rest: Vec::new(), level }
    }

    /// Renders the sample of `plan` from `images` (`images[i]` belongs to `plan.images[i]`) into `sample`.
    ///
    /// # Errors
    /// When the images do not hold what the plan reads, the sample's length or alignment does not fit the output, or
    /// the plan asks for something that this renderer lacks.
    pub fn render(
        &mut self,
        plan: &Plan,
        images: &[impl Borrow<Image>],
        output: &Output,
        sample: &mut [u8],
    ) -> Result<(), Cause> {
        let images: Vec<_> = images.iter().map(|image| Decoded::Pixels(image.borrow())).collect();
        self.render_decoded(plan, &images, output, sample)
    }

    /// As [`Renderer::render`], of images that may have been resampled across already.
    pub(super) fn render_decoded(
        &mut self,
        plan: &Plan,
        images: &[Decoded<'_>],
        output: &Output,
        sample: &mut [u8],
    ) -> Result<(), Cause> {
        if plan.size() != output.size {
            return Err(format!("the plan makes {} and the output is {}", plan.size(), output.size).into());
        }
        let sample =
            Sample::new(sample, output).ok_or("the sample's memory does not fit the output: a bug")?;
        let [earlier @ .., last] = plan.passes.as_slice() else {
            return Err("the plan has no pass".into());
        };
        let mut passes = std::mem::take(&mut self.passes);
        passes.resize_with(passes.len().max(earlier.len()), Canvas::default);
        let mut rendered = Ok(());
        for (index, pass) in earlier.iter().enumerate() {
            let (passes, rest) = passes.split_at_mut(index);
            rest[0].reset(pass.size);
            let scene = Scene { plan, images, passes };
            rendered = rendered.and_then(|()| self.pass(scene, pass, RowOutput::Pass(&mut rest[0])));
        }
        let scene = Scene { plan, images, passes: &passes };
        rendered = rendered.and_then(|()| self.pass(scene, last, RowOutput::Sample(sample)));
        self.passes = passes;
        rendered
    }

    /// Gives memory back that is too much to be kept for the next sample.
    pub fn give_back(&mut self) {
        let Painter { resampler, turned, .. } = &mut self.painter;
        self.passes.iter_mut().chain([&mut self.input, turned]).for_each(Canvas::give_back);
        if self.passes.iter().map(Canvas::bytes).sum::<usize>() > KEPT_BYTES {
            self.passes = Vec::new();
        }
        resampler.give_back();
        self.blend.give_back();
    }

    fn pass(&mut self, scene: Scene<'_>, pass: &Pass, mut output: RowOutput<'_>) -> Result<(), Cause> {
        let plan = scene.plan;
        let inputs = &plan.inputs[pass.inputs.range()];
        if let [only] = inputs
            && only.weight == 1.0
            && only.mode.is_over()
            && only.window == pass.size.rect()
            && pass.steps.len == 0
        {
            self.single(scene, pass.size, only, &mut output)?;
            if let RowOutput::Sample(sample) = &mut output {
                blend::fill_erased(sample, &plan.erases[only.erases.range()], self.level);
            }
            return Ok(());
        }
        let erased = inputs.iter().any(|input| input.erases.len > 0);
        self.blend.reset(pass.size, erased);
        for input in inputs {
            self.compose(scene, pass.size, input)?;
            recolour::run(self.input.rows_mut(), &self.rest, self.level);
            self.blend.lay(&self.input, input, &plan.erases[input.erases.range()]);
        }
        match &mut output {
            RowOutput::Sample(sample) if pass.steps.len == 0 => self.blend.finish(sample, self.level),
            _ => {
                self.blend.store(&mut self.input);
                self.resolve(plan, pass.steps);
                self.finish(&mut output);
            }
        }
        Ok(())
    }

    /// A pass with one input: no blend, and where one layer fills it, no input in memory either.
    fn single(
        &mut self,
        scene: Scene<'_>,
        size: Size,
        input: &BlendInput,
        output: &mut RowOutput<'_>,
    ) -> Result<(), Cause> {
        let plan = scene.plan;
        let steps = &plan.steps[input.steps.range()];
        let fused = steps.iter().all(|step| step.stat.is_none());
        if let [layer] = &plan.layers[input.layers.range()]
            && fused
            && layer.window == size.rect()
            && layer.fills_window()
            && let Content::Sampled(sampled) = &layer.content
        {
            self.resolve(plan, input.steps);
            let (rest, level) = (&self.rest, self.level);
            let put = |y: usize, row: &[u8]| output.row(y, row, rest, level);
            return self.painter.rows((scene, layer.window, sampled), put);
        }
        if fused && let Some(layers) = RowLayers::of(scene, size, &plan.layers[input.layers.range()])? {
            self.resolve(plan, input.steps);
            self.row_by_row(layers, size, output);
            return Ok(());
        }
        self.compose(scene, size, input)?;
        self.finish(output);
        Ok(())
    }

    /// Lays and finishes one row after the other.
    fn row_by_row(&mut self, mut layers: RowLayers<'_>, size: Size, output: &mut RowOutput<'_>) {
        let (row, own) = (&mut self.line, &mut self.painter.row);
        row.resize(size.width as usize * 3, 0);
        for y in 0..size.height as usize {
            layers.lay(y, row, own, self.level);
            output.row(y, row, &self.rest, self.level);
        }
    }

    /// Composites an input's layers and runs its steps as far as statistics need it; `rest` holds the others.
    fn compose(&mut self, scene: Scene<'_>, size: Size, input: &BlendInput) -> Result<(), Cause> {
        self.input.reset(size);
        let layers = &scene.plan.layers[input.layers.range()];
        if !layers.first().is_some_and(|lowest| lowest.window == size.rect() && lowest.fills_window()) {
            self.input.rows_mut().fill(0);
        }
        for layer in layers {
            self.painter.paint(scene, layer, &mut self.input)?;
        }
        self.resolve(scene.plan, input.steps);
        Ok(())
    }

    fn resolve(&mut self, plan: &Plan, steps: Span) {
        recolour::until_last_statistic(plan, steps, &mut self.input, (0, 0), self.level, &mut self.rest);
    }

    fn finish(&mut self, output: &mut RowOutput<'_>) {
        let size = self.input.size;
        let view = self.input.part(size.rect());
        for y in 0..size.height as usize {
            output.row(y, view.row(y), &self.rest, self.level);
        }
    }
}

impl Painter {
    /// Lays one layer onto the canvas.
    fn paint(&mut self, scene: Scene<'_>, layer: &Layer, canvas: &mut Canvas) -> Result<(), Cause> {
        let (plan, window, stride) = (scene.plan, layer.window, canvas.stride());
        let rows = canvas.rows_mut();
        let mut place = |y: usize, row: &[u8]| {
            let line = &mut rows[(window.y as usize + y) * stride..][..stride];
            put_row(line, window.x as usize, row, plan.runs_of(layer, y));
        };
        match &layer.content {
            Content::Solid(rgb) => {
                let row: Vec<u8> = rgb.repeat(window.width as usize);
                (0..window.height as usize).for_each(|y| place(y, &row));
                Ok(())
            }
            Content::Sampled(sampled @ Sampled { method: Method::Warp(warp), .. }) => {
                let (mut own, level) = (std::mem::take(&mut self.row), self.level);
                let mut gather = self.gather((scene, window, sampled), warp)?;
                for y in 0..window.height as usize {
                    let line = &mut rows[(window.y as usize + y) * stride..][..stride];
                    lay_warp(&mut gather, (plan, layer), y, (line, &mut own), level);
                }
                self.row = own;
                Ok(())
            }
            Content::Sampled(sampled @ Sampled { method: Method::Pillow(map), .. }) => {
                let (mut own, level) = (std::mem::take(&mut self.row), self.level);
                let pillow = self.pillow((scene, window, sampled), map)?;
                for y in 0..window.height as usize {
                    let line = &mut rows[(window.y as usize + y) * stride..][..stride];
                    own.clear();
                    own.extend_from_slice(&line[window.x as usize * 3..][..window.width as usize * 3]);
                    pillow.row(y, &mut own, level);
                    put_row(line, window.x as usize, &own, plan.runs_of(layer, y));
                }
                self.row = own;
                Ok(())
            }
            Content::Sampled(sampled) => self.rows((scene, window, sampled), place),
        }
    }

    /// Hands the rows of an upright layer's window, or of a warp that fills its window, to `put`, the first row first.
    fn rows(&mut self, shown: Shown<'_>, mut put: impl FnMut(usize, &[u8])) -> Result<(), Cause> {
        let (scene, window, sampled) = shown;
        let filter = match &sampled.method {
            Method::Upright(filter) => *filter,
            Method::Warp(warp) => {
                let (mut row, level) = (std::mem::take(&mut self.row), self.level);
                row.resize(window.width as usize * 3, 0);
                let mut gather = self.gather(shown, warp)?;
                for y in 0..window.height as usize {
                    gather.row(y, &mut row, level);
                    put(y, &row);
                }
                self.row = row;
                return Ok(());
            }
            Method::Pillow(_) => {
                return Err("a layer that does not fill its window, shown alone: a bug".into());
            }
            Method::Filtered(filter) => return self.filtered(shown, filter, put),
        };
        let (columns, rows) = roi::scales(window, sampled, filter);
        let Self { resampler, turned, rest, row, level } = self;
        let decoded = match sampled.from {
            LayerSource::Image(image) => scene.images.get(image as usize),
            LayerSource::Pass(_) => None,
        };
        let resampled: &Resampler = match decoded {
            Some(Decoded::Lines(lines)) if lines.is_for(&columns, &rows) => lines,
            _ => {
                let taps = roi::taps_of(window, sampled);
                let view = source(shown, taps, (turned, rest, *level))?;
                if roi::is_copy(window, sampled) {
                    (0..view.size.height as usize).for_each(|y| put(y, view.row(y)));
                    return Ok(());
                }
                resampler.prepare(view, &columns, &rows);
                resampler
            }
        };
        row.resize(window.width as usize * 3, 0);
        for y in 0..window.height as usize {
            resampled.row(y, row);
            put(y, row);
        }
        Ok(())
    }

    /// Hands the rows of a filtered pass's window to `put`.
    fn filtered(
        &mut self,
        (scene, window, sampled): Shown<'_>,
        filter: &CanvasFilter,
        mut put: impl FnMut(usize, &[u8]),
    ) -> Result<(), Cause> {
        let LayerSource::Pass(pass) = sampled.from else {
            return Err("a filter of an image that is no pass: a bug".into());
        };
        let from = scene.passes[pass as usize].part(sampled.clip);
        filter::run(filter, scene.plan, from, &mut self.turned, self.level);
        let (columns, rows) = scale::visible(window, sampled);
        let view = self.turned.part(sampled.clip.size().rect());
        let width = columns.count as usize * 3;
        for y in 0..rows.count as usize {
            let row = &view.row(rows.shown(y) as usize)[columns.offset as usize * 3..][..width];
            if !columns.reversed {
                put(y, row);
                continue;
            }
            self.row.clear();
            self.row.extend(row.rchunks_exact(3).flatten());
            put(y, &self.row);
        }
        Ok(())
    }

    /// A warped layer, ready to render its rows.
    fn gather<'a>(&'a mut self, shown: Shown<'a>, warp: &WarpMap) -> Result<Gather<'a>, Cause> {
        let (_, window, sampled) = shown;
        let taps = roi::taps_of(window, sampled);
        let view = match taps.is_empty() {
            true => ImageView::default(),
            false => source(shown, taps, (&mut self.turned, &mut self.rest, self.level))?,
        };
        Ok(Gather::new((window, sampled, warp), view, taps))
    }

    /// A layer with Pillow's arithmetic, ready to render its rows.
    fn pillow<'a>(&'a mut self, shown: Shown<'a>, map: &PillowMap) -> Result<Pillow<'a>, Cause> {
        let (_, window, sampled) = shown;
        let taps = roi::taps_of(window, sampled);
        let view = match taps.is_empty() {
            true => ImageView::default(),
            false => source(shown, taps, (&mut self.turned, &mut self.rest, self.level))?,
        };
        Ok(Pillow::new((window, sampled, map), view, taps))
    }
}

/// Puts a row of a layer's window, which begins at column `left`, on a row of the canvas, as far as its mask goes.
fn put_row(line: &mut [u8], left: usize, row: &[u8], runs: Option<&[Run]>) {
    let Some(runs) = runs else {
        line[left * 3..][..row.len()].copy_from_slice(row);
        return;
    };
    for run in runs {
        let (start, bytes) = (run.start as usize, run.len as usize * 3);
        line[start * 3..][..bytes].copy_from_slice(&row[(start - left) * 3..][..bytes]);
    }
}

/// The pixels that the layer's taps read, upright and with the source steps done.
fn source<'a>(
    (scene, window, sampled): Shown<'a>,
    taps: Rect,
    (turned, rest, level): (&'a mut Canvas, &mut Vec<Resolved>, Level),
) -> Result<ImageView<'a>, Cause> {
    if as_stored(sampled) {
        return stored_view(scene, sampled, taps);
    }
    let needed = roi::needed(scene.plan, window, sampled);
    turned.copy_turned(stored_view(scene, sampled, needed)?, sampled.orientation);
    recolour::until_last_statistic(scene.plan, sampled.steps, turned, (needed.x, needed.y), level, rest);
    recolour::run(turned.rows_mut(), rest, level);
    Ok(turned.part(taps.shifted(-needed.x, -needed.y)))
}

/// Whether a layer shows its source's pixels as they are.
fn as_stored(sampled: &Sampled) -> bool {
    sampled.orientation == Orientation::UPRIGHT && sampled.steps.len == 0
}

/// The pixels of a layer's source that `wanted` is, in oriented coordinates, as they are stored.
fn stored_view<'a>(scene: Scene<'a>, sampled: &Sampled, wanted: Rect) -> Result<ImageView<'a>, Cause> {
    let orientation = sampled.orientation;
    match sampled.from {
        LayerSource::Image(image) => {
            let Some(Decoded::Pixels(image)) = scene.images.get(image as usize) else {
                return Err("an image of the plan was not decoded, or for another plan: a bug".into());
            };
            let oriented = orientation.apply_size(image.stored);
            ImageView::of(image, orientation.to_stored(wanted, oriented)).ok_or_else(|| {
                let decoded = image.region;
                format!("the plan reads {wanted:?} of an image of which {decoded:?} was decoded: a bug")
                    .into()
            })
        }
        LayerSource::Pass(pass) => {
            let pass = &scene.passes[pass as usize];
            Ok(pass.part(orientation.to_stored(wanted, orientation.apply_size(pass.size))))
        }
    }
}
