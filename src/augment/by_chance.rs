//! Augmentations that are one op without arguments, each with a probability: flips, and changes of all levels.

use super::prelude::*;

/// Makes an augmentation of a struct whose only field is `p`: applies the op with probability `p`.
macro_rules! by_chance {
    ($Name:ident, $op:expr, p = $p:literal by default) => {
        impl $Name {
            /// Works with probability `p`.
            pub fn new(p: f32) -> Self {
                Self { p }
            }
        }

        impl Default for $Name {
            fn default() -> Self {
                Self::new($p)
            }
        }

        impl Augment for $Name {
            fn check(&self) -> Result<()> {
                check::probability(self.name(), self.p)
            }

            fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
                if rng.chance(self.p) {
                    draft.apply($op);
                }
            }
        }
    };
}

/// Stretches each channel to the whole range of levels, with probability `p` (torchvision's `RandomAutocontrast`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomAutocontrast {
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

by_chance! { RandomAutocontrast, Op::Autocontrast {}, p = 0.5 by default }

/// Equalizes the histogram of each channel, with probability `p` (torchvision's `RandomEqualize`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomEqualize {
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

by_chance! { RandomEqualize, Op::Equalize {}, p = 0.5 by default }

/// Replaces all channels with the luma, with probability `p` (torchvision's `RandomGrayscale`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomGrayscale {
    /// Probability of a grey sample, from 0 to 1.
    pub p: f32,
}

by_chance! { RandomGrayscale, Op::Grayscale { num_output_channels: 3 }, p = 0.1 by default }

/// Mirrors the sample left to right, with probability `p` (torchvision's `RandomHorizontalFlip`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomHorizontalFlip {
    /// Probability of a flip, from 0 to 1.
    pub p: f32,
}

by_chance! { RandomHorizontalFlip, Op::Hflip {}, p = 0.5 by default }

/// Replaces each level x with 255 - x, with probability `p` (torchvision's `RandomInvert`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomInvert {
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

by_chance! { RandomInvert, Op::Invert {}, p = 0.5 by default }

/// Mirrors the sample top to bottom, with probability `p` (torchvision's `RandomVerticalFlip`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomVerticalFlip {
    /// Probability of a flip, from 0 to 1.
    pub p: f32,
}

by_chance! { RandomVerticalFlip, Op::Vflip {}, p = 0.5 by default }
