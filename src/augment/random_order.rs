//! RandomOrder: several transforms in a random order.

use super::Augmentation;
use super::container::{self, Container, as_container};
use super::prelude::*;
use super::read::transforms;

/// Runs several transforms in a random order (torchvision's `RandomOrder`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomOrder {
    /// The transforms; at least 1.
    #[serde(deserialize_with = "transforms")]
    pub transforms: Vec<Augmentation>,
}

impl RandomOrder {
    /// These transforms in a random order.
    pub fn new(transforms: impl IntoIterator<Item = Augmentation>) -> Self {
        Self { transforms: transforms.into_iter().collect() }
    }
}

impl Augment for RandomOrder {
    fn check(&self) -> Result<()> {
        container::check(self.name(), &self.transforms)
    }

    as_container!();
}

impl Container for RandomOrder {
    fn transforms(&self) -> &[Augmentation] {
        &self.transforms
    }

    fn choose(&self, rng: &mut dyn Draws) -> Vec<usize> {
        container::drawn(self.transforms.len(), self.transforms.len(), rng)
    }

    fn choices(&self) -> Vec<Vec<usize>> {
        let forward = container::all(self.transforms.len());
        let backward = forward.iter().rev().copied().collect();
        if forward.len() > 1 { vec![forward, backward] } else { vec![forward] }
    }
}
