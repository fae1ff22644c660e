//! CenterCrop: the middle of the image.

use super::prelude::*;

/// Crops the centre; a smaller image is padded with black first (torchvision's `CenterCrop`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CenterCrop {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
}

impl CenterCrop {
    /// Crops to `size`.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into() }
    }
}

impl Augment for CenterCrop {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        draft.apply(Op::CenterCrop { output_size: draft.sized(self.size) });
    }
}
