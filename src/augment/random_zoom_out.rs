//! RandomZoomOut: places the image at random on a larger canvas.

use super::draw;
use super::prelude::*;

/// Places the image at random on a canvas that is larger by a factor from `side_range`, with probability `p`
/// (torchvision's `RandomZoomOut`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomZoomOut {
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
    /// Minimum and maximum factor; at least 1.
    pub side_range: [f64; 2],
    /// Probability of a larger canvas, from 0 to 1.
    pub p: f32,
}

impl Default for RandomZoomOut {
    fn default() -> Self {
        Self { fill: Fill::default(), side_range: [1.0, 4.0], p: check::half() }
    }
}

impl RandomZoomOut {
    /// A black canvas, at most four times as wide and high, with probability 0.5.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets the minimum and the maximum factor.
        side_range: [f64; 2];
        /// Sets the probability of a larger canvas.
        p: f32;
    }

    /// The border: left, top, right, bottom.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> [u32; 4] {
        let [low, high] = self.side_range;
        let factor = draw::stretched(rng, low, high);
        // f32 holds every edge, so that no canvas is smaller than the image.
        let free = |edge: u32| draw::part_of(edge, factor).saturating_sub(edge);
        let (across, down) = (free(of.width), free(of.height));
        let left = draw::part_of(across, rng.uniform());
        let top = draw::part_of(down, rng.uniform());
        [left, top, across - left, down - top]
    }
}

impl Augment for RandomZoomOut {
    fn check(&self) -> Result<()> {
        check::range(self.name(), "side_range", self.side_range, 1.0, f64::from(f32::MAX))?;
        check::probability(self.name(), self.p)
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if rng.applies(self.p) {
            let padding = Padding::Sides(self.make_params(draft.size(), rng));
            draft.apply(Op::Pad { padding, fill: self.fill, padding_mode: PaddingMode::Constant });
        }
    }
}
