//! The operations on a draft, with torchvision's functional names, arguments and defaults.
//!
//! An augmentation draws parameters and makes ops of them; `feedline apply` reads the same ops from JSON, and
//! `feedline plan` writes them, so that what was drawn can be run again by hand. What an op does stands in
//! `Draft::perform`; names and examples stand in the catalogue, those of colour operations in [`crate::color`].

mod arguments;
mod catalogue;
#[cfg(test)]
pub(crate) mod page;

pub(crate) use arguments::variants_from;
pub use arguments::{Chain, Extent, Fill, Interpolation, Padding, PaddingMode, Shear, Value};
pub use catalogue::{CATALOGUE, Entry};

use super::Draft;
use super::flip::Flip;
use crate::color::ColorOp;
use crate::error::Error;
use crate::geometry::Rect;
use crate::plan::label_ops::{LabelOpKind, ObjectFilter};
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

impl Draft {
    /// Does what the op says to the canvas.
    pub(super) fn perform(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Crop { top, left, height, width } => self.crop(Rect::new(left, top, width, height)),
            Op::CenterCrop { output_size } => self.center_crop(output_size.square()),
            Op::ResizedCrop { top, left, height, width, size, interpolation, antialias } => {
                self.crop(Rect::new(left, top, width, height))?;
                let target = self.resize_target(size, None)?;
                self.resize(target, interpolation, antialias)
            }
            Op::Resize { size, interpolation, max_size, antialias } => {
                let target = self.resize_target(size, max_size)?;
                self.resize(target, interpolation, antialias)
            }
            Op::Pad { padding, fill, padding_mode: PaddingMode::Constant } => self.pad(padding.sides(), fill),
            Op::Pad { padding, padding_mode, .. } => self.pad_with_image(padding.sides(), padding_mode),
            Op::Affine { .. } => self.affine(op),
            Op::Rotate { .. } => self.rotate(op),
            Op::PillowAffine { data, resample, fillcolor } => self.pillow_affine(data, resample, fillcolor),
            Op::WarpAffine { matrix, interpolation, fill } => self.warp_affine(matrix, interpolation, fill),
            Op::Perspective { .. } => self.perspective(op),
            Op::PasteMirrored { ref polygons, ref objects } => self.paste_mirrored(polygons, objects),
            Op::Hflip {} => self.flip(Flip::LeftRight),
            Op::Vflip {} => self.flip(Flip::TopBottom),
            Op::Transpose {} => self.swap_axes(),
            Op::FillRectangles { ref rectangles, fill } => self.fill_rectangles(rectangles, fill),
            Op::WarpPerspective { matrix, size, fill } => self.warp_perspective(matrix, size.square(), fill),
            Op::Brightness { factor } => self.blend_with(ColorOp::Brightness, factor),
            Op::Contrast { factor } => self.blend_with(ColorOp::Contrast, factor),
            Op::Saturation { factor } => self.blend_with(ColorOp::Saturation, factor),
            Op::Hue { factor } => self.turn_hue(factor),
            Op::Hsv { hue, saturation, value } => self.hsv(hue, saturation, value),
            Op::Grayscale { num_output_channels } => self.grayscale(num_output_channels),
            Op::Solarize { threshold } => self.solarize(threshold),
            Op::SolarizeAdd { addition, threshold } => self.solarize_add(addition, threshold),
            Op::Posterize { bits } => self.posterize(bits),
            Op::PermuteChannels { permutation } => self.permute(permutation),
            Op::Autocontrast {} => self.recolour(ColorOp::Autocontrast, [0.0; 3]),
            Op::Equalize {} => self.recolour(ColorOp::Equalize, [0.0; 3]),
            Op::Gamma { gamma } => self.gamma(gamma),
            Op::BrightnessContrast { alpha, beta } => self.brightness_contrast(alpha, beta),
            Op::ShiftRgb { shift } => self.shift_rgb(shift),
            Op::ShiftHsv { hue, saturation, value } => self.shift_hsv(hue, [saturation, value]),
            Op::ToGray {} => self.recolour(ColorOp::ToGray, [0.0; 3]),
            // No level is below 0, so all of them are inverted.
            Op::Invert {} => self.recolour(ColorOp::Solarize, [0.0; 3]),
            Op::Sharpness { factor } => self.sharpness(factor),
            Op::GaussianBlur { kernel_size, sigma } => self.gaussian_blur(kernel_size, sigma),
            Op::SumChains { ref chains, blend } => self.sum_chains(chains, blend),
            Op::BoxBlur { kernel_size } => self.box_blur(kernel_size),
            Op::MedianBlur { kernel_size } => self.median_blur(kernel_size),
            Op::Convolve { ref kernel } => self.convolve(kernel),
            Op::Clahe { clip_limit, tile_grid_size } => self.clahe(clip_limit, tile_grid_size),
            Op::GaussNoise { key, mean, std, per_channel } => self.gauss_noise(key, mean, std, per_channel),
            Op::Erase { i, j, h, w, v } => self.erase(Rect::new(j, i, w, h), v),
            Op::SanitizeBoundingBoxes { min_size, min_area } => self.sanitize(min_size, min_area),
            Op::KeepCenters { top, left, height, width } => {
                self.relabel(LabelOpKind::Keep(ObjectFilter::Centred(Rect::new(left, top, width, height))));
                Ok(())
            }
            Op::Normalize { mean, std } => self.normalize(mean, std),
        }
    }
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
