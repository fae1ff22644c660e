//! TimmAugMix: a weighted sum of chains of random operations, as timm has it.

use super::aug_mix;
use super::interpolation::InterpolationChoice;
use super::prelude::*;
use super::timm_rand_augment::{config, levels};
use crate::draft::op::Chain;
use crate::rng::{beta, dirichlet};
use levels::{MIXED, Warps};

/// Mixes the image with chains of random operations on it, with random weights (timm's `augment_and_mix_transform`).
///
/// The operations: AutoContrast, Color, Contrast, Brightness, Sharpness, Equalize, Rotate, Posterize, Solarize, and ShearX,
/// ShearY, TranslateX and TranslateY by a fraction of the edge; all become stronger with the magnitude. Warps have Pillow's
/// pixels; colour operations are torchvision's on tensors, from which Pillow's differ by a level or two. timm's `b` (one blend
/// a chain) is left out. Labels stay where they are.
///
/// Draws: the chains' weights and that of their sum; for each chain its depth where it is not fixed and the operations, then
/// for each operation its magnitude, its direction where it has two, and for a warp with `random` the interpolation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimmAugMix {
    /// timm's text for the arguments from `magnitude` to `magnitude_std`, such as `"augmix-m5-w4-d2"`; those are then left
    /// out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Severity (`m`), from 0 to 100; what is above 10 counts as that.
    pub magnitude: f64,
    /// Number of chains (`w`), from 1 to 12.
    pub width: u32,
    /// Number of operations in a chain (`d`), from -1 to 12; -1 and 0 draw 1, 2 or 3 for each chain. All chains have at most
    /// 12 together.
    pub depth: i32,
    /// Parameter of the distributions of weights (`a`), from 0.0001 to 10000.
    pub alpha: f64,
    /// Standard deviation of the magnitude's noise (`mstd`); at least 0. Without it, magnitudes are drawn uniformly between
    /// 0 and `magnitude`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub magnitude_std: Option<f64>,
    /// Translation at magnitude 10, as a fraction of the edge, from 0 to 1.
    pub translate_pct: f64,
    /// Interpolation of warps: `bilinear`, `bicubic`, or `random` for one of them.
    pub interpolation: InterpolationChoice,
    /// Fill colour where warps leave pixels empty (`img_mean`): a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
}

impl Default for TimmAugMix {
    fn default() -> Self {
        Self {
            config: None,
            magnitude: 3.0,
            width: 3,
            depth: -1,
            alpha: 1.0,
            magnitude_std: None,
            translate_pct: 0.3,
            interpolation: InterpolationChoice::Random,
            fill: Fill::Grey(128),
        }
    }
}

impl TimmAugMix {
    /// timm's defaults at `magnitude`.
    pub fn new(magnitude: f64) -> Self {
        Self { magnitude, ..Self::default() }
    }

    /// What timm makes of a text such as `augmix-m5-w4-d2`.
    ///
    /// # Errors
    /// For another policy than `augmix`, and for a section that is unknown or has no number that it takes.
    pub fn from_config(config: &str) -> Result<Self> {
        let sections = config::Sections { class: "TimmAugMix", policy: "augmix", example: "augmix-m5-w4-d2" };
        let mut read = Self::default();
        for section in sections.of(config)? {
            match section.key {
                "m" => read.magnitude = section.number::<u32>()?.into(),
                "w" => read.width = section.number()?,
                "d" => read.depth = section.number()?,
                "a" => read.alpha = section.number()?,
                "mstd" => read.magnitude_std = Some(section.number()?),
                _ => {
                    return Err(section
                        .unknown("m (magnitude), w (width), d (depth), a (alpha) and mstd (magnitude_std)"));
                }
            }
        }
        Ok(read)
    }

    setters! {
        /// Sets the number of chains.
        width: u32;
        /// Sets the number of operations in a chain.
        depth: i32;
        /// Sets the parameter of the distributions of weights.
        alpha: f64;
        /// Sets the standard deviation of the magnitude.
        magnitude_std: some f64;
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
                "TimmAugMix: config is {text:?}, and magnitude, width, depth, alpha or magnitude_std is set as well: leave \
                 out the one or the other"
            );
        }
        Ok(Self { translate_pct, interpolation, fill, ..Self::from_config(text)? })
    }

    /// The chains, each with its weight, and the weight of their sum, for an image of size `of`.
    ///
    /// # Errors
    /// Those of `config`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Result<(Vec<Chain>, f32)> {
        let own = self.resolved()?;
        let warps = Warps { interpolation: own.interpolation, fill: own.fill, translate: own.translate_pct };
        let weights = dirichlet(rng, own.alpha, own.width as usize);
        let blend = beta(rng, own.alpha, own.alpha) as f32;
        let mut chains = Vec::new();
        for weight in weights {
            let depth = aug_mix::depth(own.depth, rng);
            let chosen: Vec<_> = (0..depth).map(|_| MIXED[rng.below(MIXED.len() as u32) as usize]).collect();
            let ops = chosen.into_iter().filter_map(|operation| {
                let std = own.magnitude_std.unwrap_or(f64::INFINITY);
                let level = levels::level(own.magnitude, std, None, rng);
                operation.at(level, true, warps, of, rng)
            });
            let ops = ops.collect();
            chains.push(Chain { weight: weight as f32, ops });
        }
        Ok((chains, blend))
    }
}

impl Augment for TimmAugMix {
    fn check(&self) -> Result<()> {
        let name = self.name();
        let own = self.resolved()?;
        levels::check_magnitude(name, own.magnitude, own.magnitude_std.unwrap_or_default())?;
        aug_mix::check_chains(name, ["width", "depth"], own.width, own.depth)?;
        check::alpha(name, "alpha", own.alpha)?;
        levels::check_warps(name, own.translate_pct, own.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        match self.make_params(draft.size(), rng) {
            Ok((chains, blend)) => draft.apply(Op::SumChains { chains, blend: Some(blend) }),
            Err(error) => draft.fail(error),
        }
    }
}
