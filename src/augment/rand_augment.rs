//! RandAugment: some random operations, all of one strength.

use super::policy::{self, Drawn, Space};
use super::prelude::*;

/// The maximum number of operations per sample: each may need a pass and a statistic of its own.
const MOST_OPS: u32 = 6;

/// Applies `num_ops` random operations one after the other, all at one magnitude (torchvision's `RandAugment`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandAugment {
    /// Number of operations per sample, from 0 to 6.
    pub num_ops: u32,
    /// Index of the magnitude; less than `num_magnitude_bins`.
    pub magnitude: u32,
    /// Number of magnitudes between the weakest and the strongest, from 2 to 65536.
    pub num_magnitude_bins: u32,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to 255. Without
    /// it, black.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

impl Default for RandAugment {
    fn default() -> Self {
        Self::new(2, 9)
    }
}

impl RandAugment {
    /// Applies `num_ops` operations at `magnitude` of 31.
    pub fn new(num_ops: u32, magnitude: u32) -> Self {
        let interpolation = Interpolation::Nearest;
        Self { num_ops, magnitude, num_magnitude_bins: policy::BINS, interpolation, fill: None }
    }

    setters! {
        /// Sets how many magnitudes there are.
        num_magnitude_bins: u32;
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: some into Fill;
    }

    /// The operations for an image of size `of`, each with its magnitude.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Vec<Drawn> {
        let draw = |_| {
            let op = policy::choice(rng);
            let (bins, magnitude) = (self.num_magnitude_bins, self.magnitude);
            Space::NARROW.draw(op, (bins, |_: &mut dyn Draws| magnitude), of, rng)
        };
        (0..self.num_ops).map(draw).collect()
    }
}

impl Augment for RandAugment {
    fn check(&self) -> Result<()> {
        let Self { num_ops, magnitude, num_magnitude_bins, .. } = *self;
        check::magnitudes(self.name(), num_magnitude_bins)?;
        if num_ops > MOST_OPS {
            bail!("RandAugment: num_ops should be at most {MOST_OPS}, but is {num_ops}");
        }
        if magnitude >= num_magnitude_bins {
            bail!(
                "RandAugment: magnitude should be less than num_magnitude_bins, which is {num_magnitude_bins}, but is \
                 {magnitude}"
            );
        }
        check::warp_filter(self.name(), self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let drawn = self.make_params(draft.size(), rng);
        policy::perform(draft, drawn, self.interpolation, self.fill);
    }
}
