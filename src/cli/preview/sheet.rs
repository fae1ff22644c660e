//! The sheet itself: pairs of pictures in a grid with captions, written as PNG or JPEG.

use super::font;
use anyhow::Context;
use feedline::geometry::Size;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Edge of the square that a picture is fitted into, in pixels.
pub(crate) const CELL: u32 = 224;
/// Between the two pictures of a pair.
const INNER_GAP: u32 = 4;
/// Around pairs.
const GAP: u32 = 16;
/// Pixels that a caption's dot is wide and high.
const DOT: u32 = 2;
const CAPTION: u32 = font::ROWS * DOT + 8;
const PAIR: Size = Size { width: 2 * CELL + INNER_GAP, height: CELL + CAPTION };
/// Of a picture that is looked at and not learned from.
const JPEG_QUALITY: u8 = 80;
/// Pairs in one row of the sheet.
const COLUMNS: usize = 3;

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];
const PAPER: Rgb = [250, 250, 248];
const MOUNT: Rgb = [226, 226, 222];
const INK: Rgb = [64, 64, 64];

/// A small picture: packed R, G, B.
pub(crate) struct Thumbnail {
    pub(crate) size: Size,
    pub(crate) rgb: Vec<u8>,
}

impl Thumbnail {
    /// Colours a pixel, if there is one.
    pub(crate) fn set(&mut self, x: i64, y: i64, colour: Rgb) {
        let Size { width, height } = self.size;
        if (0..i64::from(width)).contains(&x) && (0..i64::from(height)).contains(&y) {
            self.pixel(x as u32, y as u32).copy_from_slice(&colour);
        }
    }

    /// Lays `part` 256ths of a colour over a pixel.
    pub(crate) fn tint(&mut self, x: u32, y: u32, colour: Rgb, part: u32) {
        for (level, other) in self.pixel(x, y).iter_mut().zip(colour) {
            *level = ((u32::from(*level) * (256 - part) + u32::from(other) * part) >> 8) as u8;
        }
    }

    fn pixel(&mut self, x: u32, y: u32) -> &mut [u8] {
        &mut self.rgb[3 * (y as usize * self.size.width as usize + x as usize)..][..3]
    }
}

/// Pairs of pictures on paper.
pub(crate) struct Sheet {
    size: Size,
    columns: usize,
    rgb: Vec<u8>,
}

impl Sheet {
    /// An empty sheet with room for `pairs`.
    pub(crate) fn new(pairs: usize) -> Self {
        let columns = pairs.clamp(1, COLUMNS);
        let along = |count: usize, length: u32| GAP + count as u32 * (length + GAP);
        let size = Size::new(along(columns, PAIR.width), along(pairs.div_ceil(columns), PAIR.height));
        Self { size, columns, rgb: PAPER.repeat(size.pixels() as usize) }
    }

    /// Mounts the `position`th pair with a caption under each picture.
    pub(crate) fn add(&mut self, position: usize, pair: [Thumbnail; 2], left: &str, right: &str) {
        let at = |count: usize, length: u32| GAP + count as u32 * (length + GAP);
        let (column, row) = (position % self.columns, position / self.columns);
        let (x, y) = (at(column, PAIR.width), at(row, PAIR.height));
        for (side, (picture, caption)) in pair.iter().zip([left, right]).enumerate() {
            let x = x + side as u32 * (CELL + INNER_GAP);
            self.fill(x, y, Size::new(CELL, CELL), MOUNT);
            let (dx, dy) = ((CELL - picture.size.width) / 2, (CELL - picture.size.height) / 2);
            self.paste(x + dx, y + dy, picture);
            self.write_caption(x, y + CELL + 4, caption);
        }
    }

    /// The bytes of `width` pixels from (`x`, `y`) to the right.
    fn row(&mut self, x: u32, y: u32, width: u32) -> &mut [u8] {
        let start = 3 * (y as usize * self.size.width as usize + x as usize);
        &mut self.rgb[start..start + 3 * width as usize]
    }

    fn fill(&mut self, x: u32, y: u32, size: Size, colour: Rgb) {
        for y in y..y + size.height {
            self.row(x, y, size.width).chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&colour));
        }
    }

    fn paste(&mut self, x: u32, y: u32, picture: &Thumbnail) {
        let row_bytes = 3 * picture.size.width as usize;
        for (y, source) in (y..).zip(picture.rgb.chunks_exact(row_bytes)) {
            self.row(x, y, picture.size.width).copy_from_slice(source);
        }
    }

    /// The end of a caption that is too long, as the end of a path says most.
    fn write_caption(&mut self, x: u32, y: u32, caption: &str) {
        let room = (CELL / (font::ADVANCE * DOT)) as usize;
        let skipped = caption.chars().count().saturating_sub(room);
        let end: String = caption.chars().skip(skipped).collect();
        for (column, row) in font::dots(&end) {
            self.fill(x + column * DOT, y + row * DOT, Size::new(DOT, DOT), INK);
        }
    }

    /// Writes a JPEG where the name ends in .jpg or .jpeg, which is a quarter of the size, and else a PNG.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let remedy = || format!("{} cannot be written: check its folder", path.display());
        let file = BufWriter::new(std::fs::File::create(path).with_context(remedy)?);
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.is_some_and(|ending| ending == "jpg" || ending == "jpeg") {
            true => self.write_jpeg(file).with_context(remedy),
            false => self.write_png(file).with_context(remedy),
        }
    }

    fn write_jpeg(&self, mut file: impl Write) -> anyhow::Result<()> {
        let (width, height) = (u16::try_from(self.size.width)?, u16::try_from(self.size.height)?);
        let mut encoder = jpeg_encoder::Encoder::new(&mut file, JPEG_QUALITY);
        encoder.set_optimized_huffman_tables(true);
        encoder.encode(&self.rgb, width, height, jpeg_encoder::ColorType::Rgb)?;
        Ok(file.flush()?)
    }

    fn write_png(&self, file: impl Write) -> anyhow::Result<()> {
        let mut encoder = png::Encoder::new(file, self.size.width, self.size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        Ok(writer.finish()?)
    }
}
