//! YoloMixUp: two samples at about half their brightness each, with the objects of both.

use super::mix_up::{MixUp, mix};
use super::prelude::*;

/// Blends a partner over the sample with a weight of about a half, with probability `p` (Ultralytics' `MixUp`).
///
/// The weight is 1 - r with r drawn from Beta(32, 32). Objects of both are kept. Draws: whether to mix; the partner; r.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct YoloMixUp {
    /// Probability of a mix, from 0 to 1.
    pub p: f32,
}

impl YoloMixUp {
    /// Mixes with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }

    /// The sample's own weight.
    pub fn make_params(&self, rng: &mut dyn Draws) -> f64 {
        MixUp::new(32.0).make_params(rng)
    }
}

impl Augment for YoloMixUp {
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
            mix(draft, partner, self.make_params(rng));
        }
    }
}
