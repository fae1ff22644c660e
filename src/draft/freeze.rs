//! From a draft to its plan: spans, statistics in order, bounds checked.

use super::{Draft, DraftInput, DraftLayer, DraftPass, DraftStep, MAX_CANVAS_PIXELS, mask};
use crate::error::{Error, bail, ensure};
use crate::geometry::{Rect, Size};
use crate::plan::{
    self, BlendInput, Content, Layer, MAX_RUNS, Measured, Method, Pass, Plan, Sampled, Span, Stat, Step,
};

impl Draft {
    /// Turns the draft into plain data, or returns the first error met on the way.
    pub fn freeze(mut self) -> Result<Plan, Error> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Self { images, labels, label_ops, unpadded, weights, distortions, shrunk, .. } = self;
        let mut plan =
            Plan { images, labels, label_ops, unpadded, weights, distortions, shrunk, ..Plan::default() };
        for pass in self.flushed.iter().chain([&self.canvas]) {
            check_canvas(pass)?;
            let before = plan.stats.len();
            freeze_pass(&mut plan, pass)?;
            check_count("a pass of a sample", "statistics", plan.stats.len() - before, plan::MAX_STATS)?;
        }
        check_bounds(&plan)?;
        Ok(plan)
    }
}

/// Refuses what no device has the memory for, before one asks for it: running out of memory ends the process.
fn check_canvas(pass: &DraftPass) -> Result<(), Error> {
    let layers = pass.inputs.iter().flat_map(|input| &input.layers);
    // Rows are resampled before columns, so source rows as wide as the window lie between the passes.
    let between =
        layers.filter(|drawn| !drawn.is_copy()).filter_map(|drawn| match drawn.layer.sampled()? {
            Sampled { method: Method::Upright(_), clip, .. } => {
                Some(Size::new(drawn.layer.window.width, clip.height))
            }
            _ => None,
        });
    if let Some(size) = between.chain([pass.size]).find(|size| size.pixels() > MAX_CANVAS_PIXELS) {
        bail!(
            "a canvas of {size} has more than {MAX_CANVAS_PIXELS} pixels: resize or pad to less, or crop first"
        );
    }
    Ok(())
}

fn freeze_pass(plan: &mut Plan, pass: &DraftPass) -> Result<(), Error> {
    let first_input = plan.inputs.len() as u32;
    // The layers of one pass stand together.
    let layers = pass.inputs.iter().map(|input| freeze_layers(plan, input));
    let layers = layers.collect::<Result<Vec<Span>, Error>>()?;
    for (input, layers) in pass.inputs.iter().zip(layers) {
        let steps = freeze_steps(plan, &input.steps, Measured::BlendInput(plan.inputs.len() as u32));
        let erases = Span { start: plan.erases.len() as u32, len: input.erases.len() as u32 };
        plan.erases.extend_from_slice(&input.erases);
        let DraftInput { window, weight, mode, .. } = *input;
        plan.inputs.push(BlendInput { window, layers, steps, erases, weight, mode });
    }
    let inputs = Span { start: first_input, len: pass.inputs.len() as u32 };
    let steps = freeze_steps(plan, &pass.steps, Measured::Pass(plan.passes.len() as u32));
    plan.passes.push(Pass { size: pass.size, inputs, steps });
    Ok(())
}

fn freeze_layers(plan: &mut Plan, input: &DraftInput) -> Result<Span, Error> {
    let start = plan.layers.len() as u32;
    for drawn in &input.layers {
        if drawn.mask.is_empty() {
            freeze_layer(plan, drawn, None);
        } else if let Some(shown) = shown_inside(drawn) {
            let mask = freeze_mask(plan, &shown)?;
            freeze_layer(plan, &shown, Some(mask));
        }
    }
    Ok(Span { start, len: plan.layers.len() as u32 - start })
}

fn freeze_layer(plan: &mut Plan, drawn: &DraftLayer, mask: Option<u32>) {
    let content = match drawn.layer.content {
        Content::Solid(rgb) => Content::Solid(rgb),
        Content::Sampled(sampled) => {
            let steps = freeze_steps(plan, &drawn.steps, Measured::Layer(plan.layers.len() as u32));
            Content::Sampled(Sampled { steps, ..sampled })
        }
    };
    plan.layers.push(Layer { mask, content, ..drawn.layer });
}

/// The layer with no more of its window than its outlines need; `None` where that is nothing.
fn shown_inside(drawn: &DraftLayer) -> Option<DraftLayer> {
    let window = drawn.layer.window;
    let areas = drawn.mask.iter().map(|polygon| mask::pixels_of(polygon, window));
    let hull = areas.filter(|area| !area.is_empty()).reduce(Rect::hull)?;
    let mut shown = drawn.clone();
    shown.cut(hull);
    Some(shown)
}

/// Appends the runs of the layer's outlines; returns the index of their first row.
fn freeze_mask(plan: &mut Plan, drawn: &DraftLayer) -> Result<u32, Error> {
    let (first, window) = (plan.mask_rows.len() as u32, drawn.layer.window);
    let crossings = mask::crossings(&drawn.mask, window);
    if plan.runs.len() + crossings / 2 > MAX_RUNS {
        bail!(
            "the outlines of what is pasted cross a sample's rows more than {MAX_RUNS} times: give outlines fewer \
             points"
        );
    }
    for runs in mask::rows(&drawn.mask, window) {
        plan.mask_rows.push(Span { start: plan.runs.len() as u32, len: runs.len() as u32 });
        plan.runs.extend(runs);
    }
    Ok(first)
}

/// Appends steps, and a statistic for each that needs one, measured after the steps before it.
fn freeze_steps(plan: &mut Plan, steps: &[DraftStep], of: Measured) -> Span {
    let start = plan.steps.len() as u32;
    for (position, DraftStep { step, measured }) in steps.iter().enumerate() {
        let ahead = Span { start, len: position as u32 };
        let stat = measured.zip(step.op.statistic()).map(|(rect, kind)| {
            plan.stats.push(Stat { kind, of, rect, steps: ahead });
            plan.stats.len() as u32 - 1
        });
        plan.steps.push(Step { stat, ..*step });
    }
    Span { start, len: steps.len() as u32 }
}

fn check_bounds(plan: &Plan) -> Result<(), Error> {
    for (what, have, most) in [
        ("images", plan.images.len(), plan::MAX_IMAGES),
        ("passes", plan.passes.len(), plan::MAX_PASSES),
        ("layers", plan.layers.len(), plan::MAX_LAYERS),
        ("colour steps", plan.steps.len(), plan::MAX_STEPS),
        ("erased rectangles", plan.erases.len(), plan::MAX_ERASES),
    ] {
        check_count("a sample", what, have, most)?;
    }
    Ok(())
}

fn check_count(of: &str, what: &str, have: usize, most: usize) -> Result<(), Error> {
    ensure!(have <= most, "{of} needs {have} {what} and may have {most}: use fewer augmentations");
    Ok(())
}
