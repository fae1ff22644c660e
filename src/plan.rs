//! What is to be done to one sample: plain data, which the CPU renders and the CUDA device lowers to its own tables.
//!
//! A plan is a list of *passes*; each pass renders one u8 image that later passes may read, the last one the sample.
//! A pass is a list of *inputs* laid over each other with a weight; an input is a stack of opaque *layers*, then
//! colour *steps*. All sizes, crops and rectangles are in oriented (upright) coordinates. The lists are flat, and one
//! entry names those of another list by a [`Span`].

pub mod distortion;
mod filter;
mod fingerprint;
pub mod label_apply;
pub mod label_ops;
mod mask;
mod object_runs;
mod placement;
mod view_plans;

pub use filter::{CanvasFilter, MAX_KERNEL, MAX_MEDIAN, MAX_TILES, MAX_WEIGHT, MAX_WINDOW};
pub(crate) use object_runs::{ObjectRun, ObjectRuns};
pub use placement::Placement;
pub use view_plans::{ViewPlan, ViewPlans};

use crate::color::{ColorOp, Statistic};
use crate::geometry::{Orientation, Rect, Size};
use crate::label::Objects;
use bytemuck::{Pod, Zeroable};
use distortion::Distortion;
use label_apply::TransformedObject;
use serde::Serialize;
use std::sync::Arc;

/// Maximum number of images that one sample reads.
pub const MAX_IMAGES: usize = 32;
/// Maximum number of layers of one sample: with the two limits after it, enough for two mosaics of four samples, mixed, each
/// of which is a sum of chains of twelve ops behind a colour jitter.
pub const MAX_LAYERS: usize = 384;
/// Maximum number of passes of one sample.
pub const MAX_PASSES: usize = 192;
/// Maximum number of colour steps of one sample.
pub const MAX_STEPS: usize = 256;
/// Maximum number of statistics of one pass.
pub const MAX_STATS: usize = 16;
/// Maximum number of erased rectangles of one sample.
pub const MAX_ERASES: usize = 32;
/// Maximum number of runs of pixels in the outlines of a sample.
pub const MAX_RUNS: usize = 1 << 20;

/// A run of entries in one of the plan's arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ImageRef {
    /// The record's index in the source.
    pub index: u64,
    /// Size as stored in the file.
    pub stored: Size,
    /// How the stored image is turned to stand upright.
    pub orientation: Orientation,
    /// Which of the record's pictures it is.
    #[serde(skip_serializing_if = "Modality::is_image")]
    pub modality: Modality,
}

/// One of the pictures that a record has. All of them are as large, and stored alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Modality {
    /// Its image.
    #[default]
    Image,
    /// Its semantic mask.
    Mask,
    /// A second image: the field of this number.
    Field(u8),
}

impl Modality {
    /// Whether it is the record's image.
    pub fn is_image(&self) -> bool {
        *self == Modality::Image
    }

    /// What tells the pictures of the record `record` apart from each other and from those of others.
    pub(crate) fn key(self, record: u64) -> u64 {
        let number = match self {
            Modality::Image => 0,
            Modality::Mask => 1,
            Modality::Field(number) => 2 + u64::from(number),
        };
        record | number << 48
    }
}

/// One image, or one colour, in a window of the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Layer {
    /// The part of the canvas that the layer may cover.
    pub window: Rect,
    /// The pixels of the window that it may cover: index of the window's first row in [`Plan::mask_rows`]. All of them
    /// where there is none.
    pub mask: Option<u32>,
    /// What it shows.
    pub content: Content,
}

/// What a layer shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Content {
    /// One colour: red, green, blue.
    Solid([u8; 3]),
    /// Pixels of an image or of an earlier pass.
    Sampled(Sampled),
}

/// Pixels of an image or of an earlier pass, brought to the size of the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sampled {
    /// Where the pixels come from.
    pub from: LayerSource,
    /// From stored to oriented pixels, mirrors that come before resampling included.
    pub orientation: Orientation,
    /// The part of the oriented source that taps may read.
    pub clip: Rect,
    /// The size that `clip` is resampled or warped to.
    pub scaled: Size,
    /// First column and row of the resampled or warped image that the window shows.
    pub offset: [i32; 2],
    /// Whether the window shows its columns in reverse, and its rows: a flip that comes after resampling. One that comes
    /// before is part of `orientation`; renderers execute both as negative strides.
    pub mirror: [bool; 2],
    /// Colour steps applied to each source pixel before resampling.
    pub steps: Span,
    /// How each pixel is made.
    pub method: Method,
}

/// Which image or pass a layer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum LayerSource {
    /// Index of a decoded image.
    Image(u32),
    /// Index of an earlier pass.
    Pass(u32),
}

/// How the pixels of a layer are made of its source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Method {
    /// An axis-parallel part, resampled exactly as torchvision's uint8 CPU path does.
    Upright(Filter),
    /// Through a map.
    Warp(WarpMap),
    /// Through an affine map, with Pillow's arithmetic.
    Pillow(PillowMap),
    /// Each pixel made of its neighbours: of an earlier pass, upright and as large as the pass.
    Filtered(CanvasFilter),
}

/// How the taps of an upright layer are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Filter {
    /// Triangle, widened when shrinking (antialias).
    Bilinear,
    /// Triangle of radius 1 whatever the scale (antialias off).
    BilinearPlain,
    /// Cubic convolution, a = -0.5, widened when shrinking.
    Bicubic,
    /// The source pixel at floor(i * (in / out)), in f32 as torch computes it.
    Nearest,
}

/// A warp: where each pixel lies in the source, and what it becomes there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WarpMap {
    /// From the pixel centres of an image of size [`Sampled::scaled`] to [`Sampled::clip`], whose edges are at -1 and 1;
    /// row by row.
    ///
    /// Where the last row is 0 0 1, pixels are counted from the middle of `scaled` and the map's result is the position.
    /// Elsewhere they are counted from the corner, and the position is 1 less than the result's first two numbers over
    /// the third. Those are the two forms of torchvision's grids.
    pub map: [f32; 9],
    /// How taps are weighted.
    pub filter: WarpFilter,
    /// What is seen where the map leaves the clip.
    pub outside: Outside,
}

/// How the taps of a warp are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum WarpFilter {
    /// The nearest source pixel.
    Nearest,
    /// The bilinear filter of torch's `grid_sample`.
    Bilinear,
    /// Triangle, widened where the map shrinks.
    Widened,
}

/// What a warp shows where its map leaves the clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Outside {
    /// What lies below: a pixel is covered if its centre falls inside the clip, and taps outside are moved to the clip's
    /// edge.
    Transparent,
    /// Taps outside are black, as torchvision does without a fill.
    Black,
    /// The colour: taps outside are black, then what the taps inside weigh together is the share of their sum in a
    /// blend with the colour. So the edge is blended twice; that is torchvision's arithmetic.
    Fill([u8; 3]),
}

/// An affine map as Pillow's `Image.transform` takes it. All of its arithmetic is f64, nothing is fused, and levels are
/// cut off. What lies below is seen where a pixel's centre falls outside the clip; taps outside are moved to its edge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PillowMap {
    /// From pixel centres x, y of an image of size [`Sampled::scaled`] to a position in [`Sampled::clip`], both counted
    /// from the left top corner: (m0 x + m1 y) + m2 and (m3 x + m4 y) + m5.
    pub matrix: [f64; 6],
    /// How taps are weighted.
    pub filter: PillowFilter,
}

/// How the taps of a [`PillowMap`] are weighted, whatever its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PillowFilter {
    /// Triangle of radius 1.
    Bilinear,
    /// Cubic convolution of radius 2, a = -1.
    Bicubic,
}

impl Layer {
    /// A layer of one colour.
    pub const fn solid(window: Rect, rgb: [u8; 3]) -> Self {
        Self { window, mask: None, content: Content::Solid(rgb) }
    }

    /// What it shows of an image or pass; `None` for a colour.
    pub const fn sampled(&self) -> Option<&Sampled> {
        match &self.content {
            Content::Sampled(sampled) => Some(sampled),
            Content::Solid(_) => None,
        }
    }

    /// The same, to be changed.
    pub const fn sampled_mut(&mut self) -> Option<&mut Sampled> {
        match &mut self.content {
            Content::Sampled(sampled) => Some(sampled),
            Content::Solid(_) => None,
        }
    }

    /// Whether it shows the image of this index.
    pub fn shows_image(&self, image: u32) -> bool {
        self.sampled().is_some_and(|sampled| sampled.from == LayerSource::Image(image))
    }

    /// Whether nothing below the layer can be seen in its window.
    pub const fn fills_window(&self) -> bool {
        let see_through = match &self.content {
            Content::Sampled(Sampled { method: Method::Warp(warp), .. }) => {
                matches!(warp.outside, Outside::Transparent)
            }
            Content::Sampled(Sampled { method: Method::Pillow(_), .. }) => true,
            Content::Sampled(_) | Content::Solid(_) => false,
        };
        !see_through && self.mask.is_none()
    }
}

/// Pixels side by side in a row of a canvas.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable, Serialize)]
pub struct Run {
    /// The first column.
    pub start: u32,
    /// Number of columns.
    pub len: u32,
}

/// A layer stack with its colour steps, blended with what is below.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BlendInput {
    /// The part of the canvas it is laid into.
    pub window: Rect,
    /// Layers, the lowest first; what none covers is black.
    pub layers: Span,
    /// Colour steps on the composited u8 pixels.
    pub steps: Span,
    /// Erased rectangles, filled after normalise.
    pub erases: Span,
    /// How much of it is seen.
    pub weight: f32,
    /// What the weight means.
    #[serde(skip_serializing_if = "BlendMode::is_over")]
    pub mode: BlendMode,
}

/// How an input is laid on what is below, in f32 and without fused operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum BlendMode {
    /// acc = acc * (1 - weight) + input * weight: a share for each of the two.
    #[default]
    Over,
    /// acc = acc + input * weight: a sum, in which the inputs' weights are independent of each other.
    Sum,
    /// acc = acc + (input - acc) * weight: the shares of `Over` with the arithmetic of Pillow's `Image.blend`.
    Between,
}

impl BlendMode {
    /// Whether it is [`BlendMode::Over`].
    pub const fn is_over(&self) -> bool {
        matches!(self, BlendMode::Over)
    }
}

/// One colour operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// What it does.
    pub op: ColorOp,
    /// Index of its statistic in [`Plan::stats`].
    pub stat: Option<u32>,
    /// Arguments, as the op says; those that it does not have are 0.
    pub args: [f32; 6],
}

/// What a step needs and only the whole image gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stat {
    /// What is measured.
    pub kind: Statistic,
    /// On what.
    pub of: Measured,
    /// The measured part: of the layer's oriented source, or the whole canvas.
    pub rect: Rect,
    /// The steps applied before measuring: those ahead of the step that uses it.
    pub steps: Span,
}

/// What a statistic is measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Measured {
    /// A rectangle of the source of the layer with this index.
    Layer(u32),
    /// The whole canvas of the input with this index.
    BlendInput(u32),
    /// The blended canvas of the pass with this index.
    Pass(u32),
}

/// A rectangle filled after normalise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Erase {
    /// The part of the canvas.
    pub window: Rect,
    /// What it is filled with, in normalised units.
    pub fill: EraseFill,
}

/// What an erased rectangle is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum EraseFill {
    /// One value per channel.
    Constant([f32; 3]),
    /// Standard normal noise from the counter hash with this key.
    Noise([u32; 2]),
}

/// One pass from images to a canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pass {
    /// The canvas.
    pub size: Size,
    /// Pictures, in blending order.
    pub inputs: Span,
    /// Colour steps after blending (the blend is truncated to u8 first).
    pub steps: Span,
}

/// The share of one image's label in the sample's label.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LabelShare {
    /// Index of the image in [`Plan::images`].
    pub image: u32,
    /// Its weight; the weights of a sample sum to 1.
    pub share: f32,
}

/// Everything to be done to one sample. [`crate::draft::Draft::freeze`] makes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// The images read.
    pub images: Vec<ImageRef>,
    /// Passes; the last one renders the sample.
    pub passes: Vec<Pass>,
    /// Pictures of all passes.
    pub inputs: Vec<BlendInput>,
    /// Layers of all inputs.
    pub layers: Vec<Layer>,
    /// For each row of the window of each layer with a mask, from the top: the runs of [`Plan::runs`] that it may cover.
    pub mask_rows: Vec<Span>,
    /// Runs of pixels, those of a row from the left.
    pub runs: Vec<Run>,
    /// Weights of the kernels of all filters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f32>,
    /// What filters and labels are distorted by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distortions: Vec<Distortion>,
    /// Colour steps of all layers, inputs and passes.
    pub steps: Vec<Step>,
    /// Statistics in the order in which they must be measured.
    pub stats: Vec<Stat>,
    /// Erased rectangles of all inputs.
    pub erases: Vec<Erase>,
    /// The sample's label as shares of its images' labels.
    pub labels: Vec<LabelShare>,
    /// What happens to the objects of its images, in order; devices have no use for it.
    pub label_ops: Vec<label_ops::LabelOp>,
    /// The size of the sample without the border that makes it as large as its batch, where batches are padded; no device has a
    /// use for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpadded: Option<Size>,
    /// Passes that show their only layer smaller to make the sample less sharp: its other pictures keep their pixels there. No
    /// device has a use for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shrunk: Vec<u32>,
}

impl Plan {
    /// What is seen in the sample, in its pixels, where `objects` are those of [`Plan::images`], one entry each.
    pub fn objects(&self, objects: &[Option<Arc<Objects>>]) -> Vec<TransformedObject> {
        let mut seen = label_apply::pick_up(&self.images, objects);
        label_apply::apply(&mut seen, &self.label_ops, &self.distortions);
        seen
    }

    /// The pixels of row `y` of the layer's window that it may cover; `None` for all.
    pub(crate) fn runs_of(&self, layer: &Layer, y: usize) -> Option<&[Run]> {
        layer.mask.map(|first| &self.runs[self.mask_rows[first as usize + y].range()])
    }

    /// The size of the sample that the plan renders.
    pub fn size(&self) -> Size {
        self.passes.last().map_or(Size::default(), |pass| pass.size)
    }
}
