//! The operations on a draft, with torchvision's functional names, arguments and defaults.
//!
//! An augmentation draws parameters and makes ops of them; `feedline apply` reads the same ops from JSON, and
//! `feedline plan` writes them, so that what was drawn can be run again by hand.

mod catalogue;
#[cfg(test)]
mod page;

pub use catalogue::{CATALOGUE, Entry};

use crate::geometry::Size;
use serde::{Deserialize, Serialize};

/// One operation with explicit parameters.
///
/// Positions count from the left top corner; sizes are `[height, width]`, as in torchvision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Op {
    /// Cuts a rectangle out; what lies outside the image is black.
    Crop {
        /// First row.
        top: i32,
        /// First column.
        left: i32,
        /// Rows.
        height: u32,
        /// Columns.
        width: u32,
    },
    /// Cuts the middle out, after padding with black where the image is smaller.
    CenterCrop {
        /// `[height, width]`, or one number for a square.
        output_size: Extent,
    },
    /// Cuts a rectangle out and resamples it.
    ResizedCrop {
        /// First row.
        top: i32,
        /// First column.
        left: i32,
        /// Rows.
        height: u32,
        /// Columns.
        width: u32,
        /// `[height, width]`; one number is the length of the shorter edge.
        size: Extent,
        /// `bilinear` (default), `bicubic` or `nearest`.
        #[serde(default)]
        interpolation: Interpolation,
        /// Widen the filter when shrinking (default true).
        #[serde(default = "yes")]
        antialias: bool,
    },
    /// Resamples the whole image.
    Resize {
        /// `[height, width]`; one number is the length of the shorter edge.
        size: Extent,
        /// `bilinear` (default), `bicubic` or `nearest`.
        #[serde(default)]
        interpolation: Interpolation,
        /// Longest allowed edge, where `size` is one number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_size: Option<u32>,
        /// Widen the filter when shrinking (default true).
        #[serde(default = "yes")]
        antialias: bool,
    },
    /// Adds a border of one colour.
    Pad {
        /// `[left, top, right, bottom]`, `[left and right, top and bottom]`, or one number for all.
        padding: Padding,
        /// A grey level or `[r, g, b]`, in 0..=255 (default 0).
        #[serde(default)]
        fill: Fill,
    },
    /// Turns, moves, scales and shears the image round its middle, or `center`, without changing its size.
    Affine {
        /// Degrees, clockwise.
        angle: f64,
        /// Pixels to the right and down.
        #[serde(default)]
        translate: [f64; 2],
        /// Greater than 1 makes larger.
        #[serde(default = "one")]
        scale: f64,
        /// Degrees along x, or `[x, y]`; one number in a list means both (default 0).
        #[serde(default)]
        shear: Shear,
        /// `nearest` (default) or `bilinear`.
        #[serde(default = "nearest")]
        interpolation: Interpolation,
        /// The colour around; without one it is black, but the image's edge is not blended with it a second time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<Fill>,
        /// `[x, y]` from the left top corner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<[f64; 2]>,
    },
    /// Turns the image round its middle, or `center`.
    Rotate {
        /// Degrees, counterclockwise.
        angle: f64,
        /// `nearest` (default) or `bilinear`.
        #[serde(default = "nearest")]
        interpolation: Interpolation,
        /// Makes the canvas as large as the turned image needs; meant for turns round the middle.
        #[serde(default)]
        expand: bool,
        /// `[x, y]` from the left top corner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<[f64; 2]>,
        /// The colour around; without one it is black, but the image's edge is not blended with it a second time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<Fill>,
    },
    /// Moves four points of the image to four others, as a camera from another side would.
    Perspective {
        /// Four points `[x, y]` of the image, as a rule its corners from the left top one clockwise.
        startpoints: [[i32; 2]; 4],
        /// Where they go.
        endpoints: [[i32; 2]; 4],
        /// `bilinear` (default) or `nearest`.
        #[serde(default)]
        interpolation: Interpolation,
        /// The colour around; without one it is black, but the image's edge is not blended with it a second time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<Fill>,
    },
    /// Mirrors left to right.
    Hflip {},
    /// Mirrors top to bottom.
    Vflip {},
    /// Multiplies by `factor`.
    Brightness {
        /// 0 is black, 1 changes nothing.
        factor: f64,
    },
    /// Blends with the mean of the luma.
    Contrast {
        /// 0 is grey, 1 changes nothing.
        factor: f64,
    },
    /// Blends with the luma.
    Saturation {
        /// 0 is grey, 1 changes nothing.
        factor: f64,
    },
    /// Turns the hue.
    Hue {
        /// Share of the full circle, in -0.5..=0.5.
        factor: f64,
    },
    /// Replaces all channels by the luma.
    Grayscale {
        /// Always 3 here: every sample has three channels.
        #[serde(default = "three")]
        num_output_channels: u32,
    },
    /// Inverts the levels from a threshold on.
    Solarize {
        /// Least level that is inverted, at most 255.
        threshold: f64,
    },
    /// Keeps the highest bits of each level.
    Posterize {
        /// Bits that are kept, in 0..=8.
        bits: u32,
    },
    /// Replaces each level x by 255 - x.
    Invert {},
    /// Changes the order of the channels.
    PermuteChannels {
        /// Which channel of before becomes red, green and blue; 0 is red.
        permutation: [u32; 3],
    },
    /// Stretches each channel so that its least level becomes 0 and its greatest 255.
    Autocontrast {},
    /// Spreads the levels of each channel so that all are about as frequent.
    Equalize {},
    /// Blends with the mean of the neighbours.
    Sharpness {
        /// 0 is smooth, 1 changes nothing.
        factor: f64,
    },
    /// Blurs with a normal distribution.
    GaussianBlur {
        /// Columns and rows of the kernel, odd and at most 127.
        kernel_size: [u32; 2],
        /// Standard deviation along x and y, in pixels.
        sigma: [f64; 2],
    },
    /// Fills a rectangle after normalise.
    Erase {
        /// First row.
        i: i32,
        /// First column.
        j: i32,
        /// Rows.
        h: u32,
        /// Columns.
        w: u32,
        /// Fill in normalised units: one number, or one a channel (default 0).
        #[serde(default)]
        v: Value,
    },
    /// (x / 255 - mean) / std a channel; only erase, crops and flips may follow.
    Normalize {
        /// Mean a channel, in 0..=1.
        mean: [f64; 3],
        /// Standard deviation a channel.
        std: [f64; 3],
    },
}

const fn yes() -> bool {
    true
}

const fn three() -> u32 {
    3
}

const fn one() -> f64 {
    1.0
}

const fn nearest() -> Interpolation {
    Interpolation::Nearest
}

/// One length or `[height, width]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a length, or [height, width]")]
pub enum Extent {
    /// One number: a shorter edge, or a square, as the op says.
    One(u32),
    /// One number in a list, which means the same.
    Single([u32; 1]),
    /// `[height, width]`.
    Two([u32; 2]),
}

impl Extent {
    /// Width and height, where one number means a square.
    pub const fn square(self) -> Size {
        match self {
            Extent::One(edge) | Extent::Single([edge]) => Size::new(edge, edge),
            Extent::Two([height, width]) => Size::new(width, height),
        }
    }
}

impl From<u32> for Extent {
    fn from(edge: u32) -> Self {
        Extent::One(edge)
    }
}

impl From<[u32; 2]> for Extent {
    fn from(height_and_width: [u32; 2]) -> Self {
        Extent::Two(height_and_width)
    }
}

impl From<Size> for Extent {
    fn from(size: Size) -> Self {
        Extent::Two([size.height, size.width])
    }
}

/// How pixels between pixels are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Triangle.
    #[default]
    Bilinear,
    /// Cubic convolution, a = -0.5 with antialias as Pillow's.
    Bicubic,
    /// The nearest pixel, rounding down.
    Nearest,
}

/// The border's widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "one number, [x, y] or [left, top, right, bottom]")]
pub enum Padding {
    /// The same on all sides.
    All(u32),
    /// The same on all sides, in a list.
    Single([u32; 1]),
    /// Left and right, top and bottom.
    Pair([u32; 2]),
    /// Left, top, right, bottom.
    Sides([u32; 4]),
}

impl Padding {
    /// Left, top, right, bottom.
    pub const fn sides(self) -> [u32; 4] {
        match self {
            Padding::All(n) | Padding::Single([n]) => [n, n, n, n],
            Padding::Pair([x, y]) => [x, y, x, y],
            Padding::Sides(sides) => sides,
        }
    }
}

/// Degrees of shear.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number of degrees, or [x, y]")]
pub enum Shear {
    /// Along x alone.
    X(f64),
    /// The same along both axes, in a list.
    Single([f64; 1]),
    /// Along x and along y.
    Both([f64; 2]),
}

impl Default for Shear {
    fn default() -> Self {
        Shear::X(0.0)
    }
}

impl Shear {
    /// Along x and along y.
    pub const fn both(self) -> [f64; 2] {
        match self {
            Shear::X(x) => [x, 0.0],
            Shear::Single([both]) => [both, both],
            Shear::Both(both) => both,
        }
    }
}

/// A u8 colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a level in 0..=255, or [r, g, b]")]
pub enum Fill {
    /// The same level in all channels.
    Grey(u8),
    /// Red, green, blue.
    Rgb([u8; 3]),
}

impl From<u32> for Padding {
    fn from(all: u32) -> Self {
        Padding::All(all)
    }
}

impl From<[u32; 4]> for Padding {
    fn from(sides: [u32; 4]) -> Self {
        Padding::Sides(sides)
    }
}

impl From<u8> for Fill {
    fn from(level: u8) -> Self {
        Fill::Grey(level)
    }
}

impl From<[u8; 3]> for Fill {
    fn from(rgb: [u8; 3]) -> Self {
        Fill::Rgb(rgb)
    }
}

impl Default for Fill {
    fn default() -> Self {
        Fill::Grey(0)
    }
}

impl Fill {
    /// Red, green, blue.
    pub const fn rgb(self) -> [u8; 3] {
        match self {
            Fill::Grey(level) => [level; 3],
            Fill::Rgb(rgb) => rgb,
        }
    }
}

/// A colour in normalised units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, [r, g, b], or { key = [a, b] } for noise")]
pub enum Value {
    /// The same in all channels.
    One(f32),
    /// Red, green, blue.
    Rgb([f32; 3]),
    /// Standard normal noise from the counter hash with this key.
    Noise {
        /// The hash's key.
        key: [u32; 2],
    },
}

impl Default for Value {
    fn default() -> Self {
        Value::One(0.0)
    }
}
