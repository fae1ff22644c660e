//! The operations on a draft, with torchvision's functional names, arguments and defaults.
//!
//! An augmentation draws parameters and makes ops of them; `feedline apply` reads the same ops from JSON, and
//! `feedline plan` writes them, so that what was drawn can be run again by hand. What an op does stands in
//! `perform.rs`; names and examples stand in the catalogue, those of colour operations in [`crate::color`].

mod arguments;
mod catalogue;
#[cfg(test)]
pub(crate) mod page;
mod perform;

pub(crate) use arguments::variants_from;
pub use arguments::{Chain, Extent, Fill, Interpolation, LensModel, Padding, PaddingMode, Shear, Value};
pub use catalogue::{CATALOGUE, Entry};

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
    /// Adds a border: of one colour, or of the image's own pixels.
    Pad {
        /// `[left, top, right, bottom]`, `[left and right, top and bottom]`, or one number for all.
        padding: Padding,
        /// A grey level or `[r, g, b]`, in 0..=255 (default 0).
        #[serde(default)]
        fill: Fill,
        /// `constant` (`fill`), `edge` (the outermost pixels, repeated), `reflect` (mirrored at them) or `symmetric` (mirrored at the edge).
        #[serde(default, skip_serializing_if = "PaddingMode::is_constant")]
        #[cfg_attr(test, schemars(extend("default" = "constant")))]
        padding_mode: PaddingMode,
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
    /// Looks each pixel up through an affine map, with Pillow's pixels (`Image.transform`).
    PillowAffine {
        /// `[a, b, c, d, e, f]`: the pixel with its centre at (x, y) is looked up at (a x + b y + c, d x + e y + f). The
        /// centre of the first pixel is (0.5, 0.5).
        data: [f64; 6],
        /// `bicubic` (default) or `bilinear`.
        #[serde(default = "bicubic")]
        resample: Interpolation,
        /// The colour around (default 0).
        #[serde(default)]
        fillcolor: Fill,
    },
    /// Looks each pixel up through an affine map, as OpenCV's `warpAffine` does but without its rounding of positions.
    WarpAffine {
        /// Two rows `[a, b, c]`: a point (x, y) goes to (a x + b y + c, ...). The centre of the first pixel is (0.5, 0.5).
        matrix: [[f64; 3]; 2],
        /// `bilinear` (default) or `nearest`.
        #[serde(default)]
        interpolation: Interpolation,
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
    /// Maps the canvas onto one of another size, as the detection set does. Images are sampled once, also where they
    /// were resized or laid side by side before, so that this is sharper than one op after another.
    WarpPerspective {
        /// From here to there, row by row; a point (x, y, 1) becomes (x', y', w') and lies at (x' / w', y' / w'). The
        /// centre of the first pixel is (0.5, 0.5).
        matrix: [[f64; 3]; 3],
        /// `[height, width]`, or one number for a square.
        size: Extent,
        /// The colour around (default 0).
        #[serde(default)]
        fill: Fill,
        /// Widen the filter where the map shrinks (default true). Without, what was resized or laid side by side before is
        /// sampled as pixels, as OpenCV would.
        #[serde(default = "yes")]
        antialias: bool,
    },
    /// Pastes parts of the canvas, mirrored left to right, onto it, with copies of the objects that they show.
    PasteMirrored {
        /// What is covered: outlines of points `[x, y]` on the canvas, by the even-odd rule each; empty for nothing.
        polygons: Vec<Vec<[f64; 2]>>,
        /// Numbers, from 0 on, of the objects on the canvas of which a mirrored copy is added.
        #[serde(default)]
        objects: Vec<u32>,
    },
    /// Covers rectangles with one colour; objects stay as they are.
    FillRectangles {
        /// `[left, top, right, bottom]` each, in pixels; at most 64.
        rectangles: Vec<[u32; 4]>,
        /// The colour (default 0).
        #[serde(default)]
        fill: Fill,
    },
    /// Mirrors left to right.
    Hflip {},
    /// Mirrors top to bottom.
    Vflip {},
    /// Swaps rows and columns.
    Transpose {},
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
    /// Turns the hue and multiplies saturation and value, in OpenCV's uint8 HSV with the tables of Ultralytics.
    Hsv {
        /// Share of the full circle, in -1..=1.
        hue: f64,
        /// 0 is grey, 1 changes nothing; at most 64.
        saturation: f64,
        /// 0 is black, 1 changes nothing; at most 64.
        value: f64,
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
    /// Adds to the levels below a threshold.
    SolarizeAdd {
        /// What is added, from 0 to 255; the sum is at most 255.
        addition: u8,
        /// Least level that stays as it is (default 128).
        #[serde(default = "half_of_the_levels")]
        threshold: u8,
    },
    /// Keeps the highest bits of each level.
    Posterize {
        /// Bits that are kept, in 0..=8.
        bits: u32,
    },
    /// Changes the order of the channels.
    PermuteChannels {
        /// Which channel of before becomes red, green and blue; 0 is red.
        permutation: [u32; 3],
    },
    /// Stretches each channel so that its least level becomes 0 and its greatest 255.
    Autocontrast {},
    /// Spreads the levels of each channel so that all are about as frequent.
    Equalize {},
    /// Raises each level, as a share of 255, to a power, as Albumentations does.
    Gamma {
        /// Below 1 makes brighter; from 0.01 to 100.
        gamma: f64,
    },
    /// Replaces each level x by alpha x + beta, cut off, as Albumentations does.
    BrightnessContrast {
        /// 0 is flat, 1 changes nothing; at least 0.
        alpha: f64,
        /// In levels.
        beta: f64,
    },
    /// Adds a number to each channel.
    ShiftRgb {
        /// Levels for red, green and blue, cut off to whole numbers in -255..=255.
        shift: [f64; 3],
    },
    /// Adds to hue, saturation and value, in OpenCV's uint8 HSV, as Albumentations does. Grey stays grey.
    ShiftHsv {
        /// Half degrees, in -180..=180.
        hue: f64,
        /// Levels, cut off to whole numbers in -255..=255.
        saturation: f64,
        /// Levels, cut off to whole numbers in -255..=255.
        value: f64,
    },
    /// Replaces all channels by OpenCV's grey, which is rounded where torchvision's is cut off.
    ToGray {},
    /// Replaces each level x by 255 - x.
    Invert {},
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
    /// Does each chain of ops to a copy of the image, and sums what they make up. Labels stay where they are.
    SumChains {
        /// Objects with `weight` (0..=1) and `ops`, which must not change the size; `[]` is the image itself.
        chains: Vec<Chain>,
        /// The sum is laid over the image with this weight, as Pillow's `Image.blend` does; without it, it replaces it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blend: Option<f32>,
    },
    /// Replaces each pixel by the rounded mean of a window round it, as OpenCV's `blur` does.
    BoxBlur {
        /// Columns and rows of the window, odd and at most 31.
        kernel_size: [u32; 2],
    },
    /// Replaces each level by the median of a square window round it, as OpenCV's `medianBlur` does.
    MedianBlur {
        /// Columns and rows of the window, odd and at most 15.
        kernel_size: u32,
    },
    /// Replaces each level by a sum of the levels round it times weights, as OpenCV's `filter2D` does.
    Convolve {
        /// Rows of weights, the middle one for the level itself; both edges odd and at most 31.
        kernel: Vec<Vec<f64>>,
    },
    /// Equalizes the lightness of tiles with a limit to their contrast: OpenCV's CLAHE on the L of its uint8 Lab.
    Clahe {
        /// How often a lightness may occur in a tile, compared with the mean of all (default 4).
        #[serde(default = "four")]
        clip_limit: f64,
        /// Tiles along x and y, at most 64 each (default 8).
        #[serde(default = "eight_each")]
        tile_grid_size: [u32; 2],
    },
    /// Adds normal noise to each level, and cuts off.
    GaussNoise {
        /// The key of the counter hash that the noise is made by.
        key: [u32; 2],
        /// In levels (default 0).
        #[serde(default)]
        mean: f64,
        /// Standard deviation, in levels; at most 255.
        std: f64,
        /// Whether each channel gets numbers of its own (default true).
        #[serde(default = "yes")]
        per_channel: bool,
    },
    /// Multiplies levels by random factors, and cuts off.
    MultiplicativeNoise {
        /// The key of the counter hash that the factors are made by.
        key: [u32; 2],
        /// Minimum and maximum factor, from 0 to 255.
        multiplier: [f64; 2],
        /// Whether each channel gets a factor of its own (default false).
        #[serde(default)]
        per_channel: bool,
        /// Whether each pixel gets a factor of its own (default true).
        #[serde(default = "yes")]
        elementwise: bool,
    },
    /// Adds the noise of a camera's sensor, as Albumentations' `ISONoise` does.
    IsoNoise {
        /// The key of the counter hash that the noise is made by.
        key: [u32; 2],
        /// Standard deviation of the hue in degrees, for an intensity of 1; from 0 to 1.
        color_shift: f64,
        /// How much lighter grains are, and how many there are; from 0 to 1.
        intensity: f64,
    },
    /// Makes what libjpeg makes of the image by saving it, with colour differences at half the size, and loading it again.
    JpegCompression {
        /// From 1 to 100.
        quality: u32,
    },
    /// Makes the cells of a grid wider and narrower, as Albumentations' `GridDistortion` does.
    GridDistortion {
        /// For each column of cells, and for the pixels that those leave over: what it shows, over the pixels that it has.
        steps_x: Vec<f64>,
        /// The same for the rows.
        steps_y: Vec<f64>,
        /// `bilinear` (default) or `nearest`.
        #[serde(default)]
        interpolation: Interpolation,
        /// The colour around the image (default 0).
        #[serde(default)]
        fill: Fill,
    },
    /// Bends the image as a lens does, as Albumentations' `OpticalDistortion` does.
    OpticalDistortion {
        /// How much: above 0 the corners move towards the middle, below 0 away from it; from -0.33 to 1.
        k: f64,
        /// `camera` (default), which bends more towards the corners, or `fisheye`.
        #[serde(default)]
        mode: LensModel,
        /// `bilinear` (default) or `nearest`.
        #[serde(default)]
        interpolation: Interpolation,
        /// The colour around the image (default 0).
        #[serde(default)]
        fill: Fill,
    },
    /// Moves each pixel as far as smoothed normal noise says, as Albumentations' `ElasticTransform` does.
    ElasticTransform {
        /// The key of the counter hash that the noise is made by.
        key: [u32; 2],
        /// Pixels for a noise of 1, before it is smoothed; at most 1000000.
        alpha: f64,
        /// Standard deviation of the smoothing, in pixels; from 1 to 1000.
        sigma: f64,
        /// Whether x and y move alike (default false).
        #[serde(default)]
        same_dxdy: bool,
        /// `bilinear` (default) or `nearest`.
        #[serde(default)]
        interpolation: Interpolation,
        /// The colour around the image (default 0).
        #[serde(default)]
        fill: Fill,
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
    /// Drops objects whose boxes are small or hang over the edge of the canvas; pixels stay as they are.
    SanitizeBoundingBoxes {
        /// Least width and height in pixels, at least 1 (default 1).
        #[serde(default = "one")]
        min_size: f64,
        /// Least area in pixels, at least 1 (default 1).
        #[serde(default = "one")]
        min_area: f64,
    },
    /// Drops the objects whose box has its centre outside a rectangle, or on its edge; pixels do not change.
    KeepCenters {
        /// First row.
        top: i32,
        /// First column.
        left: i32,
        /// Rows.
        height: u32,
        /// Columns.
        width: u32,
    },
    /// (x / 255 - mean) / std a channel; only erase, crops, flips and what concerns labels alone may follow.
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

const fn four() -> f64 {
    4.0
}

const fn eight_each() -> [u32; 2] {
    [8, 8]
}

const fn nearest() -> Interpolation {
    Interpolation::Nearest
}

const fn bicubic() -> Interpolation {
    Interpolation::Bicubic
}

const fn half_of_the_levels() -> u8 {
    128
}
