//! Laying one draft over another: what MixUp, CutMix and their kin are made of.

use super::{Draft, DraftPicture, DraftStage};
use crate::error::Error;
use crate::geometry::Rect;
use crate::plan::moves::{How, Keep, Move};
use crate::plan::{LabelShare, LayerSource, Span};

impl Draft {
    /// Lays `other` over this draft: acc = acc * (1 - share) + other * share inside `window`.
    ///
    /// Both canvases must have one size. `label_share` is the weight of the other's label in the sum.
    /// The objects of both stay, and weigh as much as their labels.
    pub fn blend(&mut self, other: Draft, share: f32, window: Rect, label_share: f32) -> Result<(), Error> {
        let own = self.images.len() as u32;
        self.lay(other, share, window, label_share)?;
        let all = self.images.len() as u32;
        for (start, end, share) in [(0, own, 1.0 - label_share), (own, all, label_share)] {
            self.moves.push(Move { images: Span { start, len: end - start }, how: How::Weigh(share) });
        }
        Ok(())
    }

    /// Shows `window` of `other`, with the objects that are seen there; all of them count in full.
    ///
    /// Both canvases must have one size. Of this draft's objects, those whose box lies under the window by nine tenths or
    /// more are dropped; boxes and outlines of the others lose what lies under it (a box only where a whole side of it
    /// does), and keypoints there are no longer visible. The other's objects are cut to the window. Of both, what is left
    /// must pass for a box candidate of [`Keep::Candidates`], compared with what there was. In the sample's class each
    /// counts as much as it has of the area.
    ///
    /// # Errors
    /// The first error of `other`, or [`Error::Config`] where the sizes differ.
    pub fn patch(&mut self, mut other: Draft, window: Rect) -> Result<(), Error> {
        let window = window.intersect(self.size().rect());
        let part = window.size().pixels() as f64 / self.size().pixels() as f64;
        let left =
            Keep::Candidates { size: 2.0, aspect: 100.0, area: 0.1, area_of_polygons: 0.01, scale: 1.0 };
        let beside = Keep::Beside { window, part: 0.1 };
        for how in [How::Mark, How::Keep(beside), How::Hide(window), How::Rebox, How::Keep(left)] {
            self.record(how);
        }
        for how in [How::Mark, How::Clip(window), How::Rebox, How::Keep(left)] {
            other.record(how);
        }
        self.lay(other, 1.0, window, part as f32)
    }

    /// Lays `other` over this draft, without a word about the objects.
    fn lay(&mut self, other: Draft, share: f32, window: Rect, label_share: f32) -> Result<(), Error> {
        if self.size() != other.size() {
            return Err(Error::config(format!(
                "a sample of {} cannot be mixed with one of {}: put a crop or a resize ahead of the mix",
                self.size(),
                other.size()
            )));
        }
        if let Some(error) = other.error {
            return Err(error);
        }
        if !self.canvas.steps.is_empty() {
            self.seal()?;
        }
        let canvas = self.adopt(other, label_share)?;
        let shares = nested_shares(&canvas.pictures, share);
        for (picture, share) in canvas.pictures.into_iter().zip(shares) {
            let window = picture.window.intersect(window);
            self.canvas.pictures.push(DraftPicture { window, share, ..picture });
        }
        Ok(())
    }

    /// Takes over the other's images, stages and labels; returns its canvas with the indices moved.
    pub(super) fn adopt(&mut self, mut other: Draft, label_share: f32) -> Result<DraftStage, Error> {
        let whole = other.canvas.size.rect();
        let overlaid = other.canvas.pictures.iter().any(|picture| picture.window != whole);
        if !other.canvas.steps.is_empty() || overlaid {
            // Shares of pictures with different windows do not nest: what they make together becomes one image.
            other.seal()?;
        }
        let (images, stages) = (self.images.len() as u32, self.sealed.len() as u32);
        let renumber = |stage: &mut DraftStage| {
            for layer in stage.pictures.iter_mut().flat_map(|picture| &mut picture.layers) {
                match layer.layer.sampled_mut().map(|sampled| &mut sampled.from) {
                    Some(LayerSource::Image(image)) => *image += images,
                    Some(LayerSource::Stage(stage)) => *stage += stages,
                    None => {}
                }
            }
        };
        other.sealed.iter_mut().chain([&mut other.canvas]).for_each(renumber);
        for moved in &mut other.moves {
            moved.images.start += images;
        }
        self.images.append(&mut other.images);
        self.objects.append(&mut other.objects);
        self.moves.append(&mut other.moves);
        self.sealed.append(&mut other.sealed);
        self.labels.iter_mut().for_each(|label| label.share *= 1.0 - label_share);
        self.labels.extend(
            other.labels.iter().map(|l| LabelShare { image: l.image + images, share: l.share * label_share }),
        );
        Ok(other.canvas)
    }
}

/// The shares with which pictures that are already laid over each other are laid over a third in turn.
///
/// The first is laid with share 1 on its own canvas; seen from the last one down, each keeps its part of the total.
fn nested_shares(pictures: &[DraftPicture], total: f32) -> Vec<f32> {
    let mut below = total;
    let mut shares: Vec<f32> = Vec::with_capacity(pictures.len());
    for picture in pictures.iter().rev() {
        // `below` is what the pictures up to this one weigh together, once later ones have been laid.
        let own = below * picture.share;
        shares.push(own);
        below = if own < 1.0 { (below - own) / (1.0 - own) } else { 0.0 };
    }
    shares.reverse();
    shares
}
