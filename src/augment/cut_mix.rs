//! CutMix: a rectangle of another sample, and its class in proportion.

use super::mix_up::ROLLED;
use super::mixing::Mixing;
use super::prelude::*;
use crate::rng::beta;

/// Shows a rectangle of the previous sample in the window; the label is mixed in proportion to the area (torchvision's
/// `CutMix`, with the window of partners in place of the batch).
///
/// Draws, once per window: lambda, the column and the row of the rectangle's centre.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CutMix {
    /// Lambda is drawn from Beta(alpha, alpha); from 0.0001 to 10000.
    pub alpha: f64,
}

impl Default for CutMix {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl CutMix {
    /// Cuts with lambda from Beta(`alpha`, `alpha`).
    pub fn new(alpha: f64) -> Self {
        Self { alpha }
    }

    /// The rectangle in a sample of size `of`, and the fraction of the area that the sample keeps.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> (Rect, f64) {
        let lambda = beta(rng, self.alpha, self.alpha);
        let (x, y) = (rng.below(of.width), rng.below(of.height));
        Self::cut(of, lambda, [x, y])
    }

    /// The rectangle around a centre, clipped to the sample, and the fraction of the area that the sample keeps. Half
    /// of each edge is int(0.5 sqrt(1 - lambda) edge).
    pub fn cut(of: Size, lambda: f64, [x, y]: [u32; 2]) -> (Rect, f64) {
        let reach = 0.5 * (1.0 - lambda).sqrt();
        let half = |edge: u32| (reach * f64::from(edge)) as i64;
        let area = Rect {
            x: (i64::from(x) - half(of.width)) as i32,
            y: (i64::from(y) - half(of.height)) as i32,
            width: 2 * half(of.width) as u32,
            height: 2 * half(of.height) as u32,
        };
        let area = area.intersect(of.rect());
        (area, left_of(of, area))
    }
}

/// The fraction of the area outside `cut`.
pub(super) fn left_of(of: Size, cut: Rect) -> f64 {
    1.0 - cut.size().pixels() as f64 / of.pixels() as f64
}

/// Shows `area` of the partner, whose class gets the weight 1 - `lambda`.
pub(super) fn show(draft: &mut Draft, partner: Draft, area: Rect, lambda: f64) {
    draft.attempt(|draft| draft.blend(partner, 1.0, area, (1.0 - lambda) as f32));
}

impl Augment for CutMix {
    fn check(&self) -> Result<()> {
        check::alpha(self.name(), "alpha", self.alpha)
    }

    fn partners(&self) -> usize {
        1
    }

    fn mixing(&self) -> Mixing {
        ROLLED
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        let (area, lambda) = self.make_params(draft.size(), rng);
        partners.into_iter().for_each(|partner| show(draft, partner, area, lambda));
    }
}
