//! TrivialAugmentWide: one random operation of random strength.

use super::policy::{self, Drawn, Space};
use super::prelude::*;

/// Applies one random operation at a random magnitude (torchvision's `TrivialAugmentWide`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TrivialAugmentWide {
    /// Number of magnitudes between the weakest and the strongest, from 2 to 65536.
    pub num_magnitude_bins: u32,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to 255. Without
    /// it, black.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

impl Default for TrivialAugmentWide {
    fn default() -> Self {
        Self { num_magnitude_bins: policy::BINS, interpolation: Interpolation::Nearest, fill: None }
    }
}

impl TrivialAugmentWide {
    /// torchvision's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the number of magnitudes.
        num_magnitude_bins: u32;
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: some into Fill;
    }

    /// The operation for an image of size `of`, with its magnitude.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Drawn {
        let op = policy::choice(rng);
        let bins = self.num_magnitude_bins;
        Space::WIDE.draw(op, (bins, |rng: &mut dyn Draws| rng.below(bins)), of, rng)
    }
}

impl Augment for TrivialAugmentWide {
    fn check(&self) -> Result<()> {
        check::magnitudes(self.name(), self.num_magnitude_bins)?;
        check::warp_filter(self.name(), self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let drawn = self.make_params(draft.size(), rng);
        policy::perform(draft, [drawn], self.interpolation, self.fill);
    }
}
