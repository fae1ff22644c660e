//! An interpolation, or one that is drawn for each sample.

use crate::draft::op::Interpolation;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// How pixels between pixels are made: in one way, or in one that is drawn for each sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InterpolationChoice {
    /// [`Interpolation::Bilinear`].
    #[default]
    Bilinear,
    /// [`Interpolation::Bicubic`].
    Bicubic,
    /// [`Interpolation::Nearest`].
    Nearest,
    /// Bilinear or bicubic, each with a probability of a half, as timm draws it.
    Random,
}

impl InterpolationChoice {
    /// The one to use; only `random` draws.
    pub fn pick(self, rng: &mut dyn Draws) -> Interpolation {
        match self {
            InterpolationChoice::Bilinear => Interpolation::Bilinear,
            InterpolationChoice::Bicubic => Interpolation::Bicubic,
            InterpolationChoice::Nearest => Interpolation::Nearest,
            InterpolationChoice::Random => {
                [Interpolation::Bilinear, Interpolation::Bicubic][rng.below(2) as usize]
            }
        }
    }
}

impl From<Interpolation> for InterpolationChoice {
    fn from(fixed: Interpolation) -> Self {
        match fixed {
            Interpolation::Bilinear => InterpolationChoice::Bilinear,
            Interpolation::Bicubic => InterpolationChoice::Bicubic,
            Interpolation::Nearest => InterpolationChoice::Nearest,
        }
    }
}
