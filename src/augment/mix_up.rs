//! MixUp: two samples and their classes, blended in a drawn proportion.

use super::mixing::{Mixing, Partner, RngScope};
use super::prelude::*;
use crate::rng::beta;

/// Blends the sample with the previous one in the window: image and label are lambda of this one and 1 - lambda of the
/// other (torchvision's `MixUp`, with the window of partners in place of the batch).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MixUp {
    /// Lambda is drawn from Beta(alpha, alpha), once per window; from 0.0001 to 10000.
    pub alpha: f64,
}

impl Default for MixUp {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl MixUp {
    /// Mixes with lambda from Beta(`alpha`, `alpha`).
    pub fn new(alpha: f64) -> Self {
        Self { alpha }
    }

    /// Lambda, the sample's own weight.
    pub fn make_params(&self, rng: &mut dyn Draws) -> f64 {
        beta(rng, self.alpha, self.alpha)
    }
}

/// What torchvision does to each batch.
pub(super) const ROLLED: Mixing = Mixing { partner: Partner::Previous, rng: RngScope::Window };

/// Blends `partner` over the whole draft, whose image and class keep the weight `lambda`.
pub(super) fn mix(draft: &mut Draft, partner: Draft, lambda: f64) {
    let (weight, window) = ((1.0 - lambda) as f32, draft.size().rect());
    draft.attempt(|draft| draft.blend(partner, weight, window, weight));
}

impl Augment for MixUp {
    fn check(&self) -> Result<()> {
        check::alpha(self.name(), "alpha", self.alpha)
    }

    fn partners(&self) -> usize {
        1
    }

    fn mixing(&self) -> Mixing {
        ROLLED
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        let lambda = self.make_params(rng);
        partners.into_iter().for_each(|partner| mix(draft, partner, lambda));
    }
}
