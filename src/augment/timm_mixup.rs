//! TimmMixup: timm's MixUp, its CutMix, or one of the two at random.

use super::cut_mix::{left_of, show};
use super::mix_up::mix;
use super::mixing::{Mixing, Partner, RngScope};
use super::prelude::*;
use crate::rng::beta;

/// Mixes the sample with the one at the mirrored position of its window, by MixUp or CutMix (timm's `Mixup`, with the
/// window of partners in place of the batch).
///
/// Draws: whether to mix; which of the two, where both are on; lambda; the row and the column of the rectangle's
/// centre.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimmMixup {
    /// MixUp's lambda is drawn from Beta(alpha, alpha), with alpha at most 10000; 0 turns MixUp off.
    pub mixup_alpha: f64,
    /// CutMix's lambda is drawn from Beta(alpha, alpha), with alpha at most 10000; 0 turns CutMix off.
    pub cutmix_alpha: f64,
    /// Probability of a mix, from 0 to 1.
    pub prob: f32,
    /// Probability of CutMix where both are on, from 0 to 1.
    pub switch_prob: f32,
    /// Which samples share their draws: `batch` (a window), `pair`, `elem` (none) or `half`.
    pub mode: MixupMode,
    /// Weight the classes by the areas that are visible after the rectangle is clipped at the edge.
    pub correct_lam: bool,
}

/// Which samples share their draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MixupMode {
    /// All samples of a window.
    #[default]
    Batch,
    /// The two samples that are mixed with each other.
    Pair,
    /// Each sample.
    Elem,
    /// Each sample of a window's first half, whose partners are those of the second. These are shown as they are; timm
    /// leaves them out, so that its batches are half as large.
    Half,
}

/// How a sample is mixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MixupParams {
    /// The sample's own weight.
    Mix(f64),
    /// The rectangle that shows the partner, and the weight of the sample's class.
    Cut(Rect, f64),
}

impl Default for TimmMixup {
    fn default() -> Self {
        Self {
            mixup_alpha: 1.0,
            cutmix_alpha: 0.0,
            prob: 1.0,
            switch_prob: 0.5,
            mode: MixupMode::default(),
            correct_lam: true,
        }
    }
}

impl TimmMixup {
    /// Mixes with these alphas, and timm's defaults; 0 turns one of the two off.
    pub fn new(mixup_alpha: f64, cutmix_alpha: f64) -> Self {
        Self { mixup_alpha, cutmix_alpha, ..Self::default() }
    }

    setters! {
        /// Sets which samples share their draws.
        mode: MixupMode;
        /// Sets the probability of a mix.
        prob: f32;
    }

    /// How a sample of size `of` is mixed.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> MixupParams {
        let cuts = match (self.mixup_alpha > 0.0, self.cutmix_alpha > 0.0) {
            (true, true) => rng.chance(self.switch_prob),
            (_, cuts) => cuts,
        };
        let alpha = if cuts { self.cutmix_alpha } else { self.mixup_alpha };
        let lambda = beta(rng, alpha, alpha);
        if !cuts {
            return MixupParams::Mix(lambda);
        }
        let (y, x) = (rng.below(of.height), rng.below(of.width));
        let area = Self::cut(of, lambda, [x, y]);
        MixupParams::Cut(area, if self.correct_lam { left_of(of, area) } else { lambda })
    }

    /// timm's rectangle around a centre, clipped to the sample: the edges are int(sqrt(1 - lambda) edge), with half of
    /// that, rounded down, on either side.
    pub fn cut(of: Size, lambda: f64, [x, y]: [u32; 2]) -> Rect {
        let part = (1.0 - lambda).sqrt();
        let half = |edge: u32| ((part * f64::from(edge)) as u32 / 2) as i32;
        let (across, down) = (half(of.width), half(of.height));
        let area = Rect::new(x as i32 - across, y as i32 - down, 2 * across as u32, 2 * down as u32);
        area.intersect(of.rect())
    }
}

impl Augment for TimmMixup {
    fn check(&self) -> Result<()> {
        for (what, alpha) in [("mixup_alpha", self.mixup_alpha), ("cutmix_alpha", self.cutmix_alpha)] {
            if alpha != 0.0 {
                check::alpha(self.name(), what, alpha)?;
            }
        }
        if self.mixup_alpha == 0.0 && self.cutmix_alpha == 0.0 {
            bail!("TimmMixup: one of mixup_alpha and cutmix_alpha must be greater than 0");
        }
        check::probability(self.name(), self.prob)?;
        check::probability(self.name(), self.switch_prob)
    }

    fn p(&self) -> Option<f32> {
        Some(self.prob)
    }

    fn partners(&self) -> usize {
        usize::from(self.prob > 0.0)
    }

    fn wants_partners(&self, rng: &mut dyn Draws) -> bool {
        rng.applies(self.prob)
    }

    fn mixing(&self) -> Mixing {
        let rng = match self.mode {
            MixupMode::Batch => RngScope::Window,
            MixupMode::Pair => RngScope::Pair,
            MixupMode::Elem | MixupMode::Half => RngScope::Sample,
        };
        let partner = if self.mode == MixupMode::Half { Partner::SecondHalf } else { Partner::Mirrored };
        Mixing { partner, rng }
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        for partner in partners {
            match self.make_params(draft.size(), rng) {
                MixupParams::Mix(lambda) => mix(draft, partner, lambda),
                MixupParams::Cut(area, lambda) => show(draft, partner, area, lambda),
            }
        }
    }
}
