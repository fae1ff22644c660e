//! AutoAugment: a pair of operations that was learned for a data set.

mod learned;

use super::policy::{self, Drawn, PolicyOp, Space};
use super::prelude::*;

/// Magnitudes of each operation.
const BINS: u32 = 10;

/// Applies one of 25 learned pairs of operations, each operation with its own probability (torchvision's
/// `AutoAugment`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AutoAugment {
    /// The data set that the pairs were learned on: `imagenet`, `cifar10` or `svhn`.
    pub policy: AutoAugmentPolicy,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to 255. Without
    /// it, black.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

/// The data set that the pairs of operations were learned on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AutoAugmentPolicy {
    /// ImageNet.
    #[default]
    ImageNet,
    /// CIFAR-10.
    Cifar10,
    /// Street View House Numbers.
    Svhn,
}

/// An operation, its probability and the index of its magnitude.
type Learned = (PolicyOp, f32, u32);

impl Default for AutoAugment {
    fn default() -> Self {
        Self::new(AutoAugmentPolicy::ImageNet)
    }
}

impl AutoAugment {
    /// Applies the pairs of `policy`.
    pub fn new(policy: AutoAugmentPolicy) -> Self {
        Self { policy, interpolation: Interpolation::Nearest, fill: None }
    }

    setters! {
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: some into Fill;
    }

    /// The operations for an image of size `of`, each with its magnitude; none to two.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Vec<Drawn> {
        let pairs = match self.policy {
            AutoAugmentPolicy::ImageNet => &learned::IMAGENET,
            AutoAugmentPolicy::Cifar10 => &learned::CIFAR10,
            AutoAugmentPolicy::Svhn => &learned::SVHN,
        };
        let pair = pairs[rng.below(pairs.len() as u32) as usize];
        let draw = |(op, probability, index): Learned| {
            let wanted = rng.uniform() <= probability;
            wanted.then(|| Space::NARROW.draw(op, (BINS, |_: &mut dyn Draws| index), of, rng))
        };
        pair.into_iter().filter_map(draw).collect()
    }
}

impl Augment for AutoAugment {
    fn check(&self) -> Result<()> {
        check::warp_filter(self.name(), self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let drawn = self.make_params(draft.size(), rng);
        policy::perform(draft, drawn, self.interpolation, self.fill);
    }
}
