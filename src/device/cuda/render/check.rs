//! What a plan must keep to, so that no kernel reads or writes where it should not.
//!
//! Plans that drafts make keep to all of it. A kernel that met one that does not would read beyond its memory, where the
//! CPU renderer stops with a panic.

use super::Sample;
use crate::color::{ColorOp, Statistic};
use crate::draft::MAX_EDGE;
use crate::error::Cause;
use crate::geometry::{Orientation, Rect, Size};
use crate::output::Output;
use crate::plan::{
    self, BlendInput, CanvasFilter, Content, Layer, LayerSource, Method, Pass, Plan, Sampled, Span, Step,
};

/// A plan, and where its images and its sample lie.
pub(super) fn sample(sample: &Sample<'_>, output: &Output) -> Result<(), Cause> {
    let Sample { plan, surfaces, output: address } = *sample;
    output.check()?;
    if plan.size() != output.size {
        return Err(format!("the plan makes {} and the output is {}", plan.size(), output.size).into());
    }
    require(plan.images.len() == surfaces.len(), "an image of the plan was not decoded")?;
    let aligned = surfaces.iter().all(|surface| surface.ptr % 4 == 0);
    let wide = surfaces.iter().all(|surface| u64::from(surface.pitch) >= u64::from(surface.region.width) * 3);
    let fits = aligned && wide && address % output.dtype.bytes() as u64 == 0;
    require(fits, "an image or a sample does not fit the memory that was meant for it")?;
    self::plan(plan)
}

/// A plan by itself.
pub(crate) fn plan(plan: &Plan) -> Result<(), Cause> {
    limits(plan)?;
    if plan.passes.is_empty() {
        return Err("the plan has no pass".into());
    }
    plan.passes.iter().enumerate().try_for_each(|(index, one)| pass(plan, index, one))
}

fn limits(plan: &Plan) -> Result<(), Cause> {
    let bounds = [
        (plan.images.len(), plan::MAX_IMAGES),
        (plan.passes.len(), plan::MAX_PASSES),
        (plan.layers.len(), plan::MAX_LAYERS),
        (plan.steps.len(), plan::MAX_STEPS),
        // A step has one at most; how many a pass may have is checked as it is lowered.
        (plan.stats.len(), plan::MAX_STEPS),
        (plan.erases.len(), plan::MAX_ERASES),
        (plan.runs.len(), plan::MAX_RUNS),
        (plan.mask_rows.len(), plan::MAX_LAYERS * MAX_EDGE as usize),
        // Each input has a layer or is black; there is no bound of its own.
        (plan.inputs.len(), 2 * plan::MAX_LAYERS),
    ];
    require(bounds.iter().all(|(have, most)| have <= most), "the plan is larger than plans may be")
}

fn pass(plan: &Plan, index: usize, pass: &Pass) -> Result<(), Cause> {
    size(pass.size)?;
    let inputs = part(&plan.inputs, pass.inputs)?;
    steps(plan, pass.steps)?;
    inputs.iter().try_for_each(|one| input(plan, index, pass.size, one))
}

fn input(plan: &Plan, pass: usize, canvas: Size, input: &BlendInput) -> Result<(), Cause> {
    steps(plan, input.steps)?;
    for erase in part(&plan.erases, input.erases)? {
        require(canvas.rect().contains(erase.window), "a rectangle to be erased does not fit its canvas")?;
    }
    part(&plan.layers, input.layers)?.iter().try_for_each(|one| layer(plan, pass, canvas, one))
}

fn layer(plan: &Plan, pass: usize, canvas: Size, layer: &Layer) -> Result<(), Cause> {
    mask(plan, layer)?;
    let fits = !layer.window.is_empty() && canvas.rect().contains(layer.window);
    require(fits, "a layer does not fit its canvas")?;
    match &layer.content {
        Content::Solid(_) => Ok(()),
        Content::Sampled(shown) => sampled(plan, pass, layer.window, shown),
    }
}

fn sampled(plan: &Plan, pass: usize, window: Rect, sampled: &Sampled) -> Result<(), Cause> {
    match &sampled.method {
        Method::Filtered(filter) => filtered(plan, pass, sampled, filter)?,
        Method::Pillow(map) => {
            let finite = map.matrix.iter().all(|number| number.is_finite());
            require(finite, "a map of numbers that are not finite")?;
        }
        Method::Upright(_) | Method::Warp(_) => {}
    }
    let is_there = match sampled.from {
        LayerSource::Image(image) => (image as usize) < plan.images.len(),
        LayerSource::Pass(earlier) => (earlier as usize) < pass,
    };
    require(is_there, "a layer shows an image that is not there")?;
    let known = sampled.orientation.0 <= 7;
    require(known, "a layer that is turned in a way that the CUDA renderer does not know")?;
    size(sampled.scaled)?;
    size(sampled.clip.size())?;
    let near = |at: &i32| at.unsigned_abs() <= 2 * MAX_EDGE;
    let all_near = sampled.offset.iter().chain([&sampled.clip.x, &sampled.clip.y]).all(near);
    require(all_near, "a layer that lies far outside of what it shows")?;
    let [left, top] = sampled.offset;
    let shown = Rect::new(left, top, window.width, window.height);
    let mapped = matches!(sampled.method, Method::Warp(_) | Method::Pillow(_));
    let resampled = mapped || sampled.scaled.rect().contains(shown);
    require(resampled, "a layer shows more than was resampled")?;
    steps(plan, sampled.steps)
}

/// A mask has a row for each of the window's, and their runs are there.
fn mask(plan: &Plan, layer: &Layer) -> Result<(), Cause> {
    let Some(start) = layer.mask else { return Ok(()) };
    let rows = part(&plan.mask_rows, Span { start, len: layer.window.height })?;
    rows.iter().try_for_each(|row| part(&plan.runs, *row).map(drop))
}

/// A filter reads all of an earlier pass, and its kernel is bounded.
fn filtered(plan: &Plan, pass: usize, sampled: &Sampled, filter: &CanvasFilter) -> Result<(), Cause> {
    let earlier = match sampled.from {
        LayerSource::Pass(earlier) => plan.passes[..pass].get(earlier as usize),
        LayerSource::Image(_) => None,
    };
    let whole = earlier.is_some_and(|earlier| earlier.size.rect() == sampled.clip);
    let plain = sampled.orientation == Orientation::UPRIGHT && sampled.scaled == sampled.clip.size();
    let fits = whole && plain && sampled.steps.len == 0;
    require(fits, "a filter that does not fit the pass that it filters")?;
    let fits =
        |length: u32, edge: u32| length as usize <= plan::MAX_KERNEL && length % 2 == 1 && length / 2 < edge;
    let is_window = |edge: u32, most: usize| edge as usize <= most && edge % 2 == 1;
    let sound = match filter {
        CanvasFilter::Sharpness { amount } => amount.is_finite(),
        CanvasFilter::Gaussian { kernel: [columns, rows], sigma } => {
            fits(*columns, sampled.clip.width)
                && fits(*rows, sampled.clip.height)
                && sigma.iter().all(|sigma| sigma.is_finite() && *sigma > 0.0)
        }
        CanvasFilter::Mean { kernel } => kernel.iter().all(|edge| is_window(*edge, plan::MAX_WINDOW)),
        CanvasFilter::Median { edge } => is_window(*edge, plan::MAX_MEDIAN),
        CanvasFilter::Kernel { kernel, weights } => {
            kernel.iter().all(|edge| is_window(*edge, plan::MAX_WINDOW))
                && part(&plan.weights, Span { start: *weights, len: kernel[0] * kernel[1] })?
                    .iter()
                    .all(|weight| weight.abs() <= plan::MAX_WEIGHT)
        }
        CanvasFilter::Noise { mean, deviation, .. } => mean.is_finite() && deviation.is_finite(),
        CanvasFilter::Clahe { tiles, clip_limit } => {
            tiles.iter().all(|count| (1..=plan::MAX_TILES).contains(count)) && clip_limit.is_finite()
        }
        CanvasFilter::Multiply { low, span, .. } => {
            [low, span].into_iter().all(|factor| (0.0..=255.0).contains(factor))
        }
        CanvasFilter::Sensor { hue, intensity, .. } => {
            [hue, intensity].into_iter().all(|part| (0.0..=1.0).contains(part))
        }
        CanvasFilter::Jpeg { quality } => (1..=100).contains(quality),
        CanvasFilter::Distort { distortion, .. } => plan
            .distortions
            .get(*distortion as usize)
            .is_some_and(|distortion| distortion.size == sampled.clip.size() && distortion.is_sound()),
    };
    require(sound, "a filter with arguments that the CUDA renderer does not know")
}

fn steps(plan: &Plan, span: Span) -> Result<(), Cause> {
    for one in part(&plan.steps, span)? {
        require(keeps_levels(one), "a colour step with arguments that the CUDA renderer does not know")?;
        let statistic = one.op.statistic();
        let measured = one.stat.map(|stat| plan.stats.get(stat as usize).map(|stat| stat.kind));
        let fits = match measured {
            Some(kind) => kind.is_some() && kind == statistic,
            // A contrast without a mean has 0; a table must be there.
            None => !matches!(statistic, Some(Statistic::Levels(_))),
        };
        require(fits, "a colour step waits for a statistic that is not there")?;
    }
    Ok(())
}

/// Whether what the step gives is a level again: the kernels look levels up.
fn keeps_levels(step: &Step) -> bool {
    let [a, b, c, ..] = step.args;
    let finite = a.is_finite() && b.is_finite();
    finite
        && match step.op {
            // A turn beyond the circle has no sextant.
            ColorOp::Hue => a.abs() <= 1.0,
            ColorOp::SolarizeAdd => b >= 0.0 && b.fract() == 0.0,
            ColorOp::Posterize => a >= 1.0 && (0.0..=1.0).contains(&(a * b)),
            // A hue beyond the circle, or a negative factor, gives no level either.
            ColorOp::Hsv => (30.0..210.0).contains(&a) && b >= 0.0 && c >= 0.0,
            ColorOp::ShiftHsv => (30.0..210.0).contains(&a) && c.is_finite(),
            ColorOp::ShiftRgb => c.is_finite(),
            _ => true,
        }
}

fn size(size: Size) -> Result<(), Cause> {
    let fits = |edge: u32| (1..=MAX_EDGE).contains(&edge);
    require(fits(size.width) && fits(size.height), "a size that no image may have")
}

/// The part of one of the plan's arrays that a span names.
fn part<T>(array: &[T], span: Span) -> Result<&[T], Cause> {
    let end = u64::from(span.start) + u64::from(span.len);
    require(end <= array.len() as u64, "a part of the plan lies outside of it")?;
    Ok(&array[span.range()])
}

/// What no draft breaks; `broken` says how it was.
fn require(holds: bool, broken: &str) -> Result<(), Cause> {
    match holds {
        true => Ok(()),
        false => Err(format!("{broken}: a bug, please report it with the recipe").into()),
    }
}
