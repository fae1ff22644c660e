//! RandomAdjustSharpness: sharpens or smooths now and then.

use super::prelude::*;

/// Blends each pixel with the mean of its neighbours, with probability `p` (torchvision's `RandomAdjustSharpness`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomAdjustSharpness {
    /// 0 smooths, 1 changes nothing, 2 doubles the sharpness; at least 0.
    pub sharpness_factor: f64,
    /// Probability of a change, from 0 to 1.
    #[serde(default = "check::half")]
    pub p: f32,
}

impl RandomAdjustSharpness {
    /// Works with torchvision's probability of a half.
    pub fn new(sharpness_factor: f64) -> Self {
        Self { sharpness_factor, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

impl Augment for RandomAdjustSharpness {
    fn check(&self) -> Result<()> {
        let sharpness_factor = self.sharpness_factor;
        ensure!(
            (0.0..=f64::from(f32::MAX)).contains(&sharpness_factor),
            "RandomAdjustSharpness: sharpness_factor should be non negative, but is {sharpness_factor}"
        );
        check::probability(self.name(), self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.chance(self.p) {
            draft.apply(Op::Sharpness { factor: self.sharpness_factor });
        }
    }
}
