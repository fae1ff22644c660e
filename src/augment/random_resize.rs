//! RandomResize: resizes the shorter edge to a length from a range.

use super::prelude::*;

/// Resizes the shorter edge to a whole number of pixels from `min_size` up to, and without, `max_size` (torchvision's
/// `RandomResize`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomResize {
    /// Minimum length of the shorter edge in pixels, from 1.
    pub min_size: u32,
    /// The length that is never reached; greater than `min_size`, to 65536.
    pub max_size: u32,
    /// `bilinear`, `bicubic` or `nearest`.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Widen the filter when shrinking; `bicubic` requires it.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

impl RandomResize {
    /// Lengths from `min_size` to `max_size - 1`, bilinear with antialias.
    pub fn new(min_size: u32, max_size: u32) -> Self {
        Self { min_size, max_size, interpolation: Interpolation::default(), antialias: true }
    }

    setters! {
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets whether the filter is widened when shrinking.
        antialias: bool;
    }

    /// The length of the shorter edge.
    pub fn make_params(&self, rng: &mut dyn Draws) -> u32 {
        self.min_size + rng.below(self.max_size.saturating_sub(self.min_size).max(1))
    }
}

impl Augment for RandomResize {
    fn check(&self) -> Result<()> {
        let Self { min_size, max_size, .. } = *self;
        ensure!(
            min_size < max_size,
            "RandomResize: max_size = {max_size} is never reached, so it must be greater than min_size = {min_size}"
        );
        [min_size, max_size - 1].into_iter().try_for_each(|edge| check::size(self.name(), edge.into()))?;
        check::filter(self.name(), self.interpolation, self.antialias)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let Self { interpolation, antialias, .. } = *self;
        let size = Extent::One(self.make_params(rng));
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias });
    }
}
