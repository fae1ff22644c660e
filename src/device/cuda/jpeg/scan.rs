//! What the device is told of one file: made by whoever has the file, ahead of the batch that it belongs to.

use super::image_record::image_record;
use super::layout::{
    CUT_BITS, END_AT, END_PADDED, END_WITHIN, JpegCut, JpegImage, JpegPacked, JpegPiece, JpegPoint,
};
use super::packed::Packed;
use crate::coefficients;
use crate::geometry::Rect;
use crate::image::Header;
use crate::jpeg::parallel::{Code, End, IndexMaker, Pieces, Reader};
use crate::jpeg::{self, Index};
use std::ops::Range;

/// Bits of the longest piece that is not cut: a thread decodes one in less time than a batch takes, and cuts must be found.
pub(super) const LONG_BITS: u32 = 8 * CUT_BITS;

/// Words behind the last one of packed blocks, which hold zeros.
const ZEROS: usize = 2;

/// One file, or what is wanted of it: everything but its bits.
#[derive(Clone)]
pub(crate) struct Scan {
    /// Without addresses.
    pub(super) image: JpegImage,
    /// By component.
    pub(super) quants: Vec<[i16; 64]>,
    pub(super) stored: Stored,
}

/// How the coefficients of a file are stored.
#[derive(Clone)]
pub(super) enum Stored {
    /// In the bits of a scan.
    Coded(Box<Coded>),
    /// In groups of packed blocks, without the image's number.
    Packed(Vec<JpegPacked>),
}

/// What tells of a scan's bits.
#[derive(Clone)]
pub(super) struct Coded {
    /// Two for DC, two for the other coefficients.
    pub(super) codes: [Code; 4],
    /// Without the image's number.
    pub(super) pieces: Vec<JpegPiece>,
    /// Where an index is to be made of what the decoder sees.
    index_maker: Option<IndexMaker>,
}

/// Makes scans, and keeps its memory.
#[derive(Default)]
pub(crate) struct ScanMaker {
    reader: Reader,
    pieces: Pieces,
    /// The bytes of a file of coefficients that hold its groups; `None` where the last scan is a JPEG's.
    packed: Option<Vec<Range<usize>>>,
}

impl ScanMaker {
    /// The scan for a region of a file; `None` where the device cannot decode that, or where something is wrong with the file,
    /// which the CPU's decoder will say.
    pub(crate) fn make(
        &mut self,
        bytes: &[u8],
        header: &Header,
        region: Rect,
        index: Option<&Index>,
    ) -> Option<Scan> {
        if region.is_empty() || !header.size.rect().contains(region) {
            return None;
        }
        match (&header.jpeg, &header.coefficients) {
            (Some(header), _) => self.make_coded(bytes, header, region, index),
            (None, Some(header)) => self.make_packed(bytes, header, region),
            (None, None) => None,
        }
    }

    fn make_coded(
        &mut self,
        bytes: &[u8],
        header: &jpeg::Header,
        region: Rect,
        index: Option<&Index>,
    ) -> Option<Scan> {
        self.packed = None;
        let blueprint = self.reader.read(bytes, header).ok()??;
        self.pieces.cut(&blueprint, bytes, region, index).ok()?;
        let (frame, units) = (&blueprint.frame, blueprint.units());
        let mut image = image_record((frame, header.color), units, self.pieces.window(), region)?;
        image.word_count = self.pieces.bytes().len().div_ceil(4) as u32;
        let [dc, ac] = [blueprint.dc, blueprint.ac];
        let pieces = pieces(&self.pieces, image.units);
        let index_maker = match index {
            Some(index) => self.pieces.index_maker(&blueprint, bytes, index),
            None => None,
        };
        if let Some(maker) = &index_maker {
            (image.step, image.points_per_row) = (maker.step() as u32, maker.points_per_row() as u32);
        }
        let quants = blueprint.quants[..frame.count].iter().map(|quant| quant.0).collect();
        let coded = Coded { codes: [dc[0], dc[1], ac[0], ac[1]], pieces, index_maker };
        Some(Scan { image, quants, stored: Stored::Coded(Box::new(coded)) })
    }

    fn make_packed(&mut self, bytes: &[u8], header: &coefficients::Header, region: Rect) -> Option<Scan> {
        let Packed { image, quants, groups, ranges } = Packed::read(bytes, header, region)?;
        self.packed = Some(ranges);
        Some(Scan { image, quants, stored: Stored::Packed(groups) })
    }

    /// Writes the bits of the scan that was made last, of this file, as the device reads them, to [`Scan::word_bytes`] bytes.
    pub(crate) fn write_words(&self, bytes: &[u8], out: &mut [u8]) {
        match &self.packed {
            Some(ranges) => write_ranges(bytes, ranges, out),
            None => write_big_endian(self.pieces.bytes(), out),
        }
    }
}

/// Writes words whose first byte is the highest, and zeros behind the last byte.
fn write_big_endian(bytes: &[u8], out: &mut [u8]) {
    let (words, rest) = bytes.as_chunks::<4>();
    let (out, _) = out.as_chunks_mut::<4>();
    for (out, word) in out.iter_mut().zip(words) {
        *out = u32::from_be_bytes(*word).to_ne_bytes();
    }
    if let Some(out) = out.get_mut(words.len()) {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        *out = u32::from_be_bytes(last).to_ne_bytes();
    }
}

/// Writes these bytes one behind the other, and zeros behind the last one.
fn write_ranges(bytes: &[u8], ranges: &[Range<usize>], mut out: &mut [u8]) {
    for range in ranges {
        let (to, rest) = out.split_at_mut(range.len());
        to.copy_from_slice(&bytes[range.clone()]);
        out = rest;
    }
    out.fill(0);
}

/// A region that is decoded faster than `wanted`, which it holds: its pixels are written four by four.
pub fn aligned(wanted: Rect) -> Rect {
    let more = wanted.x.rem_euclid(4);
    Rect { x: wanted.x - more, width: wanted.width + more as u32, ..wanted }
}

impl Scan {
    /// Bytes of its bits.
    pub(crate) fn word_bytes(&self) -> usize {
        // The kernel for packed blocks reads beyond the last one.
        let zeros = match self.stored {
            Stored::Coded(_) => 0,
            Stored::Packed(_) => ZEROS,
        };
        (self.image.word_count as usize + zeros) * 4
    }

    /// Points of the decode index that the device is to note.
    pub(super) fn points(&self) -> usize {
        self.index_maker().map_or(0, IndexMaker::points)
    }

    /// Whether a decode index is of use.
    pub(crate) fn takes_index(&self) -> bool {
        matches!(self.stored, Stored::Coded(_))
    }

    fn index_maker(&self) -> Option<&IndexMaker> {
        match &self.stored {
            Stored::Coded(coded) => coded.index_maker.as_ref(),
            Stored::Packed(_) => None,
        }
    }

    /// The pieces of its scan, without the image's number.
    pub(super) fn pieces(&self) -> &[JpegPiece] {
        match &self.stored {
            Stored::Coded(coded) => &coded.pieces,
            Stored::Packed(_) => &[],
        }
    }

    /// The rows that are not read because an index is known.
    pub(crate) fn skipped_rows(&self) -> usize {
        let first = self.pieces().first().map_or(0, |piece| piece.block);
        (first / self.image.units / self.image.across) as usize
    }

    /// The decode index of the file, of the points that the device has noted.
    pub(crate) fn index(&self, bytes: &[u8], points: &[JpegPoint]) -> Option<Index> {
        let places = points.iter().map(|point| (point.bit, point.dc));
        self.index_maker()?.index(bytes, places)
    }

    /// Blocks of coefficients.
    pub(super) fn blocks(&self) -> usize {
        self.image.rows as usize * self.image.columns as usize * self.image.units as usize
    }

    /// Cuts of a piece; 0 where it is not cut.
    pub(super) fn cuts(piece: &JpegPiece) -> u32 {
        let bits = piece.to - piece.from;
        if bits > LONG_BITS { bits.div_ceil(CUT_BITS) } else { 0 }
    }

    /// Bytes of the device's memory that it takes, about.
    pub(crate) fn device_bytes(&self) -> usize {
        let cuts: usize = self.pieces().iter().map(|piece| Self::cuts(piece) as usize).sum();
        let cut = 2 * size_of::<JpegCut>() + size_of::<JpegPiece>();
        // Jobs take less than two bytes for each block of coefficients.
        let tables = match &self.stored {
            Stored::Coded(coded) => size_of_val(coded.pieces.as_slice()),
            Stored::Packed(groups) => size_of_val(groups.as_slice()),
        } + self.blocks() * 2
            + (16 << 10);
        self.word_bytes()
            + self.points() * size_of::<JpegPoint>()
            + self.blocks() * (128 + 64)
            + cuts * cut
            + tables
    }
}

fn pieces(pieces: &Pieces, units: u32) -> Vec<JpegPiece> {
    let four = |[a, b, c]: [i16; 3]| [a, b, c, 0];
    let record = |piece: &jpeg::parallel::Piece| {
        let (end, end_dc) = match piece.end {
            End::At(dc) => (END_AT, dc),
            End::Padded => (END_PADDED, [0; 3]),
            End::Within => (END_WITHIN, [0; 3]),
        };
        JpegPiece {
            image: 0,
            from: piece.from,
            to: piece.to,
            block: piece.mcu * units,
            end_block: (piece.mcu + piece.mcus) * units,
            coefficient: 0,
            end_coefficient: 0,
            end: end as u16,
            dc: four(piece.dc),
            end_dc: four(end_dc),
        }
    };
    pieces.pieces().iter().map(record).collect()
}
