//! Filters of canvases: what makes each pixel of others of an earlier pass.

use serde::Serialize;

/// Longest edge of a [`CanvasFilter::Gaussian`] kernel.
pub const MAX_KERNEL: usize = 127;
/// Longest edge of the window of a [`CanvasFilter::Mean`] or [`CanvasFilter::Kernel`].
pub const MAX_WINDOW: usize = 31;
/// Longest edge of the window of a [`CanvasFilter::Median`].
pub const MAX_MEDIAN: usize = 15;
/// Greatest weight of a [`CanvasFilter::Kernel`], without its sign.
pub const MAX_WEIGHT: f32 = 1e6;
/// Most tiles of a [`CanvasFilter::Clahe`] along each axis.
pub const MAX_TILES: u32 = 64;

/// A filter that makes each pixel of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum CanvasFilter {
    /// T(fma(mean - x, amount, x)) with the rounded mean of nine pixels, in which the own one counts five times; pixels
    /// at the edge stay.
    Sharpness {
        /// 0 changes nothing, 1 is the mean.
        amount: f32,
    },
    /// Sums of rows, then of columns, with the weights of a normal distribution; the image is mirrored beyond its edges.
    Gaussian {
        /// Columns and rows of the kernel; odd.
        kernel: [u32; 2],
        /// Standard deviation along x and y, in pixels.
        sigma: [f32; 2],
    },
    /// The rounded mean of a window; the image is mirrored beyond its edges.
    Mean {
        /// Columns and rows of the window; odd.
        kernel: [u32; 2],
    },
    /// The median of a square window; the outermost pixels are repeated beyond the edges.
    Median {
        /// Columns and rows of the window; odd.
        edge: u32,
    },
    /// The sum of a window's levels times weights, row by row in f32, fused and rounded at the end; the image is mirrored
    /// beyond its edges.
    Kernel {
        /// Columns and rows of the window; odd.
        kernel: [u32; 2],
        /// Index of the first of its weights in [`Plan::weights`](super::Plan::weights), which stand row by row.
        weights: u32,
    },
    /// T(x + (n deviation + mean)) with standard normal numbers n of the counter hash, one block for each pixel.
    Noise {
        /// The hash's key.
        key: [u32; 2],
        /// In levels.
        mean: f32,
        /// Standard deviation, in levels.
        deviation: f32,
        /// Whether a pixel's channels get the same number.
        shared: bool,
    },
    /// T(x (u span + low)) with uniform numbers u from 0 to 1 of the counter hash, one block for each pixel.
    Multiply {
        /// The hash's key.
        key: [u32; 2],
        /// The least factor.
        low: f32,
        /// What the greatest factor is more.
        span: f32,
        /// Whether a pixel's channels get the same number.
        shared: bool,
        /// Whether each pixel gets a block of its own, and not that of the first one.
        elementwise: bool,
    },
    /// The noise of a camera's sensor, in OpenCV's hue, lightness and saturation: a normal number turns the hue, and each of a
    /// Poisson number of grains makes a part of the way to white.
    Sensor {
        /// The counter hash's key.
        key: [u32; 2],
        /// Standard deviation of the hue, in degrees.
        hue: f32,
        /// The part of the way, and the mean number of grains of a pixel over the standard deviation of the lightness.
        intensity: f32,
    },
    /// What a JPEG of a quality from 1 to 100 makes of the image, with halved colour differences: libjpeg's pixels.
    Jpeg {
        /// The quality.
        quality: u32,
    },
    /// OpenCV's CLAHE of the lightness in its uint8 Lab: each tile has a table from old to new lightness, and a pixel's is
    /// between those of the four tiles around it.
    Clahe {
        /// Tiles along x and y.
        tiles: [u32; 2],
        /// How often a lightness may occur in a tile, compared with the mean of all.
        clip_limit: f64,
    },
    /// Each pixel looked up where a distortion says, with OpenCV's arithmetic: positions are rounded to a 32nd of a pixel, and
    /// taps outside the image are the fill.
    Distort {
        /// Index of the distortion in [`Plan::distortions`](super::Plan::distortions).
        distortion: u32,
        /// Whether the nearest pixel is taken; else the bilinear filter.
        nearest: bool,
        /// The colour around the image.
        fill: [u8; 3],
    },
}
