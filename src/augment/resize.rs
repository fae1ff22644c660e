//! Resize: the whole image in another size.

use super::prelude::*;

/// Resizes to `[height, width]`, or the shorter edge to one number (torchvision's `Resize`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// `[height, width]` in pixels; one number is the length of the shorter edge. Each from 1 to 65535.
    pub size: Extent,
    /// `bilinear`, `bicubic` or `nearest`.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Maximum length of the longer edge, where `size` is one number; greater than `size`. Without it, no
    /// maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u32>,
    /// Widen the filter when shrinking; `bicubic` requires it.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

impl Resize {
    /// Resizes to `size` with torchvision's defaults.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into(), interpolation: Interpolation::default(), max_size: None, antialias: true }
    }

    setters! {
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the maximum length of the longer edge.
        max_size: some u32;
        /// Sets whether the filter is widened when shrinking.
        antialias: bool;
    }
}

impl Augment for Resize {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)?;
        check::filter(self.name(), self.interpolation, self.antialias)?;
        match (self.size, self.max_size) {
            (Extent::Two(_), Some(_)) => {
                bail!("Resize: max_size needs size to be one number, the shorter edge")
            }
            (Extent::One(edge) | Extent::Single([edge]), Some(most)) if most <= edge => {
                bail!("Resize: max_size = {most} must be strictly greater than the shorter edge {edge}");
            }
            _ => Ok(()),
        }
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let Self { size, interpolation, max_size, antialias } = *self;
        let size = match size {
            Extent::One(edge) | Extent::Single([edge]) => Extent::One(draft.sized_short(edge)),
            Extent::Two(_) => draft.sized(size),
        };
        draft.apply(Op::Resize { size, interpolation, max_size, antialias });
    }
}
