//! YoloCutMix: a rectangle of another sample, with the objects that are seen in it.

use super::CutMix;
use super::prelude::*;

/// Shows a rectangle of a partner, with probability `p` (Ultralytics' `CutMix`).
///
/// The rectangle is that of [`CutMix::cut`] with lambda from Beta(32, 32): half of each edge is about a third of the
/// sample's. [`Draft::patch`] documents what becomes of the objects of both. An empty rectangle changes nothing. Draws:
/// whether to cut; the partner; lambda; the column and the row of the rectangle's centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct YoloCutMix {
    /// Probability of a mix, from 0 to 1.
    pub p: f32,
}

impl YoloCutMix {
    /// Mixes with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }

    /// The rectangle in a sample of size `of`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Rect {
        CutMix::new(32.0).make_params(of, rng).0
    }
}

impl Augment for YoloCutMix {
    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    fn partners(&self) -> usize {
        usize::from(self.p > 0.0)
    }

    fn wants_partners(&self, rng: &mut dyn Draws) -> bool {
        rng.applies(self.p)
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        for partner in partners {
            let window = self.make_params(draft.size(), rng);
            if !window.is_empty() {
                draft.attempt(|draft| draft.patch(partner, window));
            }
        }
    }
}
