//! Compose: several transforms as one.

use super::Augmentation;
use super::container::{self, Container, as_container};
use super::prelude::*;
use super::read::transforms;

/// Runs several transforms one after the other (torchvision's `Compose`): a branch of more than one for the other
/// containers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Compose {
    /// The transforms, in order; at least 1.
    #[serde(deserialize_with = "transforms")]
    pub transforms: Vec<Augmentation>,
}

impl Compose {
    /// These transforms one after the other.
    pub fn new(transforms: impl IntoIterator<Item = Augmentation>) -> Self {
        Self { transforms: transforms.into_iter().collect() }
    }
}

impl Augment for Compose {
    fn check(&self) -> Result<()> {
        container::check(self.name(), &self.transforms)
    }

    as_container!();
}

impl Container for Compose {
    fn transforms(&self) -> &[Augmentation] {
        &self.transforms
    }

    fn choose(&self, _rng: &mut dyn Draws) -> Vec<usize> {
        container::all(self.transforms.len())
    }

    fn choices(&self) -> Vec<Vec<usize>> {
        vec![container::all(self.transforms.len())]
    }
}
