//! ImageCompression: what is left of an image after it was saved.

use super::prelude::*;

/// Makes of the image what a JPEG of a random quality makes of it, with probability `p` (Albumentations' `ImageCompression`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ImageCompression {
    /// Lowest and highest quality, each whole number between them as likely; from 1 to 100.
    pub quality_range: [u32; 2],
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for ImageCompression {
    fn default() -> Self {
        Self::new([99, 100])
    }
}

impl ImageCompression {
    /// Draws the quality from this range.
    pub fn new(quality_range: [u32; 2]) -> Self {
        Self { quality_range, p: check::half() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    ImageCompression,
    check: |this, name| check::range(name, "quality_range", this.quality_range.map(f64::from), 1.0, 100.0),
    plan: |this, draft, rng| {
        let [low, high] = this.quality_range;
        draft.apply(Op::JpegCompression { quality: low + rng.below(high - low + 1) });
    },
}
