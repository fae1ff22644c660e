//! The random area and shape that RandomResizedCrop and RandomErasing share.

use crate::error::Result;
use crate::geometry::Size;
use crate::rng::Draws;

/// The number of tries before torchvision gives up.
pub(super) const TRIES: usize = 10;

/// The ranges of a patch: its fraction of the image's area, and its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Patch {
    pub(super) scale: [f64; 2],
    pub(super) ratio: [f64; 2],
}

impl Patch {
    /// The edges sqrt(area * ratio) and sqrt(area / ratio), rounded half to even, of one try in an image of size `of`.
    ///
    /// As in torchvision the draws, the logarithms and the exponential are f32, the rest f64. torch's own exponential
    /// depends on the machine (MKL; one result in a hundred is off by a unit in the last place); here it is correctly
    /// rounded, so that draws are the same everywhere.
    pub(super) fn draw(&self, of: Size, rng: &mut dyn Draws) -> [u64; 2] {
        let [low, high] = self.scale.map(|scale| scale as f32);
        let area = of.pixels() as f64 * f64::from(rng.uniform_between(low, high));
        let [low, high] = self.ratio.map(|ratio| f64::from(ratio as f32).ln() as f32);
        let ratio = f64::from(f64::from(rng.uniform_between(low, high)).exp() as f32);
        [area * ratio, area / ratio].map(|square| square.sqrt().round_ties_even() as u64)
    }

    pub(super) fn check(&self, name: &str, largest_scale: f64) -> Result<()> {
        super::check::range(name, "scale", self.scale, 0.0, largest_scale)?;
        // Wider ratios than these overflow f32 on the way.
        super::check::range(name, "ratio", self.ratio, 1e-6, 1e6)
    }
}
