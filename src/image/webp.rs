//! WebP: header, and the pixels of a still image or of an animation's first frame.

use super::error::{ImageError, corrupt, other_file};
use super::{Format, ImageMut, Scratch, exif};
use crate::decode_memory::grow;
use crate::geometry::{Orientation, Rect, Size};
use image_webp::{DecodingError, WebPDecoder};
use std::io::{Cursor, ErrorKind};

const TRUNCATED: ImageError = ImageError::Truncated { format: Format::WebP };

/// Bytes of a frame's header before its own chunks.
const FRAME_HEAD: usize = 16;

/// The flag of an extended file that has frames.
const ANIMATED: u8 = 0x02;

/// The flag of an extended file that has alpha, and that of a lossless image in the fifth byte of its header.
const ALPHA: u8 = 0x10;
const LOSSLESS_ALPHA: u8 = 0x10;

pub(super) fn is_webp(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")
}

/// Canvas size, and the orientation from an EXIF chunk at any position.
pub(super) fn parse_header(bytes: &[u8]) -> Result<(Size, Orientation), ImageError> {
    let (name, body) = chunks(bytes).next().ok_or(TRUNCATED)?;
    let size = match (name, body) {
        (b"VP8X", &[_, _, _, _, w0, w1, w2, h0, h1, h2, ..]) => {
            Size::new(edge([w0, w1, w2]), edge([h0, h1, h2]))
        }
        (b"VP8L", &[0x2F, b0, b1, b2, b3, ..]) => {
            let bits = u32::from_le_bytes([b0, b1, b2, b3]);
            Size::new((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        }
        (b"VP8 ", &[_, _, _, 0x9D, 0x01, 0x2A, w0, w1, h0, h1, ..]) => {
            let edge = |bytes| u32::from(u16::from_le_bytes(bytes) & 0x3FFF);
            Size::new(edge([w0, w1]), edge([h0, h1]))
        }
        (b"VP8X" | b"VP8L" | b"VP8 ", short) if short.len() < 10 => return Err(TRUNCATED),
        _ => return Err(corrupt(Format::WebP, "its first chunk holds no image")),
    };
    if size.pixels() == 0 {
        return Err(corrupt(Format::WebP, format!("a size of {size} pixels")));
    }
    let exif = chunks(bytes).find(|(name, _)| *name == b"EXIF").map(|(_, body)| exif::orientation(body));
    Ok((size, exif.unwrap_or_default()))
}

/// Whether the file says that its pixels have alpha.
pub(super) fn has_alpha(bytes: &[u8]) -> bool {
    match chunks(bytes).next() {
        Some((b"VP8X", &[flags, ..])) => flags & ALPHA != 0,
        Some((b"VP8L", &[_, _, _, _, last, ..])) => last & LOSSLESS_ALPHA != 0,
        _ => false,
    }
}

/// 24 bits that hold a length minus one.
fn edge(bytes: [u8; 3]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) + 1
}

fn chunks(file: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    chunks_of(file.get(12..).unwrap_or_default())
}

/// Names and bodies of the chunks; a body that the end of the file cuts short is returned as far as it goes.
fn chunks_of(mut rest: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let (name, after) = rest.split_first_chunk::<4>()?;
        let (length, after) = after.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let body = &after[..length.min(after.len())];
        rest = after.get(length.saturating_add(length & 1)..).unwrap_or_default();
        Some((name, body))
    })
}

/// Bytes that a decode takes beside its result: the image with alpha, and as much for what it is made of.
pub(super) fn scratch_bytes(stored: Size) -> usize {
    stored.width as usize * stored.height as usize * 8
}

/// Decodes the whole (first) image and keeps the region that `out` is set up for.
pub(super) fn decode(bytes: &[u8], scratch: &mut Scratch, out: &mut ImageMut<'_>) -> Result<(), ImageError> {
    let promised = bytes.get(4..8).and_then(|size| size.try_into().ok()).map_or(0, u32::from_le_bytes);
    // The last chunk's padding byte is often missing, and harmless.
    if (bytes.len() as u64) + 1 < u64::from(promised) + 8 {
        return Err(TRUNCATED);
    }
    let (size, _) = parse_header(bytes)?;
    if size != out.stored {
        return Err(other_file(Format::WebP));
    }
    let animated =
        chunks(bytes).next().is_some_and(|(name, body)| name == b"VP8X" && body[0] & ANIMATED != 0);
    if !animated {
        return still(bytes, out.stored.rect(), &mut scratch.pixels, out);
    }
    let frame = chunks(bytes).find(|(name, _)| *name == b"ANMF").map(|(_, body)| body);
    let place = unwrap_frame(frame.ok_or(TRUNCATED)?, out.stored, &mut scratch.file)?;
    // Pixels that the first frame does not cover are transparent, and black once alpha is dropped.
    (0..out.region.height as usize).for_each(|row| out.row_mut(row).fill(0));
    still(&scratch.file, place, &mut scratch.pixels, out)
}

/// Writes a frame's image as a separate file and returns its rectangle on the canvas.
///
/// The crate would blend the frame onto its canvas with its alpha; libwebp, and so Pillow, takes the first one as it
/// is.
fn unwrap_frame(frame: &[u8], canvas: Size, file: &mut Vec<u8>) -> Result<Rect, ImageError> {
    let &[x0, x1, x2, y0, y1, y2, w0, w1, w2, h0, h1, h2, ..] = frame else { return Err(TRUNCATED) };
    // Offsets are stored in units of two pixels.
    let offset = |bytes: [u8; 3]| ((edge(bytes) - 1) * 2) as i32;
    let place = Rect::new(offset([x0, x1, x2]), offset([y0, y1, y2]), edge([w0, w1, w2]), edge([h0, h1, h2]));
    if !canvas.rect().contains(place) {
        return Err(corrupt(Format::WebP, "its first frame hangs over the canvas"));
    }
    let data = frame.get(FRAME_HEAD..).ok_or(TRUNCATED)?;
    file.clear();
    file.extend_from_slice(b"RIFF\0\0\0\0WEBP");
    if data.starts_with(b"ALPH") {
        file.extend_from_slice(b"VP8X\x0A\0\0\0");
        file.extend_from_slice(&[ALPHA, 0, 0, 0, w0, w1, w2, h0, h1, h2]);
    }
    file.extend_from_slice(data);
    let length = (file.len() - 8) as u32;
    file[4..8].copy_from_slice(&length.to_le_bytes());
    Ok(place)
}

/// Decodes a still file that covers `place` of the canvas, and copies what the region shows of it.
fn still(file: &[u8], place: Rect, pixels: &mut Vec<u8>, out: &mut ImageMut<'_>) -> Result<(), ImageError> {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).map_err(refused)?;
    if decoder.dimensions() != (place.width, place.height) || decoder.is_animated() {
        return Err(corrupt(Format::WebP, "its size is not what its header says"));
    }
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let bytes = decoder.output_buffer_size().ok_or(TRUNCATED)?;
    grow(pixels, bytes);
    let pixels = &mut pixels[..bytes];
    decoder.read_image(pixels).map_err(refused)?;
    let seen = out.region.intersect(place);
    let (left, width) = ((seen.x - out.region.x).max(0) as usize, seen.width as usize);
    for y in seen.y..seen.y + seen.height as i32 {
        let start = (y - place.y) as usize * place.width as usize + (seen.x - place.x).max(0) as usize;
        let line = &pixels[start * channels..][..width * channels];
        let row = (y - out.region.y) as usize;
        let shown = &mut out.row_mut(row)[left * 3..][..width * 3];
        for (rgb, pixel) in shown.as_chunks_mut::<3>().0.iter_mut().zip(line.chunks_exact(channels)) {
            *rgb = [pixel[0], pixel[1], pixel[2]];
        }
    }
    Ok(())
}

fn refused(error: DecodingError) -> ImageError {
    match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => TRUNCATED,
        other => corrupt(Format::WebP, other.to_string()),
    }
}
