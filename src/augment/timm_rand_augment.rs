//! TimmRandAugment: random operations of one strength, or nearly so, as timm has them.

pub(super) mod config;
pub(super) mod levels;

use super::interpolation::InterpolationChoice;
use super::prelude::*;
use levels::{OPERATIONS, STRONGEST, Warps};

/// The maximum number of operations per sample: each may need a pass and a statistic of its own.
const MOST_LAYERS: u32 = 6;

/// Applies `num_layers` of fifteen random operations, each with probability `prob`, at a magnitude with noise (timm's
/// `rand_augment_transform`).
///
/// The operations: AutoContrast, Equalize, Invert, Rotate, Posterize, Solarize, SolarizeAdd, Color, Contrast, Brightness,
/// Sharpness, and ShearX, ShearY, TranslateX and TranslateY by a fraction of the edge. Warps have Pillow's pixels; colour
/// operations are torchvision's on tensors, from which Pillow's differ by a level or two.
///
/// Draws: the operations; for each of them whether it is applied, the noise of its magnitude, its direction where it has
/// two, and for a warp with `random` the interpolation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimmRandAugment {
    /// timm's text for the arguments from `magnitude` to `increasing`, such as `"rand-m9-mstd0.5-inc1"`; those are then
    /// left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Magnitude (`m`), from 0 to 100; what is above `magnitude_max` counts as that.
    pub magnitude: f64,
    /// Number of operations per sample (`n`), from 0 to 6.
    pub num_layers: u32,
    /// Probability of each operation (`p`), from 0 to 1.
    pub prob: f32,
    /// Standard deviation of the magnitude's noise (`mstd`); at least 0. Above 100, magnitudes are drawn uniformly between
    /// 0 and `magnitude`.
    pub magnitude_std: f64,
    /// Maximum magnitude (`mmax`), from 1 to 100. Without it, 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub magnitude_max: Option<f64>,
    /// Let the strength of all operations increase with the magnitude (`inc`); otherwise that of Posterize and Solarize
    /// decreases, and a factor of 1 is in the middle of the magnitudes.
    pub increasing: bool,
    /// Translation at magnitude 10, as a fraction of the edge, from 0 to 1.
    pub translate_pct: f64,
    /// Interpolation of warps: `bilinear`, `bicubic`, or `random` for one of them.
    pub interpolation: InterpolationChoice,
    /// Fill colour where warps leave pixels empty (`img_mean`): a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
}

impl Default for TimmRandAugment {
    fn default() -> Self {
        Self {
            config: None,
            magnitude: STRONGEST,
            num_layers: 2,
            prob: check::half(),
            magnitude_std: 0.0,
            magnitude_max: None,
            increasing: false,
            translate_pct: 0.45,
            interpolation: InterpolationChoice::Random,
            fill: Fill::Grey(128),
        }
    }
}

impl TimmRandAugment {
    /// timm's defaults at `magnitude`.
    pub fn new(magnitude: f64) -> Self {
        Self { magnitude, ..Self::default() }
    }

    /// What timm makes of a text such as `rand-m9-mstd0.5-inc1`.
    ///
    /// # Errors
    /// For another policy than `rand`, and for a section that is unknown or has no number that it takes.
    pub fn from_config(config: &str) -> Result<Self> {
        config::read(config)
    }

    setters! {
        /// Sets the number of operations.
        num_layers: u32;
        /// Sets the probability of each operation.
        prob: f32;
        /// Sets the standard deviation of the magnitude.
        magnitude_std: f64;
        /// Sets the maximum magnitude.
        magnitude_max: some f64;
        /// Sets whether the strength of all operations increases with the magnitude.
        increasing: bool;
        /// Sets the translation at magnitude 10.
        translate_pct: f64;
        /// Sets the interpolation of warps.
        interpolation: into InterpolationChoice;
        /// Sets the fill colour.
        fill: into Fill;
    }

    /// The same with what `config` says in the place of `config`.
    fn resolved(&self) -> Result<Self> {
        let Some(text) = &self.config else { return Ok(self.clone()) };
        let Self { translate_pct, interpolation, fill, .. } = *self;
        let beside = Self { config: None, translate_pct, interpolation, fill, ..Self::default() };
        if (Self { config: None, ..self.clone() }) != beside {
            bail!(
                "TimmRandAugment: config is {text:?}, and magnitude, num_layers, prob, magnitude_std, magnitude_max or \
                 increasing is set as well: leave out the one or the other"
            );
        }
        Ok(Self { translate_pct, interpolation, fill, ..Self::from_config(text)? })
    }

    /// The operations for an image of size `of`, with explicit parameters; those that change nothing are left out.
    ///
    /// # Errors
    /// Those of `config`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Result<Vec<Op>> {
        let own = self.resolved()?;
        let count = OPERATIONS.len() as u32;
        let chosen: Vec<_> = (0..own.num_layers).map(|_| OPERATIONS[rng.below(count) as usize]).collect();
        let warps = Warps { interpolation: own.interpolation, fill: own.fill, translate: own.translate_pct };
        let mut ops = Vec::new();
        for operation in chosen {
            if own.prob < 1.0 && rng.uniform() > own.prob {
                continue;
            }
            let level = levels::level(own.magnitude, own.magnitude_std, own.magnitude_max, rng);
            ops.extend(operation.at(level, own.increasing, warps, of, rng));
        }
        Ok(ops)
    }
}

impl Augment for TimmRandAugment {
    fn check(&self) -> Result<()> {
        let Self { magnitude, num_layers, prob, magnitude_std, magnitude_max, translate_pct, .. } =
            self.resolved()?;
        let name = self.name();
        levels::check_magnitude(name, magnitude, magnitude_std)?;
        check::within(name, "num_layers", num_layers.into(), [0.0, MOST_LAYERS.into()])?;
        check::within(name, "prob", prob.into(), [0.0, 1.0])?;
        check::within(name, "magnitude_max", magnitude_max.unwrap_or(STRONGEST), [1.0, 100.0])?;
        levels::check_warps(name, translate_pct, self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        match self.make_params(draft.size(), rng) {
            Ok(ops) => ops.into_iter().for_each(|op| draft.apply(op)),
            Err(error) => draft.fail(error),
        }
    }
}
