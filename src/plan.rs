//! What is to be done to one sample, as plain data: the same bytes that the CPU renderer and the CUDA kernel read.
//!
//! A plan is a list of *stages*; each stage renders one u8 image that later stages may read, the last one the sample.
//! A stage is a list of *pictures* laid over each other with a share; a picture is a stack of opaque *layers*, then
//! colour *steps*. All sizes, crops and rectangles are in oriented (upright) coordinates. `kernels/plan.h` declares
//! the same structs for the device; a test compares the two.

pub mod carry;
mod mask;
pub mod moves;

use crate::geometry::{Orientation, Rect, Size};
use crate::label::Objects;
use bytemuck::{Pod, Zeroable};
use carry::Seen;
use std::sync::Arc;

/// No statistic, no mask.
pub const NONE: u32 = u32::MAX;
/// Set in [`Layer::image`] where it names an earlier stage's output instead of a decoded image.
pub const STAGE_BIT: u32 = 1 << 31;
/// Most images one sample may read.
pub const MAX_IMAGES: usize = 32;
/// Most layers of one sample.
pub const MAX_LAYERS: usize = 128;
/// Most stages of one sample.
pub const MAX_STAGES: usize = 16;
/// Most colour steps of one sample.
pub const MAX_STEPS: usize = 64;
/// Most statistics of one sample.
pub const MAX_STATS: usize = 8;
/// Longest edge of a [`filter::GAUSSIAN`] kernel.
pub const MAX_KERNEL: usize = 127;
/// Most erased rectangles of one sample.
pub const MAX_ERASES: usize = 32;

/// Most runs of pixels that the outlines of a sample may have.
pub const MAX_RUNS: usize = 1 << 20;

/// A run of entries in one of the plan's arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Span {
    /// Index of the first entry.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

impl Span {
    /// The span as a range of indices.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// One image file that the sample reads.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct ImageRef {
    /// The record's index in the source.
    pub index: u64,
    /// Size as stored in the file.
    pub stored: Size,
    /// How the stored image is turned to stand upright.
    pub orientation: Orientation,
    /// Zero.
    pub reserved: u32,
}

/// What a layer shows.
pub mod kind {
    /// An axis-parallel part of an image, resampled exactly as torchvision's uint8 CPU path does.
    pub const UPRIGHT: u32 = 0;
    /// An image through [`super::Layer::map`].
    pub const WARP: u32 = 1;
    /// One colour, [`super::Layer::fill`].
    pub const SOLID: u32 = 2;
    /// An earlier stage, each pixel made of its neighbours: [`super::filter::SHARPNESS`] or
    /// [`super::filter::GAUSSIAN`], with its arguments in [`super::Layer::map`]. Upright, and as large as the stage.
    pub const FILTERED: u32 = 3;
}

/// How a layer's taps are weighted.
pub mod filter {
    /// Triangle, widened when shrinking (antialias).
    pub const BILINEAR: u32 = 0;
    /// Triangle of radius 1 whatever the scale (antialias off); a warp's is torch's `grid_sample`.
    pub const BILINEAR_PLAIN: u32 = 1;
    /// Cubic convolution, a = -0.5, widened when shrinking.
    pub const BICUBIC: u32 = 2;
    /// The source pixel at floor(i * (in / out)), in f32 as torch computes it; in a warp the nearest one.
    pub const NEAREST: u32 = 3;
    /// Of [`super::kind::FILTERED`]: T(fma(mean - x, a, x)) with the rounded mean of nine pixels, in which the own one
    /// counts five times; pixels at the edge stay. Argument a.
    pub const SHARPNESS: u32 = 4;
    /// Of [`super::kind::FILTERED`]: sums of rows, then of columns, with the weights of a normal distribution; the image
    /// is mirrored beyond its edges. Arguments: columns and rows of the kernel, standard deviation along x and y.
    pub const GAUSSIAN: u32 = 5;
}

/// What a [`kind::WARP`] layer shows where the map leaves the clip; the last of [`Layer::fill`].
pub mod around {
    /// Nothing: a pixel is covered if its centre falls inside the clip, and taps outside are moved to the clip's edge.
    pub const NOTHING: u8 = 0;
    /// Taps outside are black, as torchvision does without a fill.
    pub const BLACK: u8 = 1;
    /// The colour: taps outside are black, then what the taps inside weigh together is the share of their sum in a
    /// blend with the colour. So the edge is blended twice; that is torchvision's arithmetic.
    pub const FILL: u8 = 2;
}

/// One image, or one colour, in a window of the canvas.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Layer {
    /// For [`kind::WARP`]: from the pixel centres of an image of size `scaled` to `clip`, whose edges are at -1 and 1;
    /// row by row.
    ///
    /// Where the last row is 0 0 1, pixels are counted from the middle of `scaled` and the map's result is the place.
    /// Elsewhere they are counted from the corner, and the place is 1 less than the result's first two numbers over
    /// the third. Those are the two forms of torchvision's grids.
    pub map: [f32; 9],
    /// One of [`kind`].
    pub kind: u32,
    /// One of [`filter`].
    pub filter: u32,
    /// From stored to oriented pixels, mirrors that come before resampling included.
    pub orientation: Orientation,
    /// The part of the oriented source that taps may read.
    pub clip: Rect,
    /// The part of the canvas that the layer may cover.
    pub window: Rect,
    /// The size that `clip` is resampled or warped to.
    pub scaled: Size,
    /// First column and row of the resampled or warped image that the window shows.
    pub offset: [i32; 2],
    /// Bit 0: the window shows its columns in reverse; bit 1: its rows.
    pub mirror: u32,
    /// Index of the image, or of a stage with [`STAGE_BIT`].
    pub image: u32,
    /// Colour steps applied to each source pixel before resampling.
    pub steps: Span,
    /// Colour of a [`kind::SOLID`] layer, or around a warp: red, green, blue, and for a warp one of [`around`].
    pub fill: [u8; 4],
    /// The pixels that it may cover: index of the first row of its window in [`Plan::mask_rows`], or [`NONE`] for all.
    pub mask: u32,
    /// Zero.
    pub reserved: [u32; 2],
}

impl Layer {
    /// Whether nothing below the layer can be seen in its window.
    pub const fn fills_window(&self) -> bool {
        let opaque = self.kind != kind::WARP || self.fill[3] != around::NOTHING;
        opaque && self.mask == NONE
    }
}

/// Pixels side by side in a row of a canvas.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Run {
    /// The first column.
    pub start: u32,
    /// Number of columns.
    pub len: u32,
}

/// A layer stack with its colour steps, laid over what is below with a share.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Picture {
    /// The part of the canvas it is laid into.
    pub window: Rect,
    /// Layers, the lowest first; what none covers is black.
    pub layers: Span,
    /// Colour steps on the composited u8 pixels.
    pub steps: Span,
    /// Erased rectangles, filled after normalise.
    pub erases: Span,
    /// acc = acc * (1 - share) + picture * share.
    pub share: f32,
    /// Zero.
    pub reserved: [u32; 5],
}

/// What a colour step does; factors are torchvision's.
pub mod step {
    /// T(k x): args k.
    pub const BRIGHTNESS: u32 = 0;
    /// T(fma(m, 1-k, k x)) with the mean m of the luma, from a statistic: args k, 1-k.
    pub const CONTRAST: u32 = 1;
    /// T(fma(L, 1-k, k x)): args k, 1-k.
    pub const SATURATION: u32 = 2;
    /// Hue turned by k of a full circle: args k.
    pub const HUE: u32 = 3;
    /// All channels become the luma.
    pub const GRAYSCALE: u32 = 4;
    /// 255 - x where x >= t: args t. With t = 0 all levels are inverted.
    pub const SOLARIZE: u32 = 5;
    /// floor(x * b) * a: args a, b, a power of two and its inverse, so that the highest bits are kept.
    pub const POSTERIZE: u32 = 6;
    /// Red, green and blue become those channels (0, 1 or 2) of before: args one each.
    pub const PERMUTE: u32 = 7;
    /// T((x - least) / ((greatest - least) * f32(1 / 255))) a channel, with its least and greatest level from a
    /// histogram; nothing where they are the same.
    pub const AUTOCONTRAST: u32 = 8;
    /// (pixels below x + step / 2) / step a channel, in whole numbers and at most 255, from a histogram; step is a 255th
    /// of the pixels below the greatest level, and where it is 0 nothing changes.
    pub const EQUALIZE: u32 = 9;
    /// OpenCV's uint8 HSV, hue in half degrees: (h + a) mod 180, min(floor(s b), 255), min(floor(v c), 255), and back,
    /// cut off: args a, a whole number in 30..=209 so that no sum is negative, b and c.
    pub const HSV: u32 = 10;

    /// What an op's statistic measures, one of [`super::stat`]; `None` where it needs none.
    pub const fn measures(op: u32) -> Option<u32> {
        match op {
            CONTRAST => Some(super::stat::MEAN_LUMA),
            AUTOCONTRAST | EQUALIZE => Some(super::stat::HISTOGRAM),
            _ => None,
        }
    }
}

/// One colour operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Step {
    /// One of [`step`].
    pub op: u32,
    /// Index into the plan's statistics, or [`NONE`].
    pub stat: u32,
    /// Arguments, as the op says.
    pub args: [f32; 6],
}

/// What a statistic measures.
pub mod stat {
    /// f32(exact sum of the luma / pixel count).
    pub const MEAN_LUMA: u32 = 0;
    /// How many pixels have each level, a channel.
    pub const HISTOGRAM: u32 = 1;
    /// Measured over a rectangle of a layer's source, index = layer.
    pub const OF_LAYER: u32 = 0;
    /// Measured over a picture's whole canvas, index = picture.
    pub const OF_PICTURE: u32 = 1;
    /// Measured over the blended canvas of a stage, index = stage.
    pub const OF_STAGE: u32 = 2;
}

/// What a step needs and only the whole image gives.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Stat {
    /// What is measured: [`stat::MEAN_LUMA`] or [`stat::HISTOGRAM`].
    pub kind: u32,
    /// [`stat::OF_LAYER`], [`stat::OF_PICTURE`] or [`stat::OF_STAGE`].
    pub target: u32,
    /// Which layer, picture or stage.
    pub index: u32,
    /// Zero.
    pub reserved: u32,
    /// The measured part: of the layer's oriented source, or the whole canvas.
    pub rect: Rect,
    /// The steps applied before measuring: those ahead of the step that uses it.
    pub steps: Span,
}

/// What an erased rectangle is filled with.
pub mod erase {
    /// [`super::Erase::value`].
    pub const CONSTANT: u32 = 0;
    /// Standard normal noise from the counter hash with [`super::Erase::key`].
    pub const NOISE: u32 = 1;
}

/// A rectangle filled after normalise.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Erase {
    /// The part of the canvas.
    pub window: Rect,
    /// Fill in normalised units.
    pub value: [f32; 3],
    /// One of [`erase`].
    pub kind: u32,
    /// Key of the noise.
    pub key: [u32; 2],
    /// Zero.
    pub reserved: [u32; 2],
}

/// One pass from images to a canvas.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Stage {
    /// The canvas.
    pub size: Size,
    /// Pictures, in blending order.
    pub pictures: Span,
    /// Colour steps after blending (the blend is truncated to u8 first).
    pub steps: Span,
}

/// The share of one image's label in the sample's label.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct LabelShare {
    /// Index of the image in [`Plan::images`].
    pub image: u32,
    /// Its weight; the weights of a sample sum to 1.
    pub share: f32,
}

const _: () = assert!(size_of::<ImageRef>() == 24);
const _: () = assert!(size_of::<Layer>() == 128);
const _: () = assert!(size_of::<Run>() == 8);
const _: () = assert!(size_of::<Picture>() == 64);
const _: () = assert!(size_of::<Step>() == 32);
const _: () = assert!(size_of::<Stat>() == 40);
const _: () = assert!(size_of::<Erase>() == 48);
const _: () = assert!(size_of::<Stage>() == 24);
const _: () = assert!(size_of::<LabelShare>() == 8);

/// Everything to be done to one sample. [`crate::draft::Draft::freeze`] makes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The images read.
    pub images: Vec<ImageRef>,
    /// Passes; the last one renders the sample.
    pub stages: Vec<Stage>,
    /// Pictures of all stages.
    pub pictures: Vec<Picture>,
    /// Layers of all pictures.
    pub layers: Vec<Layer>,
    /// For each row of the window of each layer with a mask, from the top: the runs of [`Plan::runs`] that it may cover.
    pub mask_rows: Vec<Span>,
    /// Runs of pixels, those of a row from the left.
    pub runs: Vec<Run>,
    /// Colour steps of all layers, pictures and stages.
    pub steps: Vec<Step>,
    /// Statistics in the order in which they must be measured.
    pub stats: Vec<Stat>,
    /// Erased rectangles of all pictures.
    pub erases: Vec<Erase>,
    /// The sample's label as shares of its images' labels.
    pub labels: Vec<LabelShare>,
    /// What happens to the objects of its images, in order; devices have no use for it.
    pub moves: Vec<moves::Move>,
}

impl Plan {
    /// What is seen in the sample, in its pixels, where `objects` are those of [`Plan::images`], one entry each.
    pub fn objects(&self, objects: &[Option<Arc<Objects>>]) -> Vec<Seen> {
        let mut seen = carry::pick_up(&self.images, objects);
        carry::carry(&mut seen, &self.moves);
        seen
    }

    /// The pixels of row `y` of the layer's window that it may cover; `None` for all.
    pub(crate) fn runs_of(&self, layer: &Layer, y: usize) -> Option<&[Run]> {
        let row = (layer.mask != NONE).then(|| self.mask_rows[layer.mask as usize + y]);
        row.map(|row| &self.runs[row.range()])
    }

    /// The size of the sample that the plan renders.
    pub fn size(&self) -> Size {
        self.stages.last().map_or(Size::default(), |stage| stage.size)
    }
}
