//! RandomPhotometricDistort: the colour changes of detection training, each with its own probability.

use super::prelude::*;
use super::random_channel_permutation::permutation;

/// Changes brightness, contrast, saturation, hue and the order of the channels, each with probability `p`
/// (torchvision's `RandomPhotometricDistort`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomPhotometricDistort {
    /// Minimum and maximum factor; at least 0.
    pub brightness: [f64; 2],
    /// Minimum and maximum factor; at least 0.
    pub contrast: [f64; 2],
    /// Minimum and maximum factor; at least 0.
    pub saturation: [f64; 2],
    /// Minimum and maximum turn of the hue, as a fraction of the full circle, from -0.5 to 0.5.
    pub hue: [f64; 2],
    /// Probability of each change, from 0 to 1.
    pub p: f32,
}

impl Default for RandomPhotometricDistort {
    fn default() -> Self {
        Self {
            brightness: [0.875, 1.125],
            contrast: [0.5, 1.5],
            saturation: [0.5, 1.5],
            hue: [-0.05, 0.05],
            p: check::half(),
        }
    }
}

/// The parameters for one image; `None` is skipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistortParams {
    /// Factor of the brightness.
    pub brightness: Option<f64>,
    /// Factor of the contrast.
    pub contrast: Option<f64>,
    /// Factor of the saturation.
    pub saturation: Option<f64>,
    /// Fraction of the full circle.
    pub hue: Option<f64>,
    /// Whether contrast comes before saturation and hue.
    pub contrast_before: bool,
    /// Which channel becomes red, green and blue.
    pub permutation: Option<[u32; 3]>,
}

impl RandomPhotometricDistort {
    /// For each field in order whether it changes, and then the factor; then the position of contrast, and the
    /// permutation.
    pub fn make_params(&self, rng: &mut dyn Draws) -> DistortParams {
        let factors = [self.brightness, self.contrast, self.saturation, self.hue];
        let [brightness, contrast, saturation, hue] = factors.map(|[min, max]| {
            rng.chance(self.p).then(|| f64::from(rng.uniform_between(min as f32, max as f32)))
        });
        let contrast_before = rng.chance(0.5);
        let permutation = rng.chance(self.p).then(|| permutation(rng));
        DistortParams { brightness, contrast, saturation, hue, contrast_before, permutation }
    }
}

impl Augment for RandomPhotometricDistort {
    fn check(&self) -> Result<()> {
        let name = self.name();
        let most = f64::from(f32::MAX);
        check::range(name, "brightness", self.brightness, 0.0, most)?;
        check::range(name, "contrast", self.contrast, 0.0, most)?;
        check::range(name, "saturation", self.saturation, 0.0, most)?;
        check::range(name, "hue", self.hue, -0.5, 0.5)?;
        check::probability(name, self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let drawn = self.make_params(rng);
        let contrast = drawn.contrast.map(|factor| Op::Contrast { factor });
        let (before, after) = if drawn.contrast_before { (contrast, None) } else { (None, contrast) };
        let ops = [
            drawn.brightness.map(|factor| Op::Brightness { factor }),
            before,
            drawn.saturation.map(|factor| Op::Saturation { factor }),
            drawn.hue.map(|factor| Op::Hue { factor }),
            after,
            drawn.permutation.map(|permutation| Op::PermuteChannels { permutation }),
        ];
        ops.into_iter().flatten().for_each(|op| draft.apply(op));
    }
}
