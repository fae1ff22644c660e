//! PNM: binary grey (P5) and colour (P6) files, and their levels as Pillow turns them into RGB.

use super::error::{ImageError, corrupt, other_file};
use super::{Format, ImageMut};
use crate::geometry::{Orientation, Size};

const TRUNCATED: ImageError = ImageError::Truncated { format: Format::Pnm };

/// The most characters of a number, as in Pillow.
const DIGITS: usize = 10;

/// The largest level of two bytes.
const LARGEST: u32 = u16::MAX as u32;

/// What stands before the levels.
struct Head {
    size: Size,
    /// Levels of a pixel.
    channels: usize,
    /// Bytes of a level; the higher one comes first.
    bytes: usize,
    /// The level of white.
    largest: u32,
    /// Where the levels begin.
    end: usize,
}

pub(super) fn is_pnm(bytes: &[u8]) -> bool {
    matches!(bytes, [b'P', b'5' | b'6', next, ..] if is_space(*next))
}

/// The size; nothing in a file says how it is turned.
pub(super) fn parse_header(bytes: &[u8]) -> Result<(Size, Orientation), ImageError> {
    Ok((Head::of(bytes)?.size, Orientation::UPRIGHT))
}

/// Channels of a pixel, and bits of a channel; of a header that cannot be read, what most files have.
pub(super) fn layout(bytes: &[u8]) -> (u8, u8, bool) {
    Head::of(bytes).map_or((3, 8, false), |head| (head.channels as u8, head.bytes as u8 * 8, false))
}

impl Head {
    /// Of a file that begins as [`is_pnm`] says.
    fn of(bytes: &[u8]) -> Result<Self, ImageError> {
        let channels = if bytes.starts_with(b"P6") { 3 } else { 1 };
        let mut numbers = Numbers { bytes, at: 2 };
        let size = Size::new(numbers.next("width")?, numbers.next("height")?);
        let largest = numbers.next("largest level")?;
        if [size.width, size.height].iter().any(|&edge| edge == 0 || edge > i32::MAX as u32) {
            return Err(corrupt(Format::Pnm, format!("a size of {size} pixels")));
        }
        if !(1..=LARGEST).contains(&largest) {
            let what = format!("its largest level is {largest} and must be in 1..={LARGEST}");
            return Err(corrupt(Format::Pnm, what));
        }
        let bytes = if largest > u32::from(u8::MAX) { 2 } else { 1 };
        Ok(Self { size, channels, bytes, largest, end: numbers.at })
    }

    /// The level of three times eight bits that Pillow makes of a stored one.
    fn level(&self, stored: u16) -> u8 {
        // Pillow keeps grey of 16 bits as numbers of 16 bits, and clamps these when it makes RGB of them.
        let white = if (self.channels, self.bytes) == (1, 2) { LARGEST } else { u8::MAX.into() };
        // Its arithmetic, rounding included: other formulas give other levels for some `largest`.
        let scaled = f64::from(stored) / f64::from(self.largest) * f64::from(white);
        scaled.round_ties_even().min(u8::MAX.into()) as u8
    }
}

/// The decimal numbers of a header, with white space and comments between them.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    /// The next number, with the one character of white space that ends it.
    fn next(&mut self, what: &str) -> Result<u32, ImageError> {
        let mut in_comment = false;
        // What is no white space, outside of comments.
        let skipped = self.bytes[self.at..].iter().position(|&byte| {
            in_comment = if in_comment { !matches!(byte, b'\n' | b'\r') } else { byte == b'#' };
            !in_comment && !is_space(byte)
        });
        let rest = &self.bytes[self.at + skipped.ok_or(TRUNCATED)?..];
        let digits = rest.iter().take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
        let refused = |why: &str| Err(corrupt(Format::Pnm, format!("the {what} in its header {why}")));
        match rest.get(digits) {
            _ if digits > DIGITS => return refused("has more than 10 digits"),
            None => return Err(TRUNCATED),
            Some(b'#') if digits > 0 => return refused("runs into a comment"),
            Some(&end) if digits == 0 || !is_space(end) => return refused("is no decimal number"),
            Some(_) => {}
        }
        self.at = self.bytes.len() - rest.len() + digits + 1;
        let number = rest[..digits].iter().fold(0, |number, &digit| number * 10 + u64::from(digit - b'0'));
        u32::try_from(number).or_else(|_| refused("is too large"))
    }
}

/// White space as C and Pillow know it, the vertical tab included.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Copies the region: other rows are not touched. Bytes after the first image are left alone, as in Pillow.
pub(super) fn decode(bytes: &[u8], out: &mut ImageMut<'_>) -> Result<(), ImageError> {
    let head = is_pnm(bytes).then(|| Head::of(bytes)).ok_or_else(|| other_file(Format::Pnm))??;
    if head.size != out.stored {
        return Err(other_file(Format::Pnm));
    }
    let each = head.channels * head.bytes;
    let levels = &bytes[head.end..];
    if (levels.len() as u64) < head.size.pixels().saturating_mul(each as u64) {
        return Err(TRUNCATED);
    }
    let table: Option<[u8; 256]> = (head.bytes == 1 && head.largest != u32::from(u8::MAX))
        .then(|| std::array::from_fn(|stored| head.level(stored as u16)));
    let (region, width) = (out.region, head.size.width as usize);
    for row in 0..region.height as usize {
        let first = (region.y as usize + row) * width + region.x as usize;
        let line = &levels[first * each..][..region.width as usize * each];
        let to = out.row_mut(row);
        match (head.bytes, &table) {
            (1, None) if head.channels == 3 => to.copy_from_slice(line),
            (1, None) => fill(to, line.iter().copied(), head.channels),
            (1, Some(table)) => {
                fill(to, line.iter().map(|&stored| table[usize::from(stored)]), head.channels)
            }
            _ => {
                let stored = line.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair));
                fill(to, stored.map(|stored| head.level(stored)), head.channels);
            }
        }
    }
    Ok(())
}

/// Writes a row: a single level goes to all three channels.
fn fill(to: &mut [u8], levels: impl Iterator<Item = u8>, channels: usize) {
    match channels {
        1 => to.as_chunks_mut::<3>().0.iter_mut().zip(levels).for_each(|(rgb, level)| *rgb = [level; 3]),
        _ => to.iter_mut().zip(levels).for_each(|(to, level)| *to = level),
    }
}
