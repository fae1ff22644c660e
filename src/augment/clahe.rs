//! CLAHE: equalizes the lightness of tiles.

use super::limit::between;
use super::prelude::*;

/// Equalizes the lightness tile by tile, with a random limit to the contrast and with probability `p` (Albumentations'
/// `CLAHE`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CLAHE {
    /// How often a lightness may occur in a tile, compared with the mean of all: a number, for 1 up to it, or `[min, max]`;
    /// from 1 to 1000.
    pub clip_limit: ClipLimit,
    /// Tiles along x and y, from 1 to 64 each.
    pub tile_grid_size: [u32; 2],
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

/// The range that a limit to the contrast is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, or [min, max]")]
pub enum ClipLimit {
    /// From 1 to this.
    UpTo(f64),
    /// Minimum and maximum.
    Between([f64; 2]),
}

variants_from!(ClipLimit { UpTo(f64), Between([f64; 2]) });

impl ClipLimit {
    /// Minimum and maximum.
    pub const fn range(self) -> [f64; 2] {
        match self {
            ClipLimit::UpTo(most) => [1.0, most],
            ClipLimit::Between(range) => range,
        }
    }
}

impl Default for CLAHE {
    fn default() -> Self {
        Self::new(4.0)
    }
}

impl CLAHE {
    /// Draws the limit from 1 to a number, or from a range.
    pub fn new(clip_limit: impl Into<ClipLimit>) -> Self {
        Self { clip_limit: clip_limit.into(), tile_grid_size: [8, 8], p: check::half() }
    }

    setters! {
        /// Sets the number of tiles along x and y.
        tile_grid_size: [u32; 2];
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    CLAHE,
    check: |this, name| {
        let grid = this.tile_grid_size;
        ensure!(
            grid.iter().all(|count| (1..=64).contains(count)),
            "{name}: tile_grid_size should be between 1 and 64, but is {grid:?}"
        );
        check::range(name, "clip_limit", this.clip_limit.range(), 1.0, 1000.0)
    },
    plan: |this, draft, rng| {
        let clip_limit = between(this.clip_limit.range(), rng);
        draft.apply(Op::Clahe { clip_limit, tile_grid_size: this.tile_grid_size });
    },
}
