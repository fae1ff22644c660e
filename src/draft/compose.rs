//! Several drafts side by side on one canvas: what a mosaic is made of.

use super::op::Fill;
use super::ops::check_size;
use super::{Draft, DraftInput, DraftLayer, DraftPass, MAX_EDGE};
use crate::error::{Error, bail};
use crate::geometry::{Rect, Size};
use crate::plan::label_ops::{LabelOpKind, ObjectFilter};

/// A draft that is laid onto a canvas.
#[derive(Debug)]
pub struct Tile {
    /// What is laid.
    pub draft: Draft,
    /// The canvas's column and row on which its left top corner comes to lie; may be outside.
    pub at: [i32; 2],
}

impl Draft {
    /// A new canvas of `size` in one colour, onto which this draft is laid at `at` and then `others`, each cut at the
    /// canvas's edge. Later ones lie over earlier ones.
    ///
    /// Their images, passes and labels become this draft's; labels move and are cut with their pixels, and boxes of
    /// which nothing is left are dropped. In the sample's class each counts the same.
    ///
    /// # Errors
    /// The first error of a draft, or [`Error::Config`] where one is finished already or lies too far outside.
    pub fn compose(&mut self, size: Size, fill: Fill, at: [i32; 2], others: Vec<Tile>) -> Result<(), Error> {
        check_size("compose", size)?;
        let mut layers = vec![DraftLayer::solid(size.rect(), fill.rgb())];
        self.prepare_tile(size, at)?;
        let own =
            std::mem::replace(&mut self.canvas, DraftPass { size, inputs: Vec::new(), steps: Vec::new() });
        layers.extend(placed(own, size, at));
        for (before, Tile { mut draft, at }) in (1u16..).zip(others) {
            draft.prepare_tile(size, at)?;
            let canvas = self.adopt(draft, 1.0 / f32::from(before + 1))?;
            layers.extend(placed(canvas, size, at));
        }
        self.canvas.inputs.push(DraftInput::whole(size, layers));
        self.relabel(LabelOpKind::Keep(ObjectFilter::Visible { min_area: 0.0, min_visibility: 0.0 }));
        self.composed = true;
        Ok(())
    }

    /// Whether several samples lie side by side on the canvas.
    pub fn is_composed(&self) -> bool {
        self.composed
    }

    /// Makes one input of plain layers of what there is, and moves its labels to where it will be laid.
    fn prepare_tile(&mut self, canvas: Size, at: [i32; 2]) -> Result<(), Error> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Some(last) = self.finished_by() {
            bail!(
                "a sample cannot be laid on a canvas after {last}, which works on the finished sample: move {last} to \
                 the end"
            );
        }
        if at.iter().any(|edge| edge.unsigned_abs() > MAX_EDGE) {
            bail!("a tile at {at:?} lies more than {MAX_EDGE} pixels outside");
        }
        if self.canvas.has_steps() || self.canvas.inputs.len() > 1 || self.shows_shrunk() {
            self.flush_pass()?;
        }
        let [x, y] = at.map(f64::from);
        self.relabel(LabelOpKind::Map([1.0, 0.0, x, 0.0, 1.0, y, 0.0, 0.0, 1.0]));
        self.relabel(LabelOpKind::Clip(canvas.rect()));
        Ok(())
    }
}

/// The layers of a prepared tile where they come to lie on the canvas.
fn placed(tile: DraftPass, canvas: Size, [x, y]: [i32; 2]) -> Vec<DraftLayer> {
    let whole = tile.size.rect();
    let shown = whole.shifted(x, y).intersect(canvas.rect());
    let mut layers = Vec::new();
    for mut input in tile.inputs {
        // What no layer of an input covers is black.
        if !input.layers.first().is_some_and(|lowest| lowest.covers(whole)) && !shown.is_empty() {
            layers.push(DraftLayer::solid(shown, [0; 3]));
        }
        input.crop(Rect::new(-x, -y, canvas.width, canvas.height));
        layers.append(&mut input.layers);
    }
    layers
}
