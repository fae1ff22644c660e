//! The tables of one batch, as the kernels read them: the structs of `kernels/layout.h` under the same names.
//!
//! They are all that crosses to the device. `tests/plan/layout.rs` compares sizes, offsets and constants with the header; the
//! codes of filters and of the output are the order of their enums, those of colour operations are those of
//! [`crate::color::ColorOp`], and `kernels/color_ops.h` is made of its table.

pub use crate::device::lab::LabTables;
use crate::geometry::{Rect, Size};
use crate::plan::{BlendMode, Filter, Outside, PillowFilter, Span, WarpFilter};
use bytemuck::{Pod, Zeroable};

/// No source, no statistic, no mask.
pub const NONE: u32 = u32::MAX;
/// LayerDesc.kind of an upright layer that is resampled.
pub const KIND_UPRIGHT: u32 = 0;
/// LayerDesc.kind of an image through a map.
pub const KIND_WARP: u32 = 1;
/// LayerDesc.kind of one colour.
pub const KIND_SOLID: u32 = 2;
/// LayerDesc.kind of an upright layer of which each pixel is one source pixel.
pub const KIND_COPY: u32 = 4;
/// FilterJob.filter: each pixel and the mean of its neighbours.
pub const FILTER_SHARPNESS: u32 = 4;
/// FilterJob.filter: rows, then columns, with the weights of a normal distribution.
pub const FILTER_GAUSSIAN: u32 = 5;
/// FilterJob.filter: the mean of a window.
pub const FILTER_MEAN: u32 = 8;
/// FilterJob.filter: the median of a window.
pub const FILTER_MEDIAN: u32 = 9;
/// FilterJob.filter: a sum with weights.
pub const FILTER_KERNEL: u32 = 10;
/// FilterJob.filter: noise is added.
pub const FILTER_NOISE: u32 = 11;
/// FilterJob.filter: lightness is equalized by the tables of tiles.
pub const FILTER_CLAHE: u32 = 12;
/// [`FilterJob::filter`]: pixels looked up where tables of columns and rows say.
pub const FILTER_GRID: u32 = 13;
/// [`FilterJob::filter`]: pixels looked up through a lens.
pub const FILTER_RADIAL: u32 = 14;
/// [`FilterJob::filter`]: pixels looked up as far away as a field says.
pub const FILTER_ELASTIC: u32 = 15;
/// [`FilterJob::filter`]: levels times uniform factors.
pub const FILTER_MULTIPLY: u32 = 16;
/// [`FilterJob::filter`]: the noise of a sensor.
pub const FILTER_SENSOR: u32 = 17;
/// [`FilterJob::filter`]: what a JPEG makes of it.
pub const FILTER_JPEG: u32 = 18;
/// Axis.filter of a [`KIND_WARP`] through [`LayerDesc::matrix`]: Pillow's bilinear filter.
pub const FILTER_PILLOW_BILINEAR: u32 = 6;
/// The same: Pillow's cubic filter.
pub const FILTER_PILLOW_BICUBIC: u32 = 7;
/// BlendInput.mode: acc * (1 - weight) + input * weight.
pub const BLEND_OVER: u32 = 0;
/// BlendInput.mode: acc + input * weight.
pub const BLEND_SUM: u32 = 1;
/// BlendInput.mode: acc + (input - acc) * weight.
pub const BLEND_BETWEEN: u32 = 2;
/// Erase.kind of [`Erase::value`].
pub const ERASE_CONSTANT: u32 = 0;
/// Erase.kind of noise with [`Erase::key`].
pub const ERASE_NOISE: u32 = 1;
/// Set in Step.stat and in what is measured where a statistic is a histogram: the number of its [`Histogram`].
pub const HISTOGRAM_BIT: u32 = 1 << 31;
/// Stored by a kernel that meets a colour step of unknown code.
pub const ERROR_COLOR_OP: u32 = 0x1_0000;
/// Stored by a kernel that meets a table of unknown code.
pub const ERROR_LEVEL_TABLE: u32 = 0x2_0000;
/// Columns of a tile: what one block renders at a time.
pub const TILE_WIDTH: u32 = 32;
/// Rows of a tile.
pub const TILE_HEIGHT: u32 = 32;
/// Threads of a block, of every kernel.
pub const THREADS: u32 = 256;
/// Groups of four source columns that a tile of a [`CropJob`] may read.
pub const CROP_GROUPS: u32 = 256;
/// Groups of weights that a column of a [`CropJob`] may have.
pub const CROP_WEIGHTS: u32 = 32;
/// Threads that write a [`MaskRun`].
pub const RUN_THREADS: u32 = 16;

/// The code of a blend mode.
pub const fn blend_mode(mode: BlendMode) -> u32 {
    match mode {
        BlendMode::Over => BLEND_OVER,
        BlendMode::Sum => BLEND_SUM,
        BlendMode::Between => BLEND_BETWEEN,
    }
}

/// Axis.filter of a warp: the kernels' names are those of the resampled filters.
pub const fn warp_filter(filter: WarpFilter) -> u32 {
    match filter {
        WarpFilter::Widened => Filter::Bilinear as u32,
        WarpFilter::Bilinear => Filter::BilinearPlain as u32,
        WarpFilter::Nearest => Filter::Nearest as u32,
    }
}

/// Axis.filter of a layer with Pillow's arithmetic.
pub const fn pillow_filter(filter: PillowFilter) -> u32 {
    match filter {
        PillowFilter::Bilinear => FILTER_PILLOW_BILINEAR,
        PillowFilter::Bicubic => FILTER_PILLOW_BICUBIC,
    }
}

/// LayerDesc.around of a warp.
pub const fn around(outside: Outside) -> u32 {
    match outside {
        Outside::Transparent => 0,
        Outside::Black => 1,
        Outside::Fill(_) => 2,
    }
}

/// Where the arrays lie, and what a sample is made into.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Batch {
    /// Offset of the [`Source`]s.
    pub sources: u32,
    /// Offset of the [`LayerDesc`]s.
    pub layers: u32,
    /// Offset of the inputs.
    pub inputs: u32,
    /// Offset of the colour steps.
    pub steps: u32,
    /// Offset of the erased rectangles.
    pub erases: u32,
    /// Offset of the numbers of pixels that means are taken of.
    pub counts: u32,
    /// Offset of the rows of masks, a span of runs each.
    pub rows: u32,
    /// Offset of the runs.
    pub runs: u32,
    /// Offset of the statistics' sums in the scratch memory.
    pub sums: u64,
    /// Offset of the [`Histogram`]s in the scratch memory.
    pub histograms: u64,
    /// The number of a [`crate::output::DType`].
    pub dtype: u32,
    /// The number of a [`crate::output::Layout`].
    pub layout: u32,
    /// a and b of fma(level, a, b), per channel.
    pub factors: [f32; 6],
    /// Address of the u32 in the host's memory that kernels store an error in: [`ERROR_COLOR_OP`] or
    /// [`ERROR_LEVEL_TABLE`] with the unknown code in the lowest 16 bits.
    pub errors: u64,
}

/// A histogram, and what is made of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Histogram {
    /// Pixels of each level, per channel.
    pub counts: [[u32; 256]; 3],
    /// The new level of each level, per channel.
    pub table: [[u8; 256]; 3],
}

/// Where the upright pixels of a source lie: pixel (x, y) is the three bytes at origin + x * right + y * down.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Source {
    /// An address, or an offset in the scratch memory.
    pub origin: u64,
    /// Bytes to the pixel at the right.
    pub right: i32,
    /// Bytes to the pixel below.
    pub down: i32,
    /// Pixels that may be read.
    pub size: Size,
    /// Where pixel (0, y) lies in its stored row.
    pub column: i32,
    /// Pixels of that row that may be read; 0 where rows are stored as columns.
    pub columns: u32,
    /// 1 where `origin` is an offset in the scratch memory.
    pub in_scratch: u32,
    /// Zero.
    pub reserved: u32,
}

/// One axis of a layer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Axis {
    /// Offset of its [`AxisTable`] in the scratch memory, if it is resampled.
    pub table: u64,
    /// Length of the clip.
    pub input: u32,
    /// Length that it is resampled or warped to.
    pub output: u32,
    /// First output shown.
    pub offset: i32,
    /// Outputs shown.
    pub count: u32,
    /// 1 where they are shown last first.
    pub reversed: u32,
    /// The number of its [`Filter`], or what [`warp_filter`] makes of that of a warp.
    pub filter: u32,
    /// Position in the clip that is number 0 in the [`Source`].
    pub first: u32,
    /// Weights of an output, in groups of four.
    pub groups: u32,
}

/// What the taps kernel makes of an axis; starts and weights follow it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct AxisTable {
    /// Weights are whole numbers of 2^-precision.
    pub precision: u32,
    /// Zero.
    pub reserved: [u32; 3],
}

impl Axis {
    /// Bytes of the axis's table with what follows it.
    pub fn table_bytes(&self) -> u64 {
        let (count, groups) = (u64::from(self.count), u64::from(self.groups));
        size_of::<AxisTable>() as u64 + count.next_multiple_of(4) * 4 + groups * count * 8
    }
}

/// A layer, ready to be lowered.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct LayerDesc {
    /// The part of the canvas that it may cover.
    pub window: Rect,
    /// [`KIND_UPRIGHT`], [`KIND_WARP`], [`KIND_SOLID`] or [`KIND_COPY`].
    pub kind: u32,
    /// For a warp, one of [`around`].
    pub around: u32,
    /// Number of its [`Source`]; [`NONE`] where it reads nothing.
    pub source: u32,
    /// Colour of a solid layer, or around a warp.
    pub fill: [u8; 4],
    /// Colour steps on each source pixel.
    pub steps: Span,
    /// Its columns.
    pub columns: Axis,
    /// Its rows.
    pub rows: Axis,
    /// For a warp, the layer's map.
    pub map: [f32; 9],
    /// Which of the batch's rows of masks is that of the window's first row; [`NONE`] without a mask.
    pub mask: u32,
    /// For a warp with one of Pillow's filters, the layer's matrix.
    pub matrix: [f64; 6],
}

/// One canvas or sample to be rendered.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct RenderJob {
    /// The sample's address, or the canvas's offset in the scratch memory.
    pub target: u64,
    /// The canvas.
    pub size: Size,
    /// Pictures, in blending order.
    pub inputs: Span,
    /// Colour steps after the blend.
    pub steps: Span,
    /// Statistics that any of its steps may need.
    pub stats: Span,
    /// Bytes of a row of a canvas; 0 where the target is a sample.
    pub pitch: u32,
    /// Statistic to be summed up from what is stored, or [`NONE`].
    pub measured: u32,
    /// The part that it is measured on.
    pub rect: Rect,
}

/// One sample that shows an upright image and nothing else, read in words of 16 bytes. Pixel (x, y) of the source is the
/// three bytes at `origin + skipped + x * 3 + y * down`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct CropJob {
    /// The sample's address, a multiple of four values.
    pub target: u64,
    /// An address, a multiple of four.
    pub origin: u64,
    /// Size of the sample; the width is a multiple of four.
    pub size: Size,
    /// Tiles in a row of them.
    pub across: u32,
    /// Tile `n` lies in row `n * reciprocal >> 16`.
    pub reciprocal: u32,
    /// Pixels that may have weight.
    pub source: Size,
    /// Pixels of a row that may be read.
    pub columns: u32,
    /// Bytes to the pixel below.
    pub down: u32,
    /// Bytes from `origin` to the first pixel.
    pub skipped: u32,
    /// Tiles of the sample.
    pub tiles: u32,
    /// Weights of a column, in groups of four.
    pub column_groups: u32,
    /// Weights of a row, in groups of four.
    pub row_groups: u32,
    /// As [`Axis::table`], of the columns.
    pub column_table: u64,
    /// The same of the rows.
    pub row_table: u64,
}

const _: () = assert!(size_of::<CropJob>() == 80, "whole words of 16 bytes");

/// One statistic to be summed up from a source.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct MeasureJob {
    /// Index of the [`Source`].
    pub source: u32,
    /// The statistic.
    pub measured: u32,
    /// Colour steps ahead of the measurement.
    pub steps: Span,
    /// Statistics that those may need.
    pub stats: Span,
}

/// One canvas to be filtered into another; what a filter does not have is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct FilterJob {
    /// The other's offset in the scratch memory.
    pub target: u64,
    /// Offset in the scratch memory of the tables of tiles of an adaptive equalization, of the sums for a sensor's noise, or
    /// of a JPEG's samples.
    pub tables: u64,
    /// Index of the [`Source`] of the whole canvas.
    pub source: u32,
    /// Bytes of a row, of the other.
    pub pitch: u32,
    /// [`FILTER_SHARPNESS`] to [`FILTER_JPEG`].
    pub filter: u32,
    /// The argument of sharpness, the deviation of noise, 255 over the pixels of a tile, nodes for a pixel along x, the
    /// span of factors, or the intensity of a sensor's noise.
    pub amount: f32,
    /// Offset in the tables of a kernel's weights, of the [`LabTables`], of what a distortion looks up,
    /// or of the steps of a JPEG.
    pub weights: u32,
    /// Columns of the kernel or window, of the tiles, of the nodes, or of a JPEG's samples of luma.
    pub columns: u32,
    /// Rows of the same.
    pub rows: u32,
    /// Mean of noise, nodes for a pixel along y, the least factor, or the deviation of the hue.
    pub mean: f32,
    /// Key of noise.
    pub key: [u32; 2],
    /// 1 where a pixel's channels get the same noise, or a distortion takes the nearest pixel.
    pub shared: u32,
    /// Most pixels of one lightness that count in a tile, the colour around a distorted image, red lowest,
    /// or 1 where each pixel has a factor of its own.
    pub limit: u32,
    /// Columns and rows of a tile.
    pub tile: [u32; 2],
}

/// One histogram to be made a table.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct TableJob {
    /// Index of the [`Histogram`].
    pub histogram: u32,
    /// The code of a [`crate::color::LevelTable`].
    pub table: u32,
}

/// Pixels side by side in a plane of the masks of objects.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct MaskRun {
    /// Address of the first.
    pub target: u64,
    /// Number of pixels.
    pub len: u32,
    /// What they become.
    pub value: u32,
}

/// A place in a decoder's target, and the bytes that are put there ahead of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Sentinel {
    /// Address of the first of four bytes.
    pub address: u64,
    /// The bytes, the first one lowest.
    pub bytes: u32,
    /// Which image it belongs to.
    pub image: u32,
}

/// A layer stack with its colour steps, blended with what is below.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct BlendInput {
    /// The part of the canvas that it is laid into.
    pub window: Rect,
    /// Its [`LayerDesc`]s, the lowest first.
    pub layers: Span,
    /// Colour steps on the composited pixels.
    pub steps: Span,
    /// Erased rectangles.
    pub erases: Span,
    /// How much of it is seen.
    pub weight: f32,
    /// What the weight means: [`BLEND_OVER`], [`BLEND_SUM`] or [`BLEND_BETWEEN`].
    pub mode: u32,
    /// Zero.
    pub reserved: [u32; 4],
}

/// One colour operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Step {
    /// The code of a [`crate::color::ColorOp`].
    pub op: u32,
    /// Index of the statistic, or [`NONE`]; of a step whose levels the host makes, [`HISTOGRAM_BIT`] and their offset in
    /// the tables.
    pub stat: u32,
    /// Arguments, as the op says.
    pub args: [f32; 6],
}

/// A rectangle filled after normalise.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Erase {
    /// The part of the canvas.
    pub window: Rect,
    /// Fill in normalised units.
    pub value: [f32; 3],
    /// [`ERASE_CONSTANT`] or [`ERASE_NOISE`].
    pub kind: u32,
    /// Key of the noise.
    pub key: [u32; 2],
    /// Zero.
    pub reserved: [u32; 2],
}
