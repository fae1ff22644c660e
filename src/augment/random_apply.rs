//! RandomApply: several transforms, all or none.

use super::Augmentation;
use super::container::{self, Container, as_container};
use super::prelude::*;
use super::read::transforms;

/// Runs several transforms one after the other, with probability `p`, or none of them (torchvision's `RandomApply`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomApply {
    /// The transforms, in order; at least 1.
    #[serde(deserialize_with = "transforms")]
    pub transforms: Vec<Augmentation>,
    /// Probability that they run, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomApply {
    /// These transforms with torchvision's probability of a half.
    pub fn new(transforms: impl IntoIterator<Item = Augmentation>) -> Self {
        Self { transforms: transforms.into_iter().collect(), p: check::half() }
    }

    setters! {
        /// Sets the probability that they run.
        p: f32;
    }
}

impl Augment for RandomApply {
    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)?;
        container::check(self.name(), &self.transforms)
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    as_container!();
}

impl Container for RandomApply {
    fn transforms(&self) -> &[Augmentation] {
        &self.transforms
    }

    fn choose(&self, rng: &mut dyn Draws) -> Vec<usize> {
        if rng.applies(self.p) { container::all(self.transforms.len()) } else { Vec::new() }
    }

    fn choices(&self) -> Vec<Vec<usize>> {
        container::all_or_none(self.transforms.len(), self.p)
    }
}
