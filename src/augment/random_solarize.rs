//! RandomSolarize: inverts the high levels, with a given probability.

use super::prelude::*;

/// Inverts all levels at or above a threshold, with probability `p` (torchvision's `RandomSolarize`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomSolarize {
    /// Lowest level that is inverted; at most 255.
    pub threshold: f64,
    /// Probability of a change, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomSolarize {
    /// Works with torchvision's probability of a half.
    pub fn new(threshold: f64) -> Self {
        Self { threshold, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

impl Augment for RandomSolarize {
    fn check(&self) -> Result<()> {
        let threshold = self.threshold;
        ensure!(
            (f64::from(f32::MIN)..=255.0).contains(&threshold),
            "RandomSolarize: threshold should be at most 255, but is {threshold}"
        );
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Solarize { threshold: self.threshold });
        }
    }
}
