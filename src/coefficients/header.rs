//! The head of a file: what the image is, and where its segments lie.

use super::error::{CoefficientsError, corrupt};
use super::widths::Widths;
use crate::geometry::{Orientation, Size};
use crate::jpeg::{ColorModel, Frame, Quant, Sampling};
use std::ops::Range;

/// The first bytes of every file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89FJC\r\n\x1A\n";
/// The version that is read and written.
pub(super) const VERSION: u8 = 1;
/// Bytes of the head ahead of what is there for each component.
pub(super) const FIXED: usize = 20;
/// Bytes of what is there for each component.
pub(super) const A_COMPONENT: usize = 4;
/// Bytes of a table of quantisation factors.
pub(super) const A_TABLE: usize = 128;
/// Zeros behind the last segment, so that wide loads stay in the file.
pub(super) const TAIL: usize = 64;

/// The color models, by their number in a file.
pub(super) const MODELS: [ColorModel; 5] =
    [ColorModel::Grey, ColorModel::YCbCr, ColorModel::Rgb, ColorModel::Cmyk, ColorModel::Ycck];

/// The properties of an image, and of how its coefficients are held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Stored size in pixels, before the orientation is applied; each side is 1 to 65535.
    pub size: Size,
    /// How to turn the stored pixels upright.
    pub orientation: Orientation,
    /// How the components become RGB.
    pub color: ColorModel,
    pub(crate) frame: Frame,
    /// By component.
    pub(crate) widths: [Widths; 4],
    /// Rows of MCUs in a segment; the last may have less.
    pub(crate) rows: usize,
    tables: usize,
}

impl Header {
    /// How densely each component is stored.
    pub fn sampling(&self) -> Sampling {
        Sampling::of(&self.frame)
    }

    /// Segments of the file.
    pub(crate) fn segments(&self) -> usize {
        self.frame.mcus_down().div_ceil(self.rows)
    }

    fn tables_at(&self) -> usize {
        FIXED + A_COMPONENT * self.frame.count
    }

    fn offsets_at(&self) -> usize {
        self.tables_at() + A_TABLE * self.tables
    }

    /// Bytes of the head.
    pub(super) fn bytes(&self) -> usize {
        self.offsets_at() + 4 * (self.segments() + 1) + 4
    }

    /// The factors of each component, by which the inverse DCT multiplies; those of absent components are zero.
    pub(crate) fn quants(&self, bytes: &[u8]) -> [Quant; 4] {
        let mut quants = [Quant([0; 64]); 4];
        for (quant, component) in quants.iter_mut().zip(self.frame.used()) {
            let table = self.tables_at() + A_TABLE * component.quant;
            let factors = bytes.get(table..table + A_TABLE).unwrap_or_default();
            for (factor, bytes) in quant.0.iter_mut().zip(factors.as_chunks().0) {
                *factor = i16::from_le_bytes(*bytes);
            }
        }
        quants
    }

    /// Where a segment lies in the file.
    pub(crate) fn segment(&self, bytes: &[u8], segment: usize) -> Result<Range<usize>, CoefficientsError> {
        let at = self.offsets_at() + 4 * segment;
        let Some([start, end]) = bytes.get(at..at + 8).and_then(|both| both.as_chunks().0.first_chunk())
        else {
            return Err(CoefficientsError::Truncated { place: "the offsets of its segments" });
        };
        let (start, end) = (u32::from_le_bytes(*start) as usize, u32::from_le_bytes(*end) as usize);
        if start < self.bytes() || end < start {
            return corrupt("the offsets of its segments fall, or lie in its header");
        }
        if bytes.len() < TAIL || end > bytes.len() - TAIL {
            return Err(CoefficientsError::Truncated { place: "a segment" });
        }
        Ok(start..end)
    }
}

/// Whether a file begins as files of coefficients do.
pub(crate) fn is_coefficients(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Reads the head of a file. Allocates nothing.
///
/// # Errors
/// A head that is cut off, has a wrong checksum, or says what no image has.
pub fn parse_header(bytes: &[u8]) -> Result<Header, CoefficientsError> {
    const CUT: CoefficientsError = CoefficientsError::Truncated { place: "the header" };
    let fixed: &[u8; FIXED] = bytes.first_chunk().ok_or(CUT)?;
    if !is_coefficients(fixed) {
        return corrupt("it does not begin as files of coefficients do");
    }
    let [_, _, _, _, _, _, _, _, version, color, orientation, count, ..] = *fixed;
    let [.., w0, w1, h0, h1, rows0, rows1, tables, spare] = *fixed;
    if version != VERSION {
        return Err(CoefficientsError::Version { found: version });
    }
    let (count, tables) = (usize::from(count), usize::from(tables));
    if !matches!(count, 1 | 3 | 4) || !(1..=count).contains(&tables) || spare != 0 {
        return corrupt("its counts of components and tables are not those of an image");
    }
    let components = bytes.get(FIXED..FIXED + A_COMPONENT * count).ok_or(CUT)?;
    let (components, _) = components.as_chunks::<A_COMPONENT>();
    // As in a JPEG, whose rules for sizes and sampling these are.
    let mut start = [0; 6 + 3 * 4];
    start[..6].copy_from_slice(&[8, h1, h0, w1, w0, count as u8]);
    let mut widths = [Widths::default(); 4];
    for (i, &[sampling, table, low, high]) in components.iter().enumerate() {
        if count == 1 && sampling != 0x11 {
            return corrupt("the sampling factors of its only component are not 1");
        }
        if usize::from(table) >= tables {
            return corrupt("a component has a table that is not there");
        }
        start[6 + 3 * i..9 + 3 * i].copy_from_slice(&[i as u8, sampling, table]);
        let Some(read) = Widths::from_bits(u16::from_le_bytes([low, high])) else {
            return corrupt("a component's widths are not 2, 4 or 8 bits");
        };
        widths[i] = read;
    }
    let frame = Frame::parse(0xC0, &start[..6 + 3 * count]);
    let Ok(frame) = frame else { return corrupt("its size or sampling is not that of an image") };
    let model =
        MODELS.get(usize::from(color)).copied().filter(|model| usize::from(model.components()) == count);
    let Some(color) = model else { return corrupt("its color model does not fit its components") };
    if !(1..=8).contains(&orientation) {
        return corrupt("its orientation is not 1 to 8");
    }
    let orientation = Orientation::from_exif(orientation.into());
    let rows = usize::from(u16::from_le_bytes([rows0, rows1]));
    if rows == 0 {
        return corrupt("its segments have no rows");
    }
    let header = Header { size: frame.size, orientation, color, frame, widths, rows, tables };
    let length = header.bytes();
    let sum = bytes.get(length - 4..length).and_then(<[u8]>::first_chunk).ok_or(CUT)?;
    if crc32c::crc32c(&bytes[..length - 4]) != u32::from_le_bytes(*sum) {
        return corrupt("the checksum of its header is wrong");
    }
    Ok(header)
}
