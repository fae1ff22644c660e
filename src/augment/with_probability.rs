//! The probability that any transform without one of its own can be given beside its arguments.

use super::Augmentation;
use super::container::{self, Container, as_container};
use super::prelude::*;
use super::read::{PROBABILITY, own_arguments};
use serde::Serializer;
use serde::ser::Error;
use serde_json::{Value, json};

/// A transform that has no argument `p` of its own, and runs with probability `p`.
///
/// In recipes and in Python it is written as the transform with one more argument:
/// `{ op = "ColorJitter", brightness = 0.4, p = 0.8 }`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WithProbability {
    /// The transform.
    pub transform: Box<Augmentation>,
    /// Probability that it runs, from 0 to 1.
    pub p: f32,
}

impl Augmentation {
    /// The same transform, to run with probability `p`; 1 leaves it as it is.
    ///
    /// One that has a `p` already, be it the list of [`super::RandomChoice`], is refused when it is checked: set that, or
    /// put the transform into a [`super::RandomApply`].
    pub fn with_p(self, p: f32) -> Self {
        if p == 1.0 {
            return self;
        }
        Self::WithProbability(WithProbability { transform: Box::new(self), p })
    }
}

impl Serialize for WithProbability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // By way of text, where an f32 has its own digits and not those of an f64.
        let text = serde_json::to_string(&*self.transform).map_err(Error::custom)?;
        let mut fields: Value = serde_json::from_str(&text).map_err(Error::custom)?;
        fields[PROBABILITY] = json!(self.p.to_string().parse::<f64>().unwrap_or_default());
        fields.serialize(serializer)
    }
}

impl Augment for WithProbability {
    fn name(&self) -> &'static str {
        self.transform.name()
    }

    fn check(&self) -> Result<()> {
        let name = self.name();
        check::probability(name, self.p)?;
        let is_own = own_arguments(name).is_some_and(|own| own.contains(&PROBABILITY));
        ensure!(
            !is_own && !matches!(*self.transform, Augmentation::WithProbability(_)),
            "{name}: it has a p already, and is given another: set the one that it has, or put it into a RandomApply"
        );
        self.transform.check()
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    as_container!();
}

impl Container for WithProbability {
    fn transforms(&self) -> &[Augmentation] {
        std::slice::from_ref(&self.transform)
    }

    fn choose(&self, rng: &mut dyn Draws) -> Vec<usize> {
        if rng.applies(self.p) { vec![0] } else { Vec::new() }
    }

    fn choices(&self) -> Vec<Vec<usize>> {
        container::all_or_none(1, self.p)
    }

    fn is_level(&self) -> bool {
        false
    }
}
