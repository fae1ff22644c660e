//! SomeOf: some transforms of several.

use super::Augmentation;
use super::container::{self, Container, MAX_AUGMENTATIONS, as_container};
use super::prelude::*;
use super::read::transforms;

/// Chooses `n` of several transforms, each equally probable, and runs them in their order, each with its own probability
/// (Albumentations' `SomeOf`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SomeOf {
    /// The transforms to choose from; at least 1.
    #[serde(deserialize_with = "transforms")]
    pub transforms: Vec<Augmentation>,
    /// Number of transforms that are chosen, at least 1; without `replace` at most all of them, and at most 64.
    #[serde(default = "one")]
    pub n: usize,
    /// Whether a transform may be chosen, and run, more than once.
    #[serde(default)]
    pub replace: bool,
    /// Probability that any are chosen, from 0 to 1.
    #[serde(default = "check::one")]
    pub p: f32,
}

const fn one() -> usize {
    1
}

impl SomeOf {
    /// `n` of these transforms, always.
    pub fn new(transforms: impl IntoIterator<Item = Augmentation>, n: usize) -> Self {
        Self { transforms: transforms.into_iter().collect(), n, replace: false, p: check::one() }
    }

    setters! {
        /// Sets whether a transform may be chosen more than once.
        replace: bool;
        /// Sets the probability that any are chosen.
        p: f32;
    }
}

impl Augment for SomeOf {
    fn check(&self) -> Result<()> {
        let (name, n, count) = (self.name(), self.n, self.transforms.len());
        check::probability(name, self.p)?;
        container::check(name, &self.transforms)?;
        ensure!(
            (1..=MAX_AUGMENTATIONS).contains(&n),
            "{name}: n should be from 1 to {MAX_AUGMENTATIONS}, but is {n}"
        );
        ensure!(
            self.replace || n <= count,
            "{name}: n is {n}, and there are only {count} transforms: choose at most {count}, or set replace"
        );
        Ok(())
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    as_container!();
}

impl Container for SomeOf {
    fn transforms(&self) -> &[Augmentation] {
        &self.transforms
    }

    fn choose(&self, rng: &mut dyn Draws) -> Vec<usize> {
        if !rng.applies(self.p) {
            return Vec::new();
        }
        let count = self.transforms.len();
        let mut chosen = match self.replace {
            true => (0..self.n).map(|_| rng.below(count as u32) as usize).collect(),
            false => container::drawn(count, self.n, rng),
        };
        chosen.sort_unstable();
        chosen
    }

    fn choices(&self) -> Vec<Vec<usize>> {
        let count = self.transforms.len();
        let run = |first: usize| {
            let mut chosen: Vec<usize> = (first..first + self.n).map(|index| index % count).collect();
            chosen.sort_unstable();
            chosen
        };
        let runs = (0..count).step_by(self.n).map(run);
        let repeated = (0..count).filter(|_| self.replace && self.n > 1).map(|index| vec![index; self.n]);
        let some = runs.chain(repeated).filter(|_| self.p > 0.0);
        (self.p < 1.0).then(Vec::new).into_iter().chain(some).collect()
    }
}
