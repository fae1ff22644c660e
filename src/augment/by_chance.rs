//! Augmentations that are one op with a probability, of one argument or none: flips, and changes of all levels.

use super::prelude::*;

/// Makes augmentations of no argument but the probability `p`, with its default, that the op is applied with.
macro_rules! by_chance {
    ($($(#[doc = $doc:literal])+ $Name:ident { #[doc = $p_doc:literal] p = $p:literal } => $op:expr;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        pub struct $Name {
            #[doc = $p_doc]
            pub p: f32,
        }

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

            fn p(&self) -> Option<f32> {
                Some(self.p)
            }

            fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
                if rng.applies(self.p) {
                    draft.apply($op);
                }
            }
        }
    )+};
}

by_chance! {
    /// Stretches each channel to the whole range of levels, with probability `p` (torchvision's `RandomAutocontrast`).
    RandomAutocontrast {
        /// Probability of a change, from 0 to 1.
        p = 0.5
    } => Op::Autocontrast {};

    /// Equalizes the histogram of each channel, with probability `p` (torchvision's `RandomEqualize`).
    RandomEqualize {
        /// Probability of a change, from 0 to 1.
        p = 0.5
    } => Op::Equalize {};

    /// Replaces all channels with the luma, with probability `p` (torchvision's `RandomGrayscale`).
    RandomGrayscale {
        /// Probability of a grey sample, from 0 to 1.
        p = 0.1
    } => Op::Grayscale { num_output_channels: 3 };

    /// Mirrors the sample left to right, with probability `p` (torchvision's `RandomHorizontalFlip`).
    RandomHorizontalFlip {
        /// Probability of a flip, from 0 to 1.
        p = 0.5
    } => Op::Hflip {};

    /// Replaces each level x with 255 - x, with probability `p` (torchvision's `RandomInvert`).
    RandomInvert {
        /// Probability of a change, from 0 to 1.
        p = 0.5
    } => Op::Invert {};

    /// Replaces all channels with OpenCV's grey, with probability `p` (Albumentations' `ToGray`).
    ToGray {
        /// Probability of a grey sample, from 0 to 1.
        p = 0.5
    } => Op::ToGray {};

    /// Swaps rows and columns, and so width and height, with probability `p` (Albumentations' `Transpose`).
    Transpose {
        /// Probability of a change, from 0 to 1.
        p = 0.5
    } => Op::Transpose {};

    /// Mirrors the sample top to bottom, with probability `p` (torchvision's `RandomVerticalFlip`).
    RandomVerticalFlip {
        /// Probability of a flip, from 0 to 1.
        p = 0.5
    } => Op::Vflip {};
}

/// Makes augmentations of one argument, whose values lie in a range, and the probability `p`, a half by default, that the
/// op of that argument is applied with.
macro_rules! one_argument_by_chance {
    ($(
        $(#[doc = $doc:literal])+
        $Name:ident {
            #[doc = $field_doc:literal]
            $field:ident: $type:ty, in $range:expr, $should_be:literal
        } => $op:expr;
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $Name {
            #[doc = $field_doc]
            pub $field: $type,
            /// Probability of a change, from 0 to 1.
            #[serde(default = "check::half")]
            pub p: f32,
        }

        impl $Name {
            /// Works with torchvision's probability of a half.
            pub fn new($field: $type) -> Self {
                Self { $field, p: check::half() }
            }

            setters! {
                /// Sets the probability of a change.
                p: f32;
            }
        }

        impl Augment for $Name {
            fn check(&self) -> Result<()> {
                let (name, what, value) = (self.name(), stringify!($field), self.$field);
                ensure!(($range).contains(&value), "{name}: {what} should be {}, but is {value}", $should_be);
                check::probability(name, self.p)
            }

            fn p(&self) -> Option<f32> {
                Some(self.p)
            }

            fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
                if rng.applies(self.p) {
                    let op = $op;
                    draft.apply(op(self.$field));
                }
            }
        }
    )+};
}

one_argument_by_chance! {
    /// Blends each pixel with the mean of its neighbours, with probability `p` (torchvision's `RandomAdjustSharpness`).
    RandomAdjustSharpness {
        /// 0 smooths, 1 changes nothing, 2 doubles the sharpness; at least 0.
        sharpness_factor: f64, in 0.0..=f64::from(f32::MAX), "non negative"
    } => |factor| Op::Sharpness { factor };

    /// Keeps the high bits of each level, with probability `p` (torchvision's `RandomPosterize`).
    RandomPosterize {
        /// Number of bits that are kept, from 0 to 8.
        bits: u32, in 0..=8, "in 0..=8"
    } => |bits| Op::Posterize { bits };

    /// Inverts all levels at or above a threshold, with probability `p` (torchvision's `RandomSolarize`).
    RandomSolarize {
        /// Lowest level that is inverted; at most 255.
        threshold: f64, in f64::from(f32::MIN)..=255.0, "at most 255"
    } => |threshold| Op::Solarize { threshold };
}
