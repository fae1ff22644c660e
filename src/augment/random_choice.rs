//! RandomChoice: one transform of several.

use super::Augmentation;
use super::container::{self, Container, as_container};
use super::prelude::*;
use super::read::transforms;

/// How far a sum of probabilities may be from 1: what rounding to f32 leaves of a few decimals.
const TOLERANCE: f32 = 1e-4;

/// Runs one of several transforms (torchvision's `RandomChoice`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomChoice {
    /// The transforms to choose from; at least 1.
    #[serde(deserialize_with = "transforms")]
    pub transforms: Vec<Augmentation>,
    /// Probability of each transform; each at least 0, and 1 in sum (torchvision divides by the sum). Without it, all are
    /// equally probable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<Vec<f32>>,
}

impl RandomChoice {
    /// One of these transforms, each with the same probability.
    pub fn new(transforms: impl IntoIterator<Item = Augmentation>) -> Self {
        Self { transforms: transforms.into_iter().collect(), p: None }
    }

    setters! {
        /// Sets the probability of each transform.
        p: some into Vec<f32>;
    }

    fn weights(&self) -> Vec<f32> {
        self.p.clone().unwrap_or_else(|| vec![1.0; self.transforms.len()])
    }
}

impl Augment for RandomChoice {
    fn check(&self) -> Result<()> {
        container::check(self.name(), &self.transforms)?;
        let Some(p) = &self.p else { return Ok(()) };
        let (name, count) = (self.name(), self.transforms.len());
        ensure!(
            p.len() == count,
            "{name}: p has {} probabilities for {count} transforms: give one for each",
            p.len()
        );
        ensure!(
            p.iter().all(|p| (0.0..=1.0).contains(p)),
            "{name}: each probability in p should be from 0 to 1, but they are {p:?}"
        );
        let sum: f32 = p.iter().sum();
        ensure!(
            (sum - 1.0).abs() <= TOLERANCE,
            "{name}: the probabilities {p:?} sum to {sum} and not to 1: divide each by {sum}, or add a transform that does \
             nothing, as {{ op = \"RandomHorizontalFlip\", p = 0.0 }}"
        );
        Ok(())
    }

    as_container!();
}

impl Container for RandomChoice {
    fn transforms(&self) -> &[Augmentation] {
        &self.transforms
    }

    fn choose(&self, rng: &mut dyn Draws) -> Vec<usize> {
        vec![container::weighted(&self.weights(), rng)]
    }

    fn choices(&self) -> Vec<Vec<usize>> {
        container::one_each(&self.weights(), 1.0)
    }
}
