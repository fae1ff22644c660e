//! TrivialAugmentWide: one random operation of random strength.

use super::policy::{self, Drawn, Space, Style};
use super::{Augment, check};
use crate::draft::Draft;
use crate::draft::op::{Fill, Interpolation};
use crate::error::Result;
use crate::geometry::Size;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Applies one random operation at a random magnitude (torchvision's `TrivialAugmentWide`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrivialAugmentWide {
    /// Number of magnitudes between the weakest and the strongest, from 2 to 65536.
    #[serde(default = "check::bins")]
    pub num_magnitude_bins: u32,
    /// `nearest` or `bilinear`.
    #[serde(default = "check::nearest")]
    pub interpolation: Interpolation,
    /// Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to 255. Without
    /// it, black.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

impl Default for TrivialAugmentWide {
    fn default() -> Self {
        Self { num_magnitude_bins: check::bins(), interpolation: check::nearest(), fill: None }
    }
}

impl TrivialAugmentWide {
    /// torchvision's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of magnitudes.
    pub fn num_magnitude_bins(self, num_magnitude_bins: u32) -> Self {
        Self { num_magnitude_bins, ..self }
    }

    /// Sets the interpolation.
    pub fn interpolation(self, interpolation: Interpolation) -> Self {
        Self { interpolation, ..self }
    }

    /// Sets the fill colour.
    pub fn fill(self, fill: impl Into<Fill>) -> Self {
        Self { fill: Some(fill.into()), ..self }
    }

    /// The operation for an image of size `of`, with its magnitude.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Drawn {
        let op = policy::choice(rng);
        let bins = self.num_magnitude_bins;
        Space::WIDE.draw(op, (bins, |rng: &mut dyn Draws| rng.below(bins)), of, rng)
    }
}

impl Augment for TrivialAugmentWide {
    fn name(&self) -> &'static str {
        "TrivialAugmentWide"
    }

    fn check(&self) -> Result<()> {
        check::magnitudes(self.name(), self.num_magnitude_bins)?;
        check::warp_filter(self.name(), self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let Self { interpolation, fill, .. } = *self;
        let drawn = self.make_params(draft.size(), rng);
        policy::perform(draft, drawn, Style { interpolation, fill });
    }
}
