//! Laying one draft over another: what MixUp, CutMix and their kin are made of.

use super::{Draft, DraftPicture, DraftStage};
use crate::error::Error;
use crate::geometry::Rect;
use crate::plan::moves::{How, Move};
use crate::plan::{LabelShare, NONE, STAGE_BIT, Span};

impl Draft {
    /// Lays `other` over this draft: acc = acc * (1 - share) + other * share inside `window`.
    ///
    /// Both canvases must have one size. `label_share` is the weight of the other's label in the sum.
    /// The objects of both stay, and weigh as much as their labels.
    pub fn blend(&mut self, other: Draft, share: f32, window: Rect, label_share: f32) -> Result<(), Error> {
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
        let own = self.images.len() as u32;
        let canvas = self.adopt(other, label_share)?;
        let all = self.images.len() as u32;
        for (start, end, share) in [(0, own, 1.0 - label_share), (own, all, label_share)] {
            self.moves.push(Move { images: Span { start, len: end - start }, how: How::Weigh(share) });
        }
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
                let image = &mut layer.layer.image;
                match *image {
                    NONE => {}
                    staged if staged & STAGE_BIT != 0 => *image += stages,
                    _ => *image += images,
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
