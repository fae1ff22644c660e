//! Laying one draft over another: what MixUp, CutMix and their kin are made of.

use super::{Draft, DraftInput, DraftPass};
use crate::error::{Error, ensure};
use crate::geometry::Rect;
use crate::plan::label_ops::{LabelOp, LabelOpKind, ObjectFilter};
use crate::plan::{CanvasFilter, LabelShare, LayerSource, Method, Span};

impl Draft {
    /// Lays `other` over this draft: acc = acc * (1 - weight) + other * weight inside `window`.
    ///
    /// Both canvases must have one size. `label_share` is the weight of the other's label in the sum.
    /// The objects of both stay, and weigh as much as their labels.
    pub fn blend(&mut self, other: Draft, weight: f32, window: Rect, label_share: f32) -> Result<(), Error> {
        let own = self.images.len() as u32;
        self.lay(other, weight, window, label_share)?;
        let all = self.images.len() as u32;
        for (start, end, share) in [(0, own, 1.0 - label_share), (own, all, label_share)] {
            self.label_ops
                .push(LabelOp { images: Span { start, len: end - start }, kind: LabelOpKind::Weigh(share) });
        }
        Ok(())
    }

    /// Shows `window` of `other`, with the objects that are seen there; all of them count in full.
    ///
    /// Both canvases must have one size. Of this draft's objects, those whose box lies under the window by nine tenths or
    /// more are dropped; boxes and outlines of the others lose what lies under it (a box only where a whole side of it
    /// does), and keypoints there are no longer visible. The other's objects are cut to the window. Of both, what is left
    /// must pass for a box candidate of [`ObjectFilter::Candidates`], compared with what there was. In the sample's class each
    /// counts as much as it has of the area.
    ///
    /// # Errors
    /// The first error of `other`, or [`Error::Config`] where the sizes differ.
    pub fn patch(&mut self, mut other: Draft, window: Rect) -> Result<(), Error> {
        let window = window.intersect(self.size().rect());
        let part = window.size().pixels() as f64 / self.size().pixels() as f64;
        let left = LabelOpKind::Keep(ObjectFilter::candidates(1.0));
        let beside = LabelOpKind::Keep(ObjectFilter::Beside { window, part: 0.1 });
        let (mark, rebox) = (LabelOpKind::Mark, LabelOpKind::Rebox);
        for kind in [mark, beside, LabelOpKind::Hide(window), rebox, left] {
            self.relabel(kind);
        }
        for kind in [mark, LabelOpKind::Clip(window), rebox, left] {
            other.relabel(kind);
        }
        self.lay(other, 1.0, window, part as f32)
    }

    /// Lays `other` over this draft, and leaves the objects as they are.
    fn lay(&mut self, other: Draft, weight: f32, window: Rect, label_share: f32) -> Result<(), Error> {
        ensure!(
            self.size() == other.size(),
            "a sample of {} cannot be mixed with one of {}: put a crop or a resize ahead of the mix",
            self.size(),
            other.size()
        );
        if let Some(error) = other.error {
            return Err(error);
        }
        if !self.canvas.steps.is_empty() {
            self.flush_pass()?;
        }
        let canvas = self.adopt(other, label_share)?;
        let weights = nested_weights(&canvas.inputs, weight);
        for (input, weight) in canvas.inputs.into_iter().zip(weights) {
            let window = input.window.intersect(window);
            self.canvas.inputs.push(DraftInput { window, weight, ..input });
        }
        Ok(())
    }

    /// Takes over the other's images, passes and labels; returns its canvas with the indices moved.
    pub(super) fn adopt(&mut self, mut other: Draft, label_share: f32) -> Result<DraftPass, Error> {
        let whole = other.canvas.size.rect();
        let overlaid = other.canvas.inputs.iter().any(|input| input.window != whole);
        if !other.canvas.steps.is_empty() || overlaid {
            // Weights of inputs with different windows do not nest: what they make together becomes one image.
            other.flush_pass()?;
        }
        let (images, passes) = (self.images.len() as u32, self.flushed.len() as u32);
        let (weights, distortions) = (self.weights.len() as u32, self.distortions.len() as u32);
        let renumber = |pass: &mut DraftPass| {
            let layers = pass.inputs.iter_mut().flat_map(|input| &mut input.layers);
            for sampled in layers.filter_map(|layer| layer.layer.sampled_mut()) {
                match &mut sampled.from {
                    LayerSource::Image(image) => *image += images,
                    LayerSource::Pass(pass) => *pass += passes,
                }
                match &mut sampled.method {
                    Method::Filtered(CanvasFilter::Kernel { weights: first, .. }) => *first += weights,
                    Method::Filtered(CanvasFilter::Distort { distortion, .. }) => *distortion += distortions,
                    _ => {}
                }
            }
        };
        other.flushed.iter_mut().chain([&mut other.canvas]).for_each(renumber);
        for moved in &mut other.label_ops {
            moved.images.start += images;
            if let LabelOpKind::Distort(distortion) = &mut moved.kind {
                *distortion += distortions;
            }
        }
        self.images.append(&mut other.images);
        self.weights.append(&mut other.weights);
        self.distortions.append(&mut other.distortions);
        self.objects.append(&mut other.objects);
        self.label_ops.append(&mut other.label_ops);
        self.flushed.append(&mut other.flushed);
        self.shrunk.extend(other.shrunk.iter().map(|pass| pass + passes));
        self.labels.iter_mut().for_each(|label| label.share *= 1.0 - label_share);
        self.labels.extend(
            other.labels.iter().map(|l| LabelShare { image: l.image + images, share: l.share * label_share }),
        );
        Ok(other.canvas)
    }
}

/// The weights with which inputs that are already laid over each other are laid over a third in turn.
///
/// The first is laid with weight 1 on its own canvas; seen from the last one down, each keeps its part of the total.
fn nested_weights(inputs: &[DraftInput], total: f32) -> Vec<f32> {
    let mut below = total;
    let mut weights: Vec<f32> = Vec::with_capacity(inputs.len());
    for input in inputs.iter().rev() {
        // `below` is what the inputs up to this one weigh together, once later ones have been laid.
        let own = below * input.weight;
        weights.push(own);
        below = if own < 1.0 { (below - own) / (1.0 - own) } else { 0.0 };
    }
    weights.reverse();
    weights
}
