//! ResizeLongest: resizes the longer edge to a given length.

use super::mosaic;
use super::prelude::*;

/// Resizes the longer edge to `imgsz`, as Ultralytics' `load_image` does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResizeLongest {
    /// Length of the longer edge in pixels, from 1 to 65535.
    #[serde(default = "mosaic::imgsz")]
    pub imgsz: u32,
    /// Widen the filter when shrinking. Ultralytics does not.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

impl ResizeLongest {
    /// Resizes to a longer edge of `imgsz`.
    pub fn new(imgsz: u32) -> Self {
        Self { imgsz, antialias: true }
    }

    setters! {
        /// Sets whether the filter is widened when shrinking.
        antialias: bool;
    }
}

impl Augment for ResizeLongest {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.imgsz.into())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        mosaic::load(draft, draft.sized_long(self.imgsz), self.antialias);
    }
}
