//! YoloCutMix: a rectangle of another sample, with the objects that are seen in it.

use super::{Augment, CutMix, check};
use crate::draft::Draft;
use crate::error::Result;
use crate::geometry::{Rect, Size};
use crate::rng::{Draws, beta};
use serde::{Deserialize, Serialize};

/// Shows a rectangle of a partner, with probability `p` (Ultralytics' `CutMix`).
///
/// The rectangle is [`CutMix::cut`]'s with lambda from Beta(32, 32): half of each edge is about a third of the
/// sample's. [`Draft::patch`] says what becomes of the objects of both. Where no pixel of the rectangle is left, nothing
/// is done. Draws: whether to cut; the partner; lambda; the rectangle's middle as column and row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct YoloCutMix {
    /// Chance of a mix, in 0..=1; Ultralytics' default is 0.
    #[serde(default)]
    pub p: f32,
}

impl YoloCutMix {
    /// Mixes with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }

    /// The rectangle in a sample of size `of`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Rect {
        let lambda = beta(rng, 32.0, 32.0);
        let (x, y) = (rng.below(of.width), rng.below(of.height));
        CutMix::cut(of, lambda, [x, y]).0
    }
}

impl Augment for YoloCutMix {
    fn name(&self) -> &'static str {
        "YoloCutMix"
    }

    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn partners(&self) -> usize {
        usize::from(self.p > 0.0)
    }

    fn wants_partners(&self, rng: &mut dyn Draws) -> bool {
        rng.chance(self.p)
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        for partner in partners {
            let window = self.make_params(draft.size(), rng);
            if window.is_empty() {
                continue;
            }
            if let Err(error) = draft.patch(partner, window) {
                draft.fail(error);
            }
        }
    }
}
