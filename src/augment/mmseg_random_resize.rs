//! MmsegRandomResize: resizes to a random multiple of a scale, as mmseg's training pipelines do.

use super::prelude::*;

/// Resizes to `scale` times a factor from `ratio_range`: to just that size, or with `keep_ratio` as large as fits it (mmseg's
/// `RandomResize`).
///
/// With `keep_ratio` the longer edge is at most the larger number of the scale and the shorter one at most the smaller,
/// whichever way the image lies. mmseg shrinks without a wider filter, and so does this unless `antialias` is set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MmsegRandomResize {
    /// `[width, height]` in pixels at a factor of 1; each from 1 to 65535.
    pub scale: [u32; 2],
    /// Minimum and maximum factor; greater than 0.
    #[serde(default = "always_once")]
    pub ratio_range: [f64; 2],
    /// Keep the aspect ratio of the image.
    #[serde(default)]
    pub keep_ratio: bool,
    /// `bilinear`, `bicubic` or `nearest`.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Widen the filter when shrinking; `bicubic` requires it.
    #[serde(default)]
    pub antialias: bool,
}

const fn always_once() -> [f64; 2] {
    [1.0, 1.0]
}

impl MmsegRandomResize {
    /// Always to `[width, height]`, bilinear.
    pub fn new(scale: [u32; 2]) -> Self {
        let interpolation = Interpolation::default();
        Self { scale, ratio_range: always_once(), keep_ratio: false, interpolation, antialias: false }
    }

    setters! {
        /// Sets the minimum and the maximum factor.
        ratio_range: [f64; 2];
        /// Sets whether the aspect ratio of the image is kept.
        keep_ratio: bool;
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets whether the filter is widened when shrinking.
        antialias: bool;
    }

    /// The new size; never empty, where mmseg's can be.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Size {
        let [low, high] = self.ratio_range;
        let ratio = low + f64::from(rng.uniform()) * (high - low);
        let [width, height] = self.scale.map(|edge| ((f64::from(edge) * ratio) as u32).max(1));
        if !self.keep_ratio {
            return Size::new(width, height);
        }
        let fits = |most: u32, edge: u32| f64::from(most) / f64::from(edge);
        let longer = fits(width.max(height), of.width.max(of.height));
        let factor = longer.min(fits(width.min(height), of.width.min(of.height)));
        let scaled = |edge: u32| ((f64::from(edge) * factor + 0.5) as u32).max(1);
        Size::new(scaled(of.width), scaled(of.height))
    }
}

impl Augment for MmsegRandomResize {
    fn check(&self) -> Result<()> {
        check::size(self.name(), Extent::Two(self.scale))?;
        check::range(self.name(), "ratio_range", self.ratio_range, f64::MIN_POSITIVE, f64::from(f32::MAX))?;
        check::filter(self.name(), self.interpolation, self.antialias)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let size = Extent::from(self.make_params(draft.size(), rng));
        let Self { interpolation, antialias, .. } = *self;
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias });
    }
}
