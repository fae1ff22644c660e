//! Blur and MedianBlur: the mean and the median of what lies around each pixel.

use super::prelude::*;
use super::window_range::WindowRange;
use crate::plan::{MAX_MEDIAN, MAX_WINDOW};

/// Replaces each pixel with the mean of a square round it, with probability `p` (Albumentations' `Blur`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Blur {
    /// Edge of the window: odd numbers up to this one, or `[min, max]`; from 3 to 31.
    pub blur_limit: WindowRange,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

/// Replaces each level with the median of a square round it, with probability `p` (Albumentations' `MedianBlur`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MedianBlur {
    /// Edge of the window: odd numbers up to this one, or `[min, max]`; from 3 to 15.
    pub blur_limit: WindowRange,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

/// Makes blurs of one number: how they are made, and what they do.
macro_rules! blurs {
    ($($Name:ident, $most:expr, |$edge:ident| $op:expr;)+) => {$(
        impl Default for $Name {
            fn default() -> Self {
                Self::new([3, 7])
            }
        }

        impl $Name {
            /// Draws the edge of the window from these odd numbers.
            pub fn new(blur_limit: impl Into<WindowRange>) -> Self {
                Self { blur_limit: blur_limit.into(), p: check::half() }
            }

            setters! {
                /// Sets the probability of a change.
                p: f32;
            }
        }

        by_own_chance! {
            $Name,
            check: |this, name| this.blur_limit.check(name, $most),
            plan: |this, draft, rng| {
                let $edge = this.blur_limit.draw(rng);
                draft.apply($op);
            },
        }
    )+};
}

blurs! {
    Blur, MAX_WINDOW, |edge| Op::BoxBlur { kernel_size: [edge; 2] };
    MedianBlur, MAX_MEDIAN, |edge| Op::MedianBlur { kernel_size: edge };
}
