//! The edge of a window round a pixel, as Albumentations' blurs draw it.

use crate::draft::op::variants_from;
use crate::error::{Result, ensure};
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// The edges that a window is drawn from: odd numbers from 3 to the number, or of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "an odd number, or [min, max]")]
pub enum WindowRange {
    /// From 3 to this.
    UpTo(u32),
    /// Minimum and maximum.
    Between([u32; 2]),
}

variants_from!(WindowRange { UpTo(u32), Between([u32; 2]) });

impl WindowRange {
    /// Minimum and maximum.
    pub const fn range(self) -> [u32; 2] {
        match self {
            WindowRange::UpTo(most) => [3, most],
            WindowRange::Between(range) => range,
        }
    }

    pub(super) fn check(self, name: &str, most: usize) -> Result<()> {
        let [low, high] = self.range();
        ensure!(
            low % 2 == 1 && high % 2 == 1 && low >= 3 && low <= high && high as usize <= most,
            "{name}: blur_limit should be odd numbers from 3 to {most}, the smaller first, but is [{low}, {high}]"
        );
        Ok(())
    }

    /// An odd number, each as likely.
    pub(super) fn draw(self, rng: &mut dyn Draws) -> u32 {
        let [low, high] = self.range();
        low + 2 * rng.below(high.saturating_sub(low) / 2 + 1)
    }
}
