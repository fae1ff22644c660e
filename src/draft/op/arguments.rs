//! The arguments of ops that can be written in several ways.

use crate::geometry::Size;
use serde::{Deserialize, Serialize};

/// Lets an argument that can be written in several ways be made of each of them.
macro_rules! variants_from {
    ($name:ident { $($variant:ident($from:ty)),+ }) => {$(
        impl From<$from> for $name {
            fn from(written: $from) -> Self {
                $name::$variant(written)
            }
        }
    )+};
}

pub(crate) use variants_from;

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

variants_from!(Extent { One(u32), Two([u32; 2]) });

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

/// Ops that run one after the other on a copy of the image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The weight of what they make in the sum.
    pub weight: f32,
    /// The ops.
    #[cfg_attr(test, schemars(with = "Vec<std::collections::BTreeMap<String, f64>>"))]
    pub ops: Vec<super::Op>,
}

/// What a border consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PaddingMode {
    /// One colour.
    #[default]
    Constant,
    /// The outermost pixels, repeated.
    Edge,
    /// The image mirrored at its outermost pixels, which are not repeated: narrower than the image.
    Reflect,
    /// The image mirrored at its edge: at most as wide as the image.
    Symmetric,
}

impl PaddingMode {
    /// Whether the border is of one colour.
    pub const fn is_constant(&self) -> bool {
        matches!(self, PaddingMode::Constant)
    }
}

/// How a lens bends an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LensModel {
    /// By k (r + r^2), where r is the square of the distance from the middle, the edges being 1.
    #[default]
    Camera,
    /// By k r, where r is the square of the distance from the middle, as a fraction of that of the corners.
    Fisheye,
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

variants_from!(Padding { All(u32), Sides([u32; 4]) });

variants_from!(Fill { Grey(u8), Rgb([u8; 3]) });

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
