//! Parts of one canvas laid onto another, inside outlines: what copy-paste is made of.
//!
//! The layers of the one are added to those of the other, each with the outlines that it is seen in; so a map that
//! follows folds them as well, and every image is still sampled once.

use super::flip::Flip;
use super::layer::{DraftInput, DraftLayer};
use super::mask::{self, Polygon};
use super::{Draft, MAX_EDGE};
use crate::error::{Error, bail, ensure};
use crate::geometry::{Rect, Size};
use crate::plan::Span;
use crate::plan::label_ops::{LabelOp, LabelOpKind};

impl Draft {
    pub(super) fn paste_mirrored(&mut self, polygons: &[Polygon], objects: &[u32]) -> Result<(), Error> {
        let near = |at: &f64| at.abs() <= f64::from(2 * MAX_EDGE);
        ensure!(
            polygons.iter().flatten().flatten().all(near),
            "paste_mirrored: the points of polygons must be within {} pixels of the corner",
            2 * MAX_EDGE
        );
        self.prepare_pasting()?;
        let size = self.canvas.size;
        let mut mirrored = self.canvas.inputs[0].clone();
        mirrored.mirror(Flip::LeftRight, size);
        self.canvas.inputs[0].layers.extend(inside(mirrored, polygons, size));
        for &object in objects {
            self.relabel(LabelOpKind::PasteMirrored { object, width: f64::from(size.width) });
        }
        Ok(())
    }

    /// Lays `other` onto this draft where the objects of these numbers, of its [`Draft::objects`], have their outlines.
    ///
    /// Both canvases must have one size. The objects become this draft's, the other's other objects do not; in the
    /// sample's class the other counts nothing.
    ///
    /// # Errors
    /// The first error of `other`, or [`Error::Config`] where the sizes differ or one is finished already.
    pub fn paste(&mut self, mut other: Draft, objects: &[usize]) -> Result<(), Error> {
        if let Some(error) = other.error.take() {
            return Err(error);
        }
        ensure!(
            self.size() == other.size(),
            "a sample of {} cannot be pasted onto one of {}: put a crop or a resize ahead of the pasting",
            other.size(),
            self.size()
        );
        self.prepare_pasting()?;
        other.prepare_pasting()?;
        let seen = other.objects();
        let chosen = |(number, _): &(usize, _)| objects.contains(number);
        let (pasted, left): (Vec<_>, Vec<_>) = seen.into_iter().enumerate().partition(chosen);
        let polygons: Vec<Polygon> = pasted.into_iter().flat_map(|(_, object)| object.polygons).collect();
        let (size, own) = (self.canvas.size, self.images.len() as u32);
        let mut canvas = self.adopt(other, 0.0)?;
        let images = Span { start: own, len: self.images.len() as u32 - own };
        // The last one first, so that the numbers of the others stay.
        let drops = left.iter().rev().map(|(number, _)| LabelOpKind::Drop(*number as u32));
        self.label_ops.extend(drops.map(|kind| LabelOp { images, kind }));
        let input = canvas.inputs.swap_remove(0);
        self.canvas.inputs[0].layers.extend(inside(input, &polygons, size));
        Ok(())
    }

    /// Makes one input of plain layers of what there is, none of which is seen inside outlines yet.
    fn prepare_pasting(&mut self) -> Result<(), Error> {
        if let Some(last) = self.finished_by() {
            bail!(
                "nothing can be pasted after {last}, which works on the finished sample: move {last} to the end"
            );
        }
        let outlined = |input: &DraftInput| input.layers.iter().any(|drawn| !drawn.mask.is_empty());
        match self.canvas.inputs.as_slice() {
            [only] if !self.canvas.has_steps() && !outlined(only) => Ok(()),
            _ => self.flush_pass(),
        }
    }
}

/// The layers of an input as far as they are seen inside the outlines.
fn inside(mut input: DraftInput, polygons: &[Polygon], size: Size) -> Vec<DraftLayer> {
    let canvas = size.rect();
    if !input.layers.first().is_some_and(|lowest| lowest.covers(canvas)) {
        // What no layer covers is black.
        input.layers.insert(0, DraftLayer::solid(canvas, [0; 3]));
    }
    let layers = &input.layers;
    let areas: Vec<(&Polygon, Rect)> =
        polygons.iter().map(|polygon| (polygon, mask::pixels_of(polygon, canvas))).collect();
    let seen = |(at, drawn): (usize, &DraftLayer)| {
        let is_seen = |area: Rect| {
            let hidden = layers[at + 1..].iter().any(|above| above.covers(area));
            !area.intersect(drawn.layer.window).is_empty() && !hidden
        };
        let of_layer = areas.iter().filter(|(_, area)| is_seen(*area));
        let mask: Vec<Polygon> = of_layer.map(|(polygon, _)| (*polygon).clone()).collect();
        (!mask.is_empty()).then(|| DraftLayer { mask, ..drawn.clone() })
    };
    layers.iter().enumerate().filter_map(seen).collect()
}
