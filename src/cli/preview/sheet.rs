//! The sheet itself: pairs of pictures in a grid with captions, written as PNG or JPEG.

use super::{caption, font};
use anyhow::Context;
use feedline::atomic_file::write_file;
use feedline::geometry::Size;
use std::io::Write;
use std::path::Path;

/// Edge of the square that a picture is fitted into, in pixels.
pub(crate) const CELL: u32 = 224;
/// Between the two pictures of a pair.
const INNER_GAP: u32 = 4;
/// Around pairs.
const GAP: u32 = 16;
const CAPTION: u32 = caption::ROWS + 4;
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

/// A picture: packed R, G, B.
#[derive(Clone)]
pub(crate) struct Picture {
    pub(crate) size: Size,
    pub(crate) rgb: Vec<u8>,
}

impl Picture {
    /// Colours the pixels that there are of `size` ones from (`x`, `y`) on.
    pub(crate) fn fill(&mut self, [x, y]: [i64; 2], size: Size, colour: Rgb) {
        let within = |from: i64, length: u32, edge: u32| {
            let [from, to] = [from, from + i64::from(length)].map(|at| at.clamp(0, edge.into()) as u32);
            from..to
        };
        for y in within(y, size.height, self.size.height) {
            for x in within(x, size.width, self.size.width) {
                self.pixel(x, y).copy_from_slice(&colour);
            }
        }
    }

    /// Writes a line of text as far as there is room for it.
    pub(crate) fn write(&mut self, [x, y]: [i64; 2], text: &str, colour: Rgb) {
        for (column, row, covered) in caption::pixels(text) {
            let at = [x + i64::from(column), y + i64::from(row)].map(u32::try_from);
            if let [Ok(x), Ok(y)] = at
                && x < self.size.width
                && y < self.size.height
            {
                self.tint(x, y, colour, u32::from(covered) + 1);
            }
        }
    }

    /// Writes a line of the smallest letters, which know no case.
    pub(crate) fn write_small(&mut self, [x, y]: [i64; 2], text: &str, colour: Rgb) {
        for (column, row) in font::dots(text) {
            self.fill([x + i64::from(column), y + i64::from(row)], Size::new(1, 1), colour);
        }
    }

    /// Lays `part` 256ths of a colour over a pixel.
    pub(crate) fn tint(&mut self, x: u32, y: u32, colour: Rgb, part: u32) {
        for (level, other) in self.pixel(x, y).iter_mut().zip(colour) {
            *level = ((u32::from(*level) * (256 - part) + u32::from(other) * part) >> 8) as u8;
        }
    }

    /// Lays a smaller picture over this one.
    fn paste(&mut self, x: u32, y: u32, picture: &Picture) {
        let pixels = picture.rgb.chunks_exact(3);
        let places = (0..picture.size.height).flat_map(|dy| (0..picture.size.width).map(move |dx| (dx, dy)));
        for ((dx, dy), pixel) in places.zip(pixels) {
            self.pixel(x + dx, y + dy).copy_from_slice(pixel);
        }
    }

    fn pixel(&mut self, x: u32, y: u32) -> &mut [u8] {
        &mut self.rgb[3 * (y as usize * self.size.width as usize + x as usize)..][..3]
    }
}

/// Pairs of pictures on paper.
pub(crate) struct Sheet {
    columns: usize,
    paper: Picture,
}

/// Where the pair behind `count` others begins.
const fn behind(count: usize, length: u32) -> u32 {
    GAP + count as u32 * (length + GAP)
}

impl Sheet {
    /// An empty sheet with room for `pairs`.
    pub(crate) fn new(pairs: usize) -> Self {
        let columns = pairs.clamp(1, COLUMNS);
        let size = Size::new(behind(columns, PAIR.width), behind(pairs.div_ceil(columns), PAIR.height));
        Self { columns, paper: Picture { size, rgb: PAPER.repeat(size.pixels() as usize) } }
    }

    /// Mounts the `position`th pair with a caption under each picture: the end of one that is too long, as the end of a
    /// path says most.
    pub(crate) fn add(&mut self, position: usize, pair: [Picture; 2], left: &str, right: &str) {
        let (column, row) = (position % self.columns, position / self.columns);
        let (x, y) = (behind(column, PAIR.width), behind(row, PAIR.height));
        let room = (CELL / caption::ADVANCE) as usize;
        for (side, (picture, caption)) in pair.iter().zip([left, right]).enumerate() {
            let x = x + side as u32 * (CELL + INNER_GAP);
            self.paper.fill([x, y].map(i64::from), Size::new(CELL, CELL), MOUNT);
            let (dx, dy) = ((CELL - picture.size.width) / 2, (CELL - picture.size.height) / 2);
            self.paper.paste(x + dx, y + dy, picture);
            let skipped = caption.chars().count().saturating_sub(room);
            let end: String = caption.chars().skip(skipped).collect();
            self.paper.write([x, y + CELL + 2].map(i64::from), &end, INK);
        }
    }

    /// Writes a JPEG where the name ends in .jpg or .jpeg, which is a quarter of the size, and else a PNG.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let remedy = || format!("{} cannot be written: check its folder", path.display());
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let mut bytes = Vec::new();
        match ending.is_some_and(|ending| ending == "jpg" || ending == "jpeg") {
            true => self.write_jpeg(&mut bytes)?,
            false => self.write_png(&mut bytes)?,
        }
        write_file(path, |file| file.write_all(&bytes)).with_context(remedy)
    }

    fn write_jpeg(&self, mut file: impl Write) -> anyhow::Result<()> {
        let (width, height) = (u16::try_from(self.paper.size.width)?, u16::try_from(self.paper.size.height)?);
        let mut encoder = jpeg_encoder::Encoder::new(&mut file, JPEG_QUALITY);
        encoder.set_optimized_huffman_tables(true);
        encoder.encode(&self.paper.rgb, width, height, jpeg_encoder::ColorType::Rgb)?;
        Ok(file.flush()?)
    }

    fn write_png(&self, file: impl Write) -> anyhow::Result<()> {
        let mut encoder = png::Encoder::new(file, self.paper.size.width, self.paper.size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.paper.rgb)?;
        Ok(writer.finish()?)
    }
}
