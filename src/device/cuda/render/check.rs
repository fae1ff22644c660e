//! What a plan must keep to, so that no kernel reads or writes where it should not.
//!
//! Plans that drafts make keep to all of it. A kernel that met one that does not would read beyond its memory, where the
//! CPU renderer stops with a panic.

use super::Sample;
use crate::draft::MAX_EDGE;
use crate::error::Cause;
use crate::geometry::{Orientation, Rect, Size};
use crate::output::Output;
use crate::plan::{self, Layer, NONE, Picture, Plan, Span, Stage, erase, filter, kind, stat, step};

pub(super) fn sample(sample: &Sample<'_>, output: &Output) -> Result<(), Cause> {
    let Sample { plan, surfaces, output: address } = *sample;
    output.check()?;
    if plan.size() != output.size {
        return Err(format!("the plan makes {} and the output is {}", plan.size(), output.size).into());
    }
    if plan.images.len() != surfaces.len() {
        return bug("an image of the plan was not decoded");
    }
    let aligned = surfaces.iter().all(|surface| surface.ptr % 4 == 0);
    let wide = surfaces.iter().all(|surface| u64::from(surface.pitch) >= u64::from(surface.region.width) * 3);
    if !aligned || !wide || address % output.dtype.bytes() as u64 != 0 {
        return bug("an image or a sample does not fit the memory that was meant for it");
    }
    limits(plan)?;
    if plan.stages.is_empty() {
        return Err("the plan has no stage".into());
    }
    plan.stages.iter().enumerate().try_for_each(|(index, one)| stage(plan, index, one))
}

fn limits(plan: &Plan) -> Result<(), Cause> {
    let bounds = [
        (plan.images.len(), plan::MAX_IMAGES),
        (plan.stages.len(), plan::MAX_STAGES),
        (plan.layers.len(), plan::MAX_LAYERS),
        (plan.steps.len(), plan::MAX_STEPS),
        (plan.stats.len(), plan::MAX_STATS),
        (plan.erases.len(), plan::MAX_ERASES),
        (plan.runs.len(), plan::MAX_RUNS),
        (plan.mask_rows.len(), plan::MAX_LAYERS * MAX_EDGE as usize),
        // Each picture has a layer or is black; there is no bound of its own.
        (plan.pictures.len(), 2 * plan::MAX_LAYERS),
    ];
    match bounds.iter().all(|(have, most)| have <= most) {
        true => Ok(()),
        false => bug("the plan is larger than plans may be"),
    }
}

fn stage(plan: &Plan, index: usize, stage: &Stage) -> Result<(), Cause> {
    size(stage.size)?;
    let pictures = part(&plan.pictures, stage.pictures)?;
    steps(plan, stage.steps)?;
    pictures.iter().try_for_each(|one| picture(plan, index, stage.size, one))
}

fn picture(plan: &Plan, stage: usize, canvas: Size, picture: &Picture) -> Result<(), Cause> {
    steps(plan, picture.steps)?;
    for erase in part(&plan.erases, picture.erases)? {
        let known = [erase::CONSTANT, erase::NOISE].contains(&erase.kind);
        if !known || !canvas.rect().contains(erase.window) {
            return bug("a rectangle to be erased does not fit its canvas");
        }
    }
    part(&plan.layers, picture.layers)?.iter().try_for_each(|one| layer(plan, stage, canvas, one))
}

fn layer(plan: &Plan, stage: usize, canvas: Size, layer: &Layer) -> Result<(), Cause> {
    mask(plan, layer)?;
    if layer.window.is_empty() || !canvas.rect().contains(layer.window) {
        return bug("a layer does not fit its canvas");
    }
    match layer.kind {
        kind::SOLID => return Ok(()),
        kind::UPRIGHT | kind::WARP => {}
        kind::FILTERED => filtered(plan, stage, layer)?,
        _ => return bug("a layer of a kind that the CUDA renderer does not know"),
    }
    let staged = layer.image & plan::STAGE_BIT != 0;
    let (number, images) = ((layer.image & !plan::STAGE_BIT) as usize, plan.images.len());
    if number >= if staged { stage } else { images } {
        return bug("a layer shows an image that is not there");
    }
    let resamples = [filter::BILINEAR, filter::BILINEAR_PLAIN, filter::BICUBIC, filter::NEAREST];
    if layer.orientation.0 > 7 || (layer.kind != kind::FILTERED && !resamples.contains(&layer.filter)) {
        return bug("a layer that is turned or filtered in a way that the CUDA renderer does not know");
    }
    size(layer.scaled)?;
    size(layer.clip.size())?;
    let far = |at: i32| at.unsigned_abs() > 2 * MAX_EDGE;
    if layer.offset.iter().chain([&layer.clip.x, &layer.clip.y]).any(|&at| far(at)) {
        return bug("a layer that lies far outside of what it shows");
    }
    let shown = Rect::new(layer.offset[0], layer.offset[1], layer.window.width, layer.window.height);
    if layer.kind != kind::WARP && !layer.scaled.rect().contains(shown) {
        return bug("a layer shows more than was resampled");
    }
    steps(plan, layer.steps)
}

/// A mask has a row for each of the window's, and their runs are there.
fn mask(plan: &Plan, layer: &Layer) -> Result<(), Cause> {
    if layer.mask == NONE {
        return Ok(());
    }
    let rows = part(&plan.mask_rows, Span { start: layer.mask, len: layer.window.height })?;
    rows.iter().try_for_each(|row| part(&plan.runs, *row).map(drop))
}

/// A filter reads all of an earlier stage, and its kernel is bounded.
fn filtered(plan: &Plan, stage: usize, layer: &Layer) -> Result<(), Cause> {
    let [first, second, x, y, ..] = layer.map;
    let earlier = plan.stages[..stage].get((layer.image & !plan::STAGE_BIT) as usize);
    let whole = earlier.is_some_and(|earlier| earlier.size.rect() == layer.clip);
    let plain = layer.orientation == Orientation::UPRIGHT && layer.scaled == layer.clip.size();
    if layer.image & plan::STAGE_BIT == 0 || !whole || !plain || layer.steps.len > 0 {
        return bug("a filter that does not fit the stage that it filters");
    }
    let fits = |length: f32, edge: u32| {
        (1.0..=plan::MAX_KERNEL as f32).contains(&length) && length % 2.0 == 1.0 && length as u32 / 2 < edge
    };
    let sound = match layer.filter {
        filter::SHARPNESS => first.is_finite(),
        filter::GAUSSIAN => {
            fits(first, layer.clip.width)
                && fits(second, layer.clip.height)
                && [x, y].iter().all(|sigma| sigma.is_finite() && *sigma > 0.0)
        }
        _ => false,
    };
    if sound { Ok(()) } else { bug("a filter that the CUDA renderer does not know") }
}

fn steps(plan: &Plan, span: Span) -> Result<(), Cause> {
    for one in part(&plan.steps, span)? {
        // A turn beyond the circle has no sextant, and what is not a number none either.
        let most = if one.op == step::HUE { 1.0 } else { f32::MAX };
        // The kernels look levels up: a level must stay one.
        let posterized = one.args[0] >= 1.0 && (0.0..=1.0).contains(&(one.args[0] * one.args[1]));
        // A hue beyond the circle, or a negative factor, gives no level either.
        let turned = one.op != step::HSV
            || ((30.0..210.0).contains(&one.args[0]) && one.args[1..3].iter().all(|factor| *factor >= 0.0));
        let sound = turned && (one.op != step::POSTERIZE || posterized);
        if !(one.op <= step::HSV && one.args[0].abs() <= most && one.args[1].is_finite() && sound) {
            return bug("a colour step that the CUDA renderer does not know");
        }
        let measured = plan.stats.get(one.stat as usize).map(|stat| stat.kind);
        // A contrast without a mean has 0; a table must be there.
        let lacks = step::measures(one.op) == Some(stat::HISTOGRAM) && one.stat == NONE;
        if lacks || (one.stat != NONE && (measured.is_none() || measured != step::measures(one.op))) {
            return bug("a colour step waits for a statistic that is not there");
        }
    }
    Ok(())
}

fn size(size: Size) -> Result<(), Cause> {
    let fits = |edge: u32| (1..=MAX_EDGE).contains(&edge);
    match fits(size.width) && fits(size.height) {
        true => Ok(()),
        false => bug("a size that no image may have"),
    }
}

/// The part of one of the plan's arrays that a span names.
fn part<T>(array: &[T], span: Span) -> Result<&[T], Cause> {
    let end = u64::from(span.start) + u64::from(span.len);
    if end > array.len() as u64 {
        return bug("a part of the plan lies outside of it");
    }
    Ok(&array[span.range()])
}

fn bug<T>(what: &str) -> Result<T, Cause> {
    Err(format!("{what}: a bug, please report it with the recipe").into())
}
