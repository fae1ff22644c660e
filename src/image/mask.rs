//! Masks and depth maps: PNG files whose pixels are classes or distances, not colours.

use super::error::{ImageError, corrupt};
use super::png::{reader, refused};
use super::{Format, Limits, check_pixels};
use crate::geometry::Size;
use png::{BitDepth, ColorType};

/// Decodes a PNG of one channel into one class per pixel: grey levels as they are stored, or indices into the palette.
///
/// `classes` is replaced; it holds the rows without gaps.
///
/// # Errors
/// A file that is truncated, corrupt, above `max_pixels`, or not a PNG of one channel of at most 8 bits.
pub fn decode_mask(bytes: &[u8], limits: &Limits, classes: &mut Vec<u8>) -> Result<Size, ImageError> {
    classes.clear();
    let Packed { size, bits, rows, row_bytes } = packed(bytes, limits, |color, depth| {
        let is_mask =
            matches!(color, ColorType::Grayscale | ColorType::Indexed) && depth != BitDepth::Sixteen;
        if is_mask { Ok(()) } else { Err(ImageError::Mask { found: described(color, depth) }) }
    })?;
    for row in rows.chunks_exact(row_bytes) {
        let class = |x: usize| {
            let at = x * bits;
            row[at / 8] >> (8 - bits - at % 8) & (0xFF >> (8 - bits))
        };
        classes.extend((0..size.width as usize).map(class));
    }
    Ok(size)
}

/// Decodes a PNG of grey levels of 8 or 16 bits into two bytes per pixel, the higher one first: levels as they are stored.
///
/// `levels` is replaced; it holds the rows without gaps.
///
/// # Errors
/// A file that is truncated, corrupt, above `max_pixels`, or no such PNG.
pub fn decode_depth(bytes: &[u8], limits: &Limits, levels: &mut Vec<u8>) -> Result<Size, ImageError> {
    levels.clear();
    let Packed { size, bits, rows, row_bytes } = packed(bytes, limits, |color, depth| {
        let is_depth = color == ColorType::Grayscale && matches!(depth, BitDepth::Eight | BitDepth::Sixteen);
        if is_depth { Ok(()) } else { Err(ImageError::Depth { found: described(color, depth) }) }
    })?;
    let width = size.width as usize;
    for row in rows.chunks_exact(row_bytes) {
        match bits {
            16 => levels.extend_from_slice(&row[..width * 2]),
            _ => levels.extend(row[..width].iter().flat_map(|&level| [0, level])),
        }
    }
    Ok(size)
}

/// The first frame of a PNG as it is stored.
struct Packed {
    size: Size,
    /// Of a pixel.
    bits: usize,
    /// Without gaps.
    rows: Vec<u8>,
    row_bytes: usize,
}

/// The first frame of a PNG that `check` lets pass.
fn packed(
    bytes: &[u8],
    limits: &Limits,
    check: impl Fn(ColorType, BitDepth) -> Result<(), ImageError>,
) -> Result<Packed, ImageError> {
    let mut reader = reader(bytes, png::Limits::default())?;
    let info = reader.info();
    let (size, bits) = (Size::new(info.width, info.height), info.bit_depth as usize);
    check(info.color_type, info.bit_depth)?;
    check_pixels(size, limits)?;
    let row_bytes = reader.output_line_size(size.width).unwrap_or_default();
    let mut rows = vec![0; row_bytes * size.height as usize];
    let frame = reader.next_frame(&mut rows).map_err(refused)?;
    if row_bytes == 0 || (frame.width, frame.height) != (size.width, size.height) {
        return Err(corrupt(Format::Png, "its first frame is smaller than the image"));
    }
    Ok(Packed { size, bits, rows, row_bytes })
}

fn described(color: ColorType, depth: BitDepth) -> String {
    format!("{color:?} of {} bits", depth as u8)
}
