//! Masks: PNG files whose pixels are classes, not colours.

use super::error::{ImageError, corrupt};
use super::png::{reader, refused};
use super::{Format, Limits};
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
    let mut reader = reader(bytes, png::Limits::default())?;
    let info = reader.info();
    let size = Size::new(info.width, info.height);
    let bits = match (info.color_type, info.bit_depth) {
        (ColorType::Grayscale | ColorType::Indexed, depth) if depth != BitDepth::Sixteen => depth as usize,
        (color, depth) => {
            return Err(ImageError::Mask { found: format!("{color:?} of {} bits", depth as u8) });
        }
    };
    if size.pixels() > limits.max_pixels {
        return Err(ImageError::TooLarge { pixels: size.pixels(), limit: limits.max_pixels });
    }
    let line_bytes = reader.output_line_size(size.width).unwrap_or_default();
    let mut packed = vec![0; line_bytes * size.height as usize];
    let frame = reader.next_frame(&mut packed).map_err(refused)?;
    if line_bytes == 0 || (frame.width, frame.height) != (size.width, size.height) {
        return Err(corrupt(Format::Png, "its first frame is smaller than the image"));
    }
    for line in packed.chunks_exact(line_bytes) {
        let class = |x: usize| {
            let at = x * bits;
            line[at / 8] >> (8 - bits - at % 8) & (0xFF >> (8 - bits))
        };
        classes.extend((0..size.width as usize).map(class));
    }
    Ok(size)
}
