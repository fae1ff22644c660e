//! Layers of which each row can be made by itself.
//!
//! An input of such layers needs no canvas: a row is laid, and finished while it is in the processor's first cache.

use super::{Scene, as_stored, put_row, stored_view};
use crate::device::cpu::gather::Gather;
use crate::device::cpu::image_view::ImageView;
use crate::device::roi;
use crate::error::Cause;
use crate::geometry::Size;
use crate::plan::{Content, Layer, Method, Plan, Sampled};
use crate::simd::Level;

/// The layers of one input, the lowest first.
pub(super) struct RowLayers<'a> {
    plan: &'a Plan,
    layers: Vec<(&'a Layer, Maker<'a>)>,
    /// Whether the lowest leaves pixels of the canvas as they are.
    starts_black: bool,
}

/// What makes a layer's rows.
enum Maker<'a> {
    Solid([u8; 3]),
    Warp(Box<Gather<'a>>),
}

impl<'a> RowLayers<'a> {
    /// The layers of an input of this size; `None` where one of them is resampled in two passes, turned or changed first.
    ///
    /// # Errors
    /// When an image does not hold what the plan reads.
    pub(super) fn of(scene: Scene<'a>, size: Size, layers: &'a [Layer]) -> Result<Option<Self>, Cause> {
        let lowest = layers.first();
        let starts_black = !lowest.is_some_and(|it| it.window == size.rect() && it.fills_window());
        let mut made = Vec::with_capacity(layers.len());
        for layer in layers {
            let maker = match &layer.content {
                Content::Solid(rgb) => Maker::Solid(*rgb),
                Content::Sampled(sampled @ Sampled { method: Method::Warp(warp), .. })
                    if as_stored(sampled) =>
                {
                    let taps = roi::taps_of(layer.window, sampled);
                    let view = match taps.is_empty() {
                        true => ImageView::default(),
                        false => stored_view(scene, sampled, taps)?,
                    };
                    Maker::Warp(Box::new(Gather::new((layer.window, sampled, warp), view, taps)))
                }
                Content::Sampled(_) => return Ok(None),
            };
            made.push((layer, maker));
        }
        Ok(Some(Self { plan: scene.plan, layers: made, starts_black }))
    }

    /// Lays row `y` of the canvas on `line`; `own` is memory for a layer's row.
    pub(super) fn lay(&mut self, y: usize, line: &mut [u8], own: &mut Vec<u8>, level: Level) {
        if self.starts_black {
            line.fill(0);
        }
        for (layer, maker) in &mut self.layers {
            let window = layer.window;
            let Some(y) = y.checked_sub(window.y as usize).filter(|&y| y < window.height as usize) else {
                continue;
            };
            match maker {
                Maker::Solid(rgb) => lay_solid(*rgb, (self.plan, layer), y, line),
                Maker::Warp(gather) => lay_warp(gather, (self.plan, layer), y, (line, own), level),
            }
        }
    }
}

/// Lays row `y` of a window of one colour on a row of the canvas.
fn lay_solid(rgb: [u8; 3], (plan, layer): (&Plan, &Layer), y: usize, line: &mut [u8]) {
    let (left, width) = (layer.window.x as usize, layer.window.width as usize);
    let pixels = line.as_chunks_mut::<3>().0;
    match plan.runs_of(layer, y) {
        None => pixels[left..][..width].fill(rgb),
        Some(runs) => runs.iter().for_each(|run| pixels[run.start as usize..][..run.len as usize].fill(rgb)),
    }
}

/// Lays row `y` of a warped layer's window on a row of the canvas; `own` is memory for the layer's row.
pub(super) fn lay_warp(
    gather: &mut Gather<'_>,
    (plan, layer): (&Plan, &Layer),
    y: usize,
    (line, own): (&mut [u8], &mut Vec<u8>),
    level: Level,
) {
    let left = layer.window.x as usize;
    let shown = &mut line[left * 3..][..layer.window.width as usize * 3];
    match plan.runs_of(layer, y) {
        None => gather.row(y, shown, level),
        Some([]) => {}
        // What the warp does not cover stays as it is, inside the mask as well.
        runs => {
            own.clear();
            own.extend_from_slice(shown);
            gather.row(y, own, level);
            put_row(line, left, own, runs);
        }
    }
}
