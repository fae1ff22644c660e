//! Downscale: makes a sample smaller and large again.

use super::limit::between;
use super::prelude::*;

/// Shrinks the sample by a random factor and enlarges it again, with probability `p` (Albumentations' `Downscale`).
///
/// The size stays, and so do objects, masks and second images.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Downscale {
    /// Minimum and maximum factor, from 0.001 to 1.
    pub scale_range: [f64; 2],
    /// How it is shrunk: `nearest` or `bilinear`, without antialias.
    pub downscale: Interpolation,
    /// How it is enlarged: `nearest`, `bilinear` or `bicubic`.
    pub upscale: Interpolation,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for Downscale {
    fn default() -> Self {
        let nearest = check::nearest();
        Self { scale_range: [0.25, 0.25], downscale: nearest, upscale: nearest, p: check::half() }
    }
}

impl Downscale {
    /// Shrinks by a factor from this range.
    pub fn new(scale_range: [f64; 2]) -> Self {
        Self { scale_range, ..Self::default() }
    }

    setters! {
        /// Sets how it is shrunk.
        downscale: Interpolation;
        /// Sets how it is enlarged.
        upscale: Interpolation;
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    Downscale,
    check: |this, name| {
        check::filter(name, this.downscale, false)?;
        check::range(name, "scale_range", this.scale_range, 0.001, 1.0)
    },
    plan: |this, draft, rng| {
        let (size, scale) = (draft.size(), between(this.scale_range, rng));
        let small = |edge: u32| ((f64::from(edge) * scale).round_ties_even() as u32).max(1);
        let small = Extent::Two([small(size.height), small(size.width)]);
        draft.shrink_and_enlarge(small, this.downscale, this.upscale);
    },
}
