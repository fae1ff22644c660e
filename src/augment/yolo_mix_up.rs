//! YoloMixUp: two samples at about half their brightness each, with the objects of both.

use super::mix_up::mix;
use super::{Augment, check};
use crate::draft::Draft;
use crate::error::Result;
use crate::rng::{Draws, beta};
use serde::{Deserialize, Serialize};

/// Lays a partner over the sample with a share of about a half, with probability `p` (Ultralytics' `MixUp`).
///
/// The share is 1 - r with r drawn from Beta(32, 32). Objects of both are kept. Draws: whether to mix; the partner; r.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct YoloMixUp {
    /// Chance of a mix, in 0..=1; Ultralytics' default is 0.
    #[serde(default)]
    pub p: f32,
}

impl YoloMixUp {
    /// Mixes with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p }
    }

    /// The sample's own share.
    pub fn make_params(&self, rng: &mut dyn Draws) -> f64 {
        beta(rng, 32.0, 32.0)
    }
}

impl Augment for YoloMixUp {
    fn name(&self) -> &'static str {
        "YoloMixUp"
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
            let lambda = self.make_params(rng);
            mix(draft, partner, lambda);
        }
    }
}
