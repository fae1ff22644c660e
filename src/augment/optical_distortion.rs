//! OpticalDistortion: bends the image as a lens does.

use super::Limit;
use super::prelude::*;
use crate::draft::op::LensModel;

/// Bends the image as a lens does, by a random amount and with probability `p` (Albumentations' `OpticalDistortion`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct OpticalDistortion {
    /// How much: above 0 the corners move towards the middle, below 0 away from it. One number for both directions, from 0 to
    /// 0.33; or `[min, max]`, at least -0.33, where the corners begin to fold, and at most 1.
    pub distort_limit: Limit,
    /// `camera`, which bends more towards the corners, or `fisheye`.
    pub mode: LensModel,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for OpticalDistortion {
    fn default() -> Self {
        Self::new([-0.05, 0.05])
    }
}

impl OpticalDistortion {
    /// Bends by an amount from this range.
    pub fn new(distort_limit: impl Into<Limit>) -> Self {
        Self {
            distort_limit: distort_limit.into(),
            mode: LensModel::Camera,
            interpolation: Interpolation::Bilinear,
            fill: Fill::default(),
            p: check::half(),
        }
    }

    setters! {
        /// Sets the kind of lens.
        mode: LensModel;
        /// Sets how pixels are made.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    OpticalDistortion,
    check: |this, name| {
        check::warp_filter(name, this.interpolation)?;
        this.distort_limit.check(name, "distort_limit", -0.33, 1.0)
    },
    plan: |this, draft, rng| {
        let k = this.distort_limit.draw(rng);
        let (mode, interpolation, fill) = (this.mode, this.interpolation, this.fill);
        draft.apply(Op::OpticalDistortion { k, mode, interpolation, fill });
    },
}
