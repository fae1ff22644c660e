//! ResizeLongest: the longer edge at another length.

use super::mosaic;
use super::{Augment, check};
use crate::draft::Draft;
use crate::error::Result;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Resizes so that the longer edge is `imgsz`, as Ultralytics does when it loads an image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResizeLongest {
    /// Length of the longer edge.
    #[serde(default = "mosaic::imgsz")]
    pub imgsz: u32,
}

impl ResizeLongest {
    /// Resizes to a longer edge of `imgsz`.
    pub fn new(imgsz: u32) -> Self {
        Self { imgsz }
    }
}

impl Augment for ResizeLongest {
    fn name(&self) -> &'static str {
        "ResizeLongest"
    }

    fn check(&self) -> Result<()> {
        check::size(self.name(), self.imgsz.into())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        mosaic::load(draft, draft.sized_long(self.imgsz));
    }
}
