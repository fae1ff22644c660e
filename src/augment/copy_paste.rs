//! CopyPaste: more objects on a sample, taken from itself or from a partner.

use super::prelude::*;
use crate::plan::label_apply::TransformedObject;

/// The largest fraction of an object's box that a pasted object may cover.
const MOST_COVERED: f64 = 0.3;

/// Pastes objects along their outlines, each with probability `p` (Ultralytics' `CopyPaste`): in mode `flip` those of
/// the sample itself, mirrored left to right, in mode `mixup` those of a partner.
///
/// An object is pasted only if its box covers at most 30 % of the box of every object that is already there. Objects
/// without an outline, and crowds, are never pasted. A pasted object brings its own box, outline and keypoints. A
/// partner of another size is centred on the sample. List it before [`super::YoloPerspective`]; it is left out of the
/// same last epochs as mosaics.
///
/// Draws: the partner; then one number for each object that can be pasted, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CopyPaste {
    /// Probability that an object is pasted, from 0 to 1.
    pub p: f32,
    /// Which objects are pasted: `flip` for the sample's own, mirrored; `mixup` for a partner's.
    pub mode: CopyPasteMode,
}

/// Which objects are pasted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CopyPasteMode {
    /// The sample's own, mirrored.
    #[default]
    Flip,
    /// A partner's.
    Mixup,
}

impl CopyPaste {
    /// Pastes each object with probability `p`, in mode `flip`.
    pub fn new(p: f32) -> Self {
        Self { p, ..Self::default() }
    }

    setters! {
        /// Sets which objects are pasted.
        mode: CopyPasteMode;
    }

    /// The indices of the candidates that are pasted onto a canvas with `boxes` (left, top, right, bottom).
    pub fn make_params(
        &self,
        candidates: &[TransformedObject],
        boxes: &[[f64; 4]],
        rng: &mut dyn Draws,
    ) -> Vec<usize> {
        let fits = |seen: &TransformedObject| {
            let covers_little = |other: &[f64; 4]| common(seen.bbox, *other) <= MOST_COVERED * area(*other);
            let outlined = !seen.polygons.is_empty() && !seen.crowd && area(seen.bbox) > 0.0;
            outlined && boxes.iter().all(covers_little)
        };
        let can_be = (0..candidates.len()).filter(|&number| fits(&candidates[number]));
        can_be.filter(|_| rng.chance(self.p)).collect()
    }

    fn paste_mirrored(self, draft: &mut Draft, rng: &mut dyn Draws) {
        let mut seen = draft.objects();
        let boxes: Vec<[f64; 4]> = seen.iter().map(|seen| seen.bbox).collect();
        let width = f64::from(draft.size().width);
        for object in &mut seen {
            let [left, top, right, bottom] = object.bbox;
            object.bbox = [width - right, top, width - left, bottom];
            object.polygons.iter_mut().flatten().for_each(|point| point[0] = width - point[0]);
        }
        let chosen = self.make_params(&seen, &boxes, rng);
        if !chosen.is_empty() {
            let polygons = chosen.iter().flat_map(|&number| seen[number].polygons.clone()).collect();
            let objects = chosen.iter().map(|&number| number as u32).collect();
            draft.apply(Op::PasteMirrored { polygons, objects });
        }
    }

    fn paste(self, draft: &mut Draft, mut partner: Draft, rng: &mut dyn Draws) {
        if partner.size() != draft.size() {
            partner.apply(Op::CenterCrop { output_size: Extent::from(draft.size()) });
        }
        let boxes: Vec<[f64; 4]> = draft.objects().iter().map(|seen| seen.bbox).collect();
        let chosen = self.make_params(&partner.objects(), &boxes, rng);
        if !chosen.is_empty() {
            draft.attempt(|draft| draft.paste(partner, &chosen));
        }
    }
}

fn area([left, top, right, bottom]: [f64; 4]) -> f64 {
    (right - left).max(0.0) * (bottom - top).max(0.0)
}

/// The area that two boxes share.
fn common(a: [f64; 4], b: [f64; 4]) -> f64 {
    area([a[0].max(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].min(b[3])])
}

impl Augment for CopyPaste {
    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn partners(&self) -> usize {
        usize::from(self.p > 0.0 && self.mode == CopyPasteMode::Mixup)
    }

    fn closes(&self) -> bool {
        true
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        match self.mode {
            CopyPasteMode::Flip if self.p > 0.0 => self.paste_mirrored(draft, rng),
            CopyPasteMode::Flip => {}
            CopyPasteMode::Mixup => partners.into_iter().for_each(|partner| self.paste(draft, partner, rng)),
        }
    }
}
