//! What the device is told of one file: made by whoever has the file, ahead of the batch that it belongs to.

use super::layout::{
    COLOR_GREY, COLOR_RGB, COLOR_YCC, CUT_BITS, END_AT, END_PADDED, END_WITHIN, JpegCut, JpegImage,
    JpegPiece, JpegPlane, JpegPoint, UPSAMPLE_H1V2, UPSAMPLE_H2V1, UPSAMPLE_H2V2, UPSAMPLE_NONE,
    UPSAMPLE_REPEAT,
};
use crate::geometry::Rect;
use crate::jpeg::parallel::{Blueprint, Code, End, IndexMaker, Pieces, Reader, Upsampling};
use crate::jpeg::{ColorModel, Header, Index};

/// Bits of the longest piece that is not cut: a thread decodes one in less time than a batch takes, and cuts must be found.
pub(super) const LONG_BITS: u32 = 8 * CUT_BITS;

/// One file, or what is wanted of it: everything but its bits.
#[derive(Clone)]
pub(crate) struct Scan {
    /// Without addresses.
    pub(super) image: JpegImage,
    /// Two for DC, two for the other coefficients.
    pub(super) codes: [Code; 4],
    /// By component.
    pub(super) quants: Vec<[i16; 64]>,
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
        let blueprint = self.reader.read(bytes, header).ok()??;
        self.pieces.cut(&blueprint, bytes, region, index).ok()?;
        let (rows, columns) = self.pieces.window();
        // Samples of an image are counted in 32 bits.
        if rows.len() * columns.len() * blueprint.units().len() > (u32::MAX / 64) as usize {
            return None;
        }
        let (mut image, quants) = image(&blueprint, header.color, &self.pieces, region);
        let [dc, ac] = [blueprint.dc, blueprint.ac];
        let pieces = pieces(&self.pieces, image.units);
        let index_maker = match index {
            Some(index) => self.pieces.index_maker(&blueprint, bytes, index),
            None => None,
        };
        if let Some(maker) = &index_maker {
            (image.step, image.points_per_row) = (maker.step() as u32, maker.points_per_row() as u32);
        }
        Some(Scan { image, codes: [dc[0], dc[1], ac[0], ac[1]], quants, pieces, index_maker })
    }

    /// Writes the bits of the scan that was made last, as the device reads them, to [`Scan::word_bytes`] bytes.
    pub(crate) fn write_words(&self, out: &mut [u8]) {
        let (words, rest) = self.pieces.bytes().as_chunks::<4>();
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
}

/// A region that is decoded faster than `wanted`, which it holds: its pixels are written four by four.
pub fn aligned(wanted: Rect) -> Rect {
    let more = wanted.x.rem_euclid(4);
    Rect { x: wanted.x - more, width: wanted.width + more as u32, ..wanted }
}

impl Scan {
    /// Bytes of its bits.
    pub(crate) fn word_bytes(&self) -> usize {
        self.image.word_count as usize * 4
    }

    /// Points of the decode index that the device is to note.
    pub(super) fn points(&self) -> usize {
        self.index_maker.as_ref().map_or(0, IndexMaker::points)
    }

    /// The rows that are not read because an index is known.
    pub(crate) fn skipped_rows(&self) -> usize {
        let first = self.pieces.first().map_or(0, |piece| piece.block);
        (first / self.image.units / self.image.across) as usize
    }

    /// The decode index of the file, of the points that the device has noted.
    pub(crate) fn index(&self, bytes: &[u8], points: &[JpegPoint]) -> Option<Index> {
        let places = points.iter().map(|point| (point.bit, point.dc));
        self.index_maker.as_ref()?.index(bytes, places)
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
        let cuts: usize = self.pieces.iter().map(|piece| Self::cuts(piece) as usize).sum();
        let cut = 2 * size_of::<JpegCut>() + size_of::<JpegPiece>();
        // Jobs take less than two bytes for each block of coefficients.
        let tables = self.pieces.len() * size_of::<JpegPiece>() + self.blocks() * 2 + (16 << 10);
        self.word_bytes()
            + self.points() * size_of::<JpegPoint>()
            + self.blocks() * (128 + 64)
            + cuts * cut
            + tables
    }
}

fn image(file: &Blueprint, color: ColorModel, pieces: &Pieces, region: Rect) -> (JpegImage, Vec<[i16; 64]>) {
    let frame = &file.frame;
    let (rows, columns) = pieces.window();
    let mut image = JpegImage {
        word_count: pieces.bytes().len().div_ceil(4) as u32,
        across: frame.mcus_across() as u32,
        first_row: rows.start as u32,
        first_column: columns.start as u32,
        rows: rows.len() as u32,
        columns: columns.len() as u32,
        units: file.units().len() as u32,
        components: frame.count as u32,
        color: match color {
            ColorModel::Grey => COLOR_GREY,
            ColorModel::Rgb => COLOR_RGB,
            _ => COLOR_YCC,
        },
        x: region.x as u32,
        y: region.y as u32,
        width: region.width,
        height: region.height,
        ..JpegImage::default()
    };
    for (to, unit) in image.unit.iter_mut().zip(file.units()) {
        *to = (unit.component | unit.dc << 2 | unit.ac << 3 | unit.x << 4 | unit.y << 6) as u32;
    }
    let mut offset = 0;
    for (number, (plane, component)) in image.plane.iter_mut().zip(frame.used()).enumerate() {
        let (across, down) = (frame.h_max / component.h, frame.v_max / component.v);
        let pitch = columns.len() * component.h * 8;
        *plane = JpegPlane {
            offset: offset as u32,
            pitch: pitch as u32,
            left: (columns.start * component.h * 8) as u32,
            top: (rows.start * component.v * 8) as u32,
            width: component.width as u32,
            height: component.height as u32,
            across: across as u32,
            down: down as u32,
            upsampling: match Upsampling::of(across, down, component.width) {
                Upsampling::Full => UPSAMPLE_NONE,
                Upsampling::H2V1 => UPSAMPLE_H2V1,
                Upsampling::H1V2 => UPSAMPLE_H1V2,
                Upsampling::H2V2 => UPSAMPLE_H2V2,
                Upsampling::Replicate => UPSAMPLE_REPEAT,
            },
            quant: number as u32,
            blocks_across: component.h as u32,
            blocks_down: component.v as u32,
        };
        offset += pitch * rows.len() * component.v * 8;
    }
    (image, file.quants[..frame.count].iter().map(|quant| quant.0).collect())
}

fn pieces(pieces: &Pieces, units: u32) -> Vec<JpegPiece> {
    let four = |[a, b, c]: [i16; 3]| [a, b, c, 0];
    let record = |piece: &crate::jpeg::parallel::Piece| {
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
