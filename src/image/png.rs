//! PNG: header, and pixels row by row as Pillow turns them into RGB.

use super::error::{ImageError, corrupt, other_file};
use super::{Format, ImageMut, Limits, Scratch, exif};
use crate::geometry::{Orientation, Size};
use png::{BitDepth, ColorType, DecodingError};
use std::io::{Cursor, ErrorKind};

/// The first bytes of every PNG.
pub(super) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// The maximum that the crate may allocate for chunks that are not pixels.
const CHUNK_BYTES: usize = 64 << 20;

const TRUNCATED: ImageError = ImageError::Truncated { format: Format::Png };

/// The size, and the orientation from an eXIf chunk at any position.
pub(super) fn parse_header(bytes: &[u8]) -> Result<(Size, Orientation), ImageError> {
    let mut chunks = chunks(bytes);
    let (name, body) = chunks.next().ok_or(TRUNCATED)?;
    let &[w0, w1, w2, w3, h0, h1, h2, h3, ..] = body else { return Err(TRUNCATED) };
    if name != b"IHDR" {
        return Err(corrupt(Format::Png, "its first chunk is not IHDR"));
    }
    let size = Size::new(u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]));
    if [size.width, size.height].iter().any(|&edge| edge == 0 || edge > i32::MAX as u32) {
        return Err(corrupt(Format::Png, format!("a size of {size} pixels")));
    }
    let exif = chunks.find(|(name, _)| *name == b"eXIf").map(|(_, body)| exif::orientation(body));
    Ok((size, exif.unwrap_or_default()))
}

/// Channels of a pixel, bits of a channel, and whether the image is interlaced; of a header that is cut short, what most
/// files have.
pub(super) fn layout(bytes: &[u8]) -> (u8, u8, bool) {
    let body = chunks(bytes).next().map_or(&[][..], |(_, body)| body);
    let &[_, _, _, _, _, _, _, _, bits, color, _, _, interlaced, ..] = body else { return (3, 8, false) };
    let channels = ColorType::from_u8(color).map_or(3, |color| color.samples() as u8);
    (channels, bits, interlaced != 0)
}

/// Names and bodies of the chunks; a body that the end of the file cuts short is returned as far as it goes.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    let mut rest = bytes.get(SIGNATURE.len()..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (name, after) = after.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        let body = &after[..length.min(after.len())];
        // Four bytes of checksum follow the body.
        rest = after.get(length.saturating_add(4)..).unwrap_or_default();
        Some((name, body))
    })
}

/// Decodes the whole file, so that damage is found wherever it is, and keeps the region that `out` is set up for.
pub(super) fn decode(
    bytes: &[u8],
    limits: &Limits,
    scratch: &mut Scratch,
    out: &mut ImageMut<'_>,
) -> Result<(), ImageError> {
    // 16-bit RGBA, the widest pixels there are, in one row.
    let row_bytes = limits.max_pixels.min(u64::from(out.stored.width)).saturating_mul(8);
    let allowed =
        CHUNK_BYTES.saturating_add(usize::try_from(row_bytes).unwrap_or(usize::MAX).saturating_mul(4));
    let mut reader = reader(bytes, png::Limits { bytes: allowed })?;
    let info = reader.info();
    if info.size() != (out.stored.width, out.stored.height) {
        return Err(other_file(Format::Png));
    }
    let samples = Samples::new(info)?;
    let line_bytes = reader.output_line_size(out.stored.width).ok_or(TRUNCATED)?;
    if reader.info().interlaced {
        return decode_passes(&mut reader, &samples, scratch, out);
    }
    scratch.pixels.resize(line_bytes, 0);
    let shown = out.region.y as usize..out.region.bottom() as usize;
    let first = out.region.x as usize;
    let mut row = 0;
    // Reading past the last row also checks the last checksum.
    while reader.read_row(&mut scratch.pixels).map_err(refused)?.is_some() {
        if shown.contains(&row) {
            samples.to_rgb(&scratch.pixels, first, out.row_mut(row - shown.start));
        }
        row += 1;
    }
    if row != out.stored.height as usize || reader.output_line_size(out.stored.width) != Some(line_bytes) {
        return Err(corrupt(Format::Png, "its first frame is smaller than the image"));
    }
    Ok(())
}

/// The seven passes of an interlaced image (Adam7): first column and row, and the distance to the next.
const PASSES: [(u32, u32, u32, u32); 7] =
    [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];

/// Decodes an interlaced image. Each pass goes to where its pixels belong, line by line, so that no second image is kept.
fn decode_passes(
    reader: &mut png::Reader<Cursor<&[u8]>>,
    samples: &Samples,
    scratch: &mut Scratch,
    out: &mut ImageMut<'_>,
) -> Result<(), ImageError> {
    let smaller = || corrupt(Format::Png, "its first frame is smaller than the image");
    let (Size { width, height }, region) = (out.stored, out.region);
    for (x, y, across, down) in PASSES {
        let count = width.saturating_sub(x).div_ceil(across);
        if count == 0 {
            continue;
        }
        let line_bytes = reader.output_line_size(count).ok_or(TRUNCATED)?;
        for row in (y..height).step_by(down as usize) {
            let line = reader.next_interlaced_row().map_err(refused)?.ok_or_else(smaller)?;
            if line.data().len() != line_bytes {
                return Err(smaller());
            }
            if !(region.y as u32..region.bottom() as u32).contains(&row) {
                continue;
            }
            scratch.pixels.resize(count as usize * 3, 0);
            samples.to_rgb(line.data(), 0, &mut scratch.pixels);
            let to = out.row_mut((row - region.y as u32) as usize).as_chunks_mut::<3>().0;
            let pixels = scratch.pixels.as_chunks::<3>().0;
            // The first of the pass's columns that the region shows.
            let first = (region.x as u32).saturating_sub(x).div_ceil(across);
            let columns = (x + first * across - region.x as u32..).step_by(across as usize);
            for (column, pixel) in columns.zip(pixels.iter().skip(first as usize)) {
                let Some(to) = to.get_mut(column as usize) else { break };
                *to = *pixel;
            }
        }
    }
    // Reading past the last row also checks the last checksum.
    match reader.next_interlaced_row().map_err(refused)? {
        Some(_) => Err(smaller()),
        None => Ok(()),
    }
}

/// Reads samples as they are stored: colours are converted here, as in Pillow, and the values of a mask are classes.
pub(super) fn reader(bytes: &[u8], limits: png::Limits) -> Result<png::Reader<Cursor<&[u8]>>, ImageError> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(png::Transformations::IDENTITY);
    decoder.read_info().map_err(refused)
}

/// How stored samples become RGB.
struct Samples {
    color: ColorType,
    bits: usize,
    /// The file's colours, followed by black, as in Pillow since version 10.
    palette: [[u8; 3]; 256],
}

impl Samples {
    fn new(info: &png::Info<'_>) -> Result<Self, ImageError> {
        let mut palette = [[0; 3]; 256];
        match &info.palette {
            Some(colors) => {
                for (entry, color) in palette.iter_mut().zip(colors.as_chunks::<3>().0) {
                    *entry = *color;
                }
            }
            None if info.color_type == ColorType::Indexed => {
                return Err(corrupt(Format::Png, "its pixels name colours of a palette that is missing"));
            }
            None => {}
        }
        Ok(Self { color: info.color_type, bits: info.bit_depth as usize, palette })
    }

    /// Turns the pixels of `line` from column `first` on into RGB until `out` is full.
    fn to_rgb(&self, line: &[u8], first: usize, out: &mut [u8]) {
        let out = out.as_chunks_mut::<3>().0;
        let wide = self.bits == BitDepth::Sixteen as usize;
        let channels = self.color.samples();
        let pixel_bytes = channels * self.bits / 8;
        let pixels = || line.get(first * pixel_bytes..).unwrap_or_default().chunks_exact(pixel_bytes);
        match (self.color, wide) {
            (ColorType::Grayscale | ColorType::Indexed, false) => self.look_up(line, first, out),
            // Clamped and not scaled, like Pillow's conversion from its 16-bit mode.
            (ColorType::Grayscale, true) => {
                fill(out, pixels(), |pixel| [if pixel[0] == 0 { pixel[1] } else { 255 }; 3]);
            }
            (ColorType::GrayscaleAlpha, _) => fill(out, pixels(), |pixel| [pixel[0]; 3]),
            (_, false) => fill(out, pixels(), |pixel| [pixel[0], pixel[1], pixel[2]]),
            (_, true) => fill(out, pixels(), |pixel| [pixel[0], pixel[2], pixel[4]]),
        }
    }

    /// Samples of 1 to 8 bits, packed from the high bit down, each a grey level or a palette index.
    fn look_up(&self, line: &[u8], first: usize, out: &mut [[u8; 3]]) {
        let (in_a_byte, largest) = (8 / self.bits, (1u16 << self.bits) - 1);
        for (column, rgb) in (first..).zip(out) {
            let shift = 8 - self.bits * (column % in_a_byte + 1);
            let sample = u16::from(line[column / in_a_byte]) >> shift & largest;
            *rgb = match self.color {
                ColorType::Indexed => self.palette[usize::from(sample)],
                _ => [(sample * (255 / largest)) as u8; 3],
            };
        }
    }
}

fn fill<'a>(out: &mut [[u8; 3]], pixels: impl Iterator<Item = &'a [u8]>, rgb: impl Fn(&[u8]) -> [u8; 3]) {
    for (out, pixel) in out.iter_mut().zip(pixels) {
        *out = rgb(pixel);
    }
}

pub(super) fn refused(error: DecodingError) -> ImageError {
    match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => TRUNCATED,
        other => corrupt(Format::Png, other.to_string()),
    }
}
