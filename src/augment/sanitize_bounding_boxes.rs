//! SanitizeBoundingBoxes: drops objects of which too little is left.

use super::prelude::*;

/// Drops objects whose boxes are small or reach beyond the canvas (torchvision's `SanitizeBoundingBoxes`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SanitizeBoundingBoxes {
    /// Minimum width and height in pixels; at least 1.
    pub min_size: f64,
    /// Minimum area in pixels; at least 1.
    pub min_area: f64,
}

impl SanitizeBoundingBoxes {
    /// Keeps boxes at least this wide and high, and of this area, in pixels.
    pub fn new(min_size: f64, min_area: f64) -> Self {
        Self { min_size, min_area }
    }
}

impl Default for SanitizeBoundingBoxes {
    fn default() -> Self {
        Self::new(1.0, 1.0)
    }
}

impl Augment for SanitizeBoundingBoxes {
    fn check(&self) -> Result<()> {
        for (name, value) in [("min_size", self.min_size), ("min_area", self.min_area)] {
            let sound = value >= 1.0 && value.is_finite();
            ensure!(sound, "SanitizeBoundingBoxes: {name} must be >= 1, got {value}");
        }
        Ok(())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let Self { min_size, min_area } = *self;
        draft.apply(Op::SanitizeBoundingBoxes { min_size, min_area });
    }
}
