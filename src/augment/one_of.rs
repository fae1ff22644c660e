//! OneOf: one transform of several, or none.

use super::Augmentation;
use super::container::{self, Container, as_container};
use super::prelude::*;
use super::read::transforms;

/// Runs one of several transforms, or, with probability 1 - `p`, none (Albumentations' `OneOf`).
///
/// The `p` of each transform is its weight in the choice, which is 1 where it has none, as most of torchvision's and the
/// other containers. The one that is chosen runs whatever its `p` is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OneOf {
    /// The transforms to choose from, each with its weight as its `p`; at least 1.
    #[serde(deserialize_with = "transforms")]
    pub transforms: Vec<Augmentation>,
    /// Probability that one runs, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl OneOf {
    /// One of these transforms with Albumentations' probability of a half.
    pub fn new(transforms: impl IntoIterator<Item = Augmentation>) -> Self {
        Self { transforms: transforms.into_iter().collect(), p: check::half() }
    }

    setters! {
        /// Sets the probability that one runs.
        p: f32;
    }

    fn weights(&self) -> Vec<f32> {
        self.transforms.iter().map(|transform| transform.p().unwrap_or(1.0)).collect()
    }
}

impl Augment for OneOf {
    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)?;
        container::check(self.name(), &self.transforms)?;
        ensure!(
            self.weights().iter().any(|&weight| weight > 0.0),
            "{}: every transform has p = 0, so that none can be chosen: give one a p above 0",
            self.name()
        );
        Ok(())
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    as_container!();
}

impl Container for OneOf {
    fn transforms(&self) -> &[Augmentation] {
        &self.transforms
    }

    fn choose(&self, rng: &mut dyn Draws) -> Vec<usize> {
        if !rng.applies(self.p) {
            return Vec::new();
        }
        vec![container::weighted(&self.weights(), rng)]
    }

    fn choices(&self) -> Vec<Vec<usize>> {
        container::one_each(&self.weights(), self.p)
    }

    fn is_certain(&self) -> bool {
        true
    }
}
