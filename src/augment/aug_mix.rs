//! AugMix: a weighted sum of chains of random operations.

use super::policy::{self, PolicyOp, Space};
use super::prelude::*;
use crate::draft::op::Chain;
use crate::rng::dirichlet;

/// Most operations that all chains of a sample have together: each may need a pass of its own, or all of them statistics of
/// the pass that sums them up.
pub(super) const MOST_OPS: u32 = 12;
/// The number of magnitudes; a severity is one of them.
const BINS: u32 = 10;
/// The most operations of a chain whose depth is drawn.
const DEEPEST: u32 = 3;

/// The operations in torchvision's order; the last four are those of `all_ops`.
const CHOICES: [PolicyOp; 13] = [
    PolicyOp::ShearX,
    PolicyOp::ShearY,
    PolicyOp::TranslateX,
    PolicyOp::TranslateY,
    PolicyOp::Rotate,
    PolicyOp::Posterize,
    PolicyOp::Solarize,
    PolicyOp::AutoContrast,
    PolicyOp::Equalize,
    PolicyOp::Brightness,
    PolicyOp::Color,
    PolicyOp::Contrast,
    PolicyOp::Sharpness,
];

/// Mixes the image with chains of random operations on it, with random weights (torchvision's `AugMix`).
///
/// Labels stay where they are, so that it is for whole-image classes. Draws: the image's own weight and that of the chains
/// together; the chains' weights; for each chain its depth where it is not fixed, and for each operation which one it is,
/// its magnitude and its direction where it has them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AugMix {
    /// Strength of the operations, from 1 to 10.
    pub severity: u32,
    /// Number of chains, from 1 to 12.
    pub mixture_width: u32,
    /// Number of operations in a chain, from -1 to 12; -1 and 0 draw 1, 2 or 3 for each chain. All chains have at most 12
    /// together.
    pub chain_depth: i32,
    /// Parameter of the distributions of weights, from 0.0001 to 10000.
    pub alpha: f64,
    /// Use brightness, color, contrast and sharpness as well.
    pub all_ops: bool,
    /// `bilinear` or `nearest`.
    pub interpolation: Interpolation,
    /// Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to 255. Without
    /// it, black.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

impl Default for AugMix {
    fn default() -> Self {
        Self {
            severity: 3,
            mixture_width: 3,
            chain_depth: -1,
            alpha: 1.0,
            all_ops: true,
            interpolation: Interpolation::Bilinear,
            fill: None,
        }
    }
}

impl AugMix {
    /// torchvision's defaults at `severity`.
    pub fn new(severity: u32) -> Self {
        Self { severity, ..Self::default() }
    }

    setters! {
        /// Sets the number of chains.
        mixture_width: u32;
        /// Sets the number of operations in a chain.
        chain_depth: i32;
        /// Sets the parameter of the distributions of weights.
        alpha: f64;
        /// Sets whether brightness, color, contrast and sharpness are used.
        all_ops: bool;
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: some into Fill;
    }

    /// The image itself and the chains, each with its weight, for an image of size `of`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Vec<Chain> {
        let halves = dirichlet(rng, self.alpha, 2);
        let weights = dirichlet(rng, self.alpha, self.mixture_width as usize);
        let choices = &CHOICES[..if self.all_ops { 13 } else { 9 }];
        let mut chains = vec![Chain { weight: halves[0] as f32, ops: Vec::new() }];
        for weight in weights {
            let ops = (0..depth(self.chain_depth, rng)).filter_map(|_| {
                let op = choices[rng.below(choices.len() as u32) as usize];
                let drawn =
                    Space::MIXED.draw(op, (BINS, |rng: &mut dyn Draws| rng.below(self.severity)), of, rng);
                policy::op_of(drawn, self.interpolation, self.fill)
            });
            let ops = ops.collect();
            chains.push(Chain { weight: weight as f32 * halves[1] as f32, ops });
        }
        chains
    }
}

/// A fixed depth, or one that is drawn.
pub(super) fn depth(fixed: i32, rng: &mut dyn Draws) -> u32 {
    u32::try_from(fixed).ok().filter(|&depth| depth > 0).unwrap_or_else(|| 1 + rng.below(DEEPEST))
}

/// Refuses more chains than a plan has room for.
pub(super) fn check_chains(
    name: &str,
    [width_name, depth_name]: [&str; 2],
    width: u32,
    depth: i32,
) -> Result<()> {
    ensure!(
        (1..=MOST_OPS).contains(&width),
        "{name}: {width_name} should be from 1 to {MOST_OPS}, but is {width}"
    );
    ensure!(
        (-1..=MOST_OPS as i32).contains(&depth),
        "{name}: {depth_name} should be from -1 to {MOST_OPS}, but is {depth}"
    );
    let deepest = if depth > 0 { depth as u32 } else { DEEPEST };
    ensure!(
        width * deepest <= MOST_OPS,
        "{name}: {width} chains of {deepest} operations are more than {MOST_OPS}: lower {width_name} or {depth_name}"
    );
    Ok(())
}

impl Augment for AugMix {
    fn check(&self) -> Result<()> {
        let name = self.name();
        ensure!(
            (1..=BINS).contains(&self.severity),
            "{name}: severity should be from 1 to {BINS}, but is {}",
            self.severity
        );
        check_chains(name, ["mixture_width", "chain_depth"], self.mixture_width, self.chain_depth)?;
        check::alpha(name, "alpha", self.alpha)?;
        check::warp_filter(name, self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let chains = self.make_params(draft.size(), rng);
        draft.apply(Op::SumChains { chains, blend: None });
    }
}
