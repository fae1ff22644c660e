//! What the kernels are told of a batch: the structs of `kernels/jpeg/layout.h` under the same names.
//!
//! `tests/plan/layout.rs` compares sizes, offsets and constants with the header.

use bytemuck::{Pod, Zeroable};

/// Bits that index a lookup of Huffman codes.
pub const LOOKUP_BITS: u32 = 10;
/// Threads of a block of `entropy`, each with a piece.
pub const PIECE_THREADS: u32 = 128;
/// Threads of a block of `expand`, each with a block of coefficients.
pub const EXPAND_THREADS: u32 = 128;
/// Blocks of coefficients of a group, at most.
pub const EXPANDED: u32 = 32;
/// Blocks of an MCU, at most.
pub const UNITS: usize = 10;
/// Blocks of coefficients that a block of `inverse_dct` transforms.
pub const TRANSFORMED: u32 = 32;
/// Columns of a tile of `planes_to_rgb`.
pub const RGB_WIDTH: u32 = 64;
/// Rows of it.
pub const RGB_HEIGHT: u32 = 16;
/// JpegPiece.end: at the bit `to`, with the predictions `end_dc`.
pub const END_AT: u32 = 0;
/// Less than eight bits before `to`.
pub const END_PADDED: u32 = 1;
/// At `to` or before.
pub const END_WITHIN: u32 = 2;
/// In a status word: bits that are no code, or coefficients beyond a block.
pub const BAD_CODE: u32 = 1;
/// A piece does not end as it should.
pub const BAD_END: u32 = 2;
/// Cuts of a run do not fit each other after all rounds.
pub const UNSETTLED: u32 = 4;
/// A group of packed blocks holds something else than its blocks.
pub const BAD_GROUP: u32 = 8;
/// Bits of a cut.
pub const CUT_BITS: u32 = 2048;
/// JpegPlane.upsampling: a sample a pixel.
pub const UPSAMPLE_NONE: u32 = 0;
/// Across.
pub const UPSAMPLE_H2V1: u32 = 1;
/// Down.
pub const UPSAMPLE_H1V2: u32 = 2;
/// Both.
pub const UPSAMPLE_H2V2: u32 = 3;
/// Samples are repeated.
pub const UPSAMPLE_REPEAT: u32 = 4;
/// JpegImage.color: one component.
pub const COLOR_GREY: u32 = 0;
/// Red, green, blue.
pub const COLOR_RGB: u32 = 1;
/// Luma and two differences.
pub const COLOR_YCC: u32 = 2;

/// A Huffman code, as a file defines it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegCode {
    /// Codes of each length, from 1 to 16 bits.
    pub counts: [u8; 16],
    /// Their symbols in order.
    pub symbols: [u8; 256],
    /// 1 for coefficients besides DC, else 0.
    pub is_ac: u32,
    /// Zero.
    pub reserved: u32,
}

/// One component's samples: those of the window's MCUs, row by row.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegPlane {
    /// Of its first sample, from [`JpegImage::planes`].
    pub offset: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Column of the first sample in the component's grid.
    pub left: u32,
    /// Its row there.
    pub top: u32,
    /// Samples across of the whole component.
    pub width: u32,
    /// Rows of it.
    pub height: u32,
    /// Columns of pixels that a sample covers.
    pub across: u32,
    /// Rows of them.
    pub down: u32,
    /// How samples become pixels.
    pub upsampling: u32,
    /// Index of its factors.
    pub quant: u32,
    /// Blocks of an MCU, across.
    pub blocks_across: u32,
    /// Down.
    pub blocks_down: u32,
    /// A bit for each position in zigzag order whose values begin with 2 bits, where blocks are packed.
    pub twos: [u32; 2],
    /// With 4 bits.
    pub fours: [u32; 2],
}

/// One image.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegImage {
    /// Address of its bits, the first one the highest of each word; or of its packed blocks, the first byte the lowest.
    pub words: u64,
    /// Address of 64 i16 a block, row by row, in the order of the scan, of the window's MCUs alone.
    pub coefficients: u64,
    /// Address of the samples.
    pub planes: u64,
    /// Address of packed RGB.
    pub pixels: u64,
    /// Address of a [`JpegPoint`] for each place of the decode index, counted through the rows; 0 where none are wanted.
    pub points: u64,
    /// How many words there are.
    pub word_count: u32,
    /// MCUs in a row of the scan.
    pub across: u32,
    /// The window, in MCUs.
    pub first_row: u32,
    /// Its first column.
    pub first_column: u32,
    /// Its rows.
    pub rows: u32,
    /// Its columns.
    pub columns: u32,
    /// Blocks of an MCU.
    pub units: u32,
    /// 1 or 3.
    pub components: u32,
    /// What they mean.
    pub color: u32,
    /// Bytes from one row of pixels to the next.
    pub pitch: u32,
    /// The part of the image that the pixels show.
    pub x: u32,
    /// Its first row.
    pub y: u32,
    /// Its columns.
    pub width: u32,
    /// Its rows.
    pub height: u32,
    /// MCUs from one point of a row to the next.
    pub step: u32,
    /// Points in a row.
    pub points_per_row: u32,
    /// By block of an MCU: component, DC code (bit 2), AC code (bit 3), x (bits 4 and 5) and y (bits 6 and 7).
    pub unit: [u32; UNITS],
    /// By component.
    pub plane: [JpegPlane; 3],
}

/// What is decoded by one thread: from one place in a scan to another. A place is a block, counted through the scan, and how
/// many coefficients of it are behind; bits are counted through the words of the image.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegPiece {
    /// Number of its image.
    pub image: u32,
    /// Its first bit.
    pub from: u32,
    /// Where it ends, or before.
    pub to: u32,
    /// Where it begins.
    pub block: u32,
    /// Where it ends.
    pub end_block: u32,
    /// Coefficients of the first block that are behind.
    pub coefficient: u8,
    /// Of the last one.
    pub end_coefficient: u8,
    /// How it ends.
    pub end: u16,
    /// DC predictions at its start.
    pub dc: [i16; 4],
    /// At its end.
    pub end_dc: [i16; 4],
}

/// A piece that is too long for one thread; it is cut every [`CUT_BITS`] bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegRun {
    /// All of it.
    pub piece: JpegPiece,
    /// Number of its first cut, of all runs'.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

/// What is known of a cut. Only the device makes them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegCut {
    /// The bit that it was decoded from.
    pub from: u32,
    /// The block of the MCU there, and coefficients that are behind.
    pub place: u32,
    /// The bit that this leads to.
    pub to: u32,
    /// The place there.
    pub end_place: u32,
    /// Blocks that end within.
    pub blocks: u32,
    /// Sums of the differences of DC.
    pub dc: [i16; 4],
}

/// A place of the decode index: a bit, and the predictions of DC there.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegPoint {
    /// Counted through the words of the image.
    pub bit: u32,
    /// The predictions of DC.
    pub dc: [i16; 4],
}

/// What a block of threads does: `count` pieces of files with the same codes, of which two are for DC, and two for AC; or as
/// many cuts of a run.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegGroup {
    /// Its first piece, or its first cut.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Number of the run.
    pub run: u32,
    /// Zero.
    pub reserved: u32,
    /// Numbers of the codes.
    pub codes: [u32; 4],
}

/// Up to [`EXPANDED`] blocks of a component that stand side by side: a group of a file of coefficients.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegPacked {
    /// Number of its image.
    pub image: u32,
    /// Its first byte, counted through the words of the image.
    pub at: u32,
    /// Its bytes.
    pub length: u16,
    /// Its blocks.
    pub count: u8,
    /// The component that they are of.
    pub component: u8,
    /// Of its first block in the component's grid.
    pub column: u16,
    /// Its row there.
    pub row: u16,
}

/// What a block of threads does for one image: of `inverse_dct` from the block of coefficients `at` on, of `planes_to_rgb` the
/// tile `at`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct JpegJob {
    /// Number of the image.
    pub image: u32,
    /// Where to begin.
    pub at: u32,
}
