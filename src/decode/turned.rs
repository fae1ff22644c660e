//! Stored rows, turned upright on their way to the caller's memory.

use crate::decode_memory;
use crate::geometry::{Orientation, Size};
use crate::image::{Image, PixelsMut, Rows};

/// Stored rows that become columns together: 48 bytes of each upright row.
const STRIP_ROWS: usize = 16;

/// Takes stored rows of a region and writes upright ones. Rows that stay rows are decoded where they belong; rows that
/// become columns are collected in strips.
pub(super) struct Turned<'a, 'b> {
    orientation: Orientation,
    /// Size of the region as stored.
    stored: Size,
    strip: &'a mut Vec<u8>,
    out: &'a mut PixelsMut<'b>,
}

impl<'a, 'b> Turned<'a, 'b> {
    /// `out` has room for the region, turned; `strip` is memory to work in.
    pub(super) fn new(
        orientation: Orientation,
        stored: Size,
        strip: &'a mut Vec<u8>,
        out: &'a mut PixelsMut<'b>,
    ) -> Self {
        if orientation.transposes() {
            let rows = STRIP_ROWS.min(stored.height as usize);
            decode_memory::grow(strip, rows * stored.width as usize * 3);
        }
        Self { orientation, stored, strip, out }
    }

    /// Takes all rows of the region at once.
    pub(super) fn take(&mut self, region: &Image) {
        let rows = region.data.chunks_exact(region.stride).take(self.stored.height as usize);
        for (y, row) in rows.enumerate() {
            self.row(y)[..row.len()].copy_from_slice(row);
            self.done(y);
        }
    }

    fn width(&self) -> usize {
        self.stored.width as usize
    }

    /// The upright row that stored row `y` becomes.
    fn upright_row(&self, y: usize) -> usize {
        if self.orientation.mirrors_y() { self.stored.height as usize - 1 - y } else { y }
    }

    /// Writes `count` collected rows, of which the first is stored row `first`, as columns.
    fn write_columns(&mut self, first: usize, count: usize) {
        let (width, height) = (self.width(), self.stored.height as usize);
        let (mirrors_x, mirrors_y) = (self.orientation.mirrors_x(), self.orientation.mirrors_y());
        let left = if mirrors_x { height - first - count } else { first };
        let mut rows: [&[[u8; 3]]; STRIP_ROWS] = [&[]; _];
        for (at, row) in self.strip.as_chunks().0.chunks_exact(width).take(count).enumerate() {
            rows[if mirrors_x { count - 1 - at } else { at }] = row;
        }
        for x in 0..width {
            let y = if mirrors_y { width - 1 - x } else { x };
            let to = &mut self.out.row(y)[left * 3..][..count * 3];
            for (pixel, row) in to.as_chunks_mut().0.iter_mut().zip(&rows) {
                *pixel = row[x];
            }
        }
    }
}

impl Rows for Turned<'_, '_> {
    fn fits(&self, region: Size) -> bool {
        region == self.stored && self.out.fits(self.orientation.apply_size(region))
    }

    fn row(&mut self, y: usize) -> &mut [u8] {
        if self.orientation.transposes() {
            let bytes = self.width() * 3;
            return &mut self.strip[y % STRIP_ROWS * bytes..][..bytes];
        }
        let upright = self.upright_row(y);
        self.out.row(upright)
    }

    fn done(&mut self, y: usize) {
        if self.orientation.transposes() {
            let in_strip = y % STRIP_ROWS + 1;
            if in_strip == STRIP_ROWS || y + 1 == self.stored.height as usize {
                self.write_columns(y + 1 - in_strip, in_strip);
            }
        } else if self.orientation.mirrors_x() {
            let (bytes, upright) = (self.width() * 3, self.upright_row(y));
            self.out.row(upright)[..bytes].as_chunks_mut::<3>().0.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Rect;

    #[test]
    fn the_memory_of_a_strip_is_no_more_than_that_of_the_image() {
        let mut strip = Vec::new();
        for (stored, bytes) in
            [(Size::new(1000, 1), 3000), (Size::new(2, 500), 96), (Size::new(1000, 2), 6000)]
        {
            strip.clear();
            let mut out = PixelsMut { data: &mut [], stride: 0 };
            Turned::new(Orientation::from_exif(6), stored, &mut strip, &mut out);
            assert_eq!(strip.len(), bytes, "{stored}");
        }
    }

    #[test]
    fn every_orientation_puts_every_pixel_where_it_is_seen() {
        for (width, height) in [(1, 1), (5, 3), (3, 16), (7, 17), (40, 33)] {
            let stored = Size::new(width, height);
            let pixel = |x: u32, y: u32| [x as u8, y as u8, 7];
            for orientation in (0..8).map(Orientation) {
                let upright = orientation.apply_size(stored);
                let stride = upright.width as usize * 3 + 2;
                let mut data = vec![9; stride * upright.height as usize];
                let mut out = PixelsMut { data: &mut data, stride };
                let mut strip = Vec::new();
                let mut turned = Turned::new(orientation, stored, &mut strip, &mut out);
                assert!(turned.fits(stored));
                // The first rows come twice, as after damage.
                for y in (0..height.min(2)).chain(0..height) {
                    let row: Vec<u8> = (0..width).flat_map(|x| pixel(x, y)).collect();
                    turned.row(y as usize)[..row.len()].copy_from_slice(&row);
                    turned.done(y as usize);
                }
                for (x, y) in (0..upright.height).flat_map(|y| (0..upright.width).map(move |x| (x, y))) {
                    let from = orientation.to_stored(Rect::new(x as i32, y as i32, 1, 1), upright);
                    let seen = &data[y as usize * stride + x as usize * 3..][..3];
                    assert_eq!(seen, pixel(from.x as u32, from.y as u32), "{stored} {orientation:?} {x} {y}");
                }
                assert!(data.chunks(stride).all(|row| row[stride - 2..] == [9, 9]), "between the rows");
            }
        }
    }
}
