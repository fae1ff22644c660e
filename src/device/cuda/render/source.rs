//! Where the upright pixels of a decoded image or a canvas lie in memory.

use super::Surface;
use super::layout::Source;
use crate::geometry::{Orientation, Rect, Size};

/// A u8 canvas in the scratch memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas {
    /// Its offset, a multiple of four.
    pub(super) place: u64,
    pub(super) size: Size,
    /// The level on which it is there.
    pub(super) ready: u32,
}

impl Canvas {
    /// Bytes from one row to the next: whole groups of four pixels, which are stored at once, and a word after them,
    /// which may be read with them.
    pub(super) fn pitch(size: Size) -> u32 {
        size.width.div_ceil(4) * 12 + 4
    }

    pub(super) fn bytes(size: Size) -> u64 {
        u64::from(Self::pitch(size)) * u64::from(size.height)
    }

    /// The part `rect` (oriented), or `None` where it hangs over an edge.
    pub(super) fn source(&self, orientation: Orientation, rect: Rect) -> Option<Source> {
        let Self { place: ptr, size: stored, .. } = *self;
        let surface = Surface { ptr, pitch: Self::pitch(stored), region: stored.rect(), stored };
        // Four pixels of which the canvas holds one can be read at once: their bytes in the row are there.
        let columns = stored.width.next_multiple_of(4) + 1;
        let source = surface.source(orientation, rect)?;
        Some(Source { columns: if source.columns == 0 { 0 } else { columns }, in_scratch: 1, ..source })
    }
}

impl Surface {
    /// The part `rect` (oriented), or `None` where it was not decoded.
    pub(super) fn source(&self, orientation: Orientation, rect: Rect) -> Option<Source> {
        let oriented = orientation.apply_size(self.stored);
        if rect.is_empty() || !oriented.rect().contains(rect) {
            return None;
        }
        if !self.region.contains(orientation.to_stored(rect, oriented)) {
            return None;
        }
        // The offsets of three neighbours say all; a neighbour beyond the edge has one, too.
        let pixel = |x: i32, y: i32| {
            let at = orientation.to_stored(Rect::new(rect.x + x, rect.y + y, 1, 1), oriented);
            (i64::from(at.x) - i64::from(self.region.x), i64::from(at.y) - i64::from(self.region.y))
        };
        let byte = |(x, y): (i64, i64)| y * i64::from(self.pitch) + x * 3;
        let (first, right, below) = (pixel(0, 0), pixel(1, 0), pixel(0, 1));
        Some(Source {
            origin: self.ptr.checked_add_signed(byte(first))?,
            right: i32::try_from(byte(right) - byte(first)).ok()?,
            down: i32::try_from(byte(below) - byte(first)).ok()?,
            size: rect.size(),
            column: first.0 as i32,
            columns: if orientation.transposes() { 0 } else { self.region.width },
            in_scratch: 0,
            reserved: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_of_every_orientation_is_found_where_it_is_stored() {
        let (stored, region) = (Size::new(50, 40), Rect::new(10, 5, 31, 30));
        let surface = Surface { ptr: 4096, pitch: 100, region, stored };
        for tag in 1..=8 {
            let orientation = Orientation::from_exif(tag);
            let oriented = orientation.apply_size(stored);
            // An oriented rectangle within what was decoded.
            let rect =
                if orientation.transposes() { Rect::new(12, 14, 9, 12) } else { Rect::new(14, 12, 12, 9) };
            let source = surface.source(orientation, rect).expect("decoded");
            for (x, y) in [(0, 0), (1, 0), (0, 1), (8, 8)] {
                let at = orientation.to_stored(Rect::new(rect.x + x, rect.y + y, 1, 1), oriented);
                let want = 4096 + i64::from(at.y - 5) * 100 + i64::from(at.x - 10) * 3;
                let got = source.origin as i64 + i64::from(x * source.right) + i64::from(y * source.down);
                assert_eq!(got, want, "tag {tag}");
                if source.columns != 0 {
                    assert_eq!(at.x - 10, source.column + x * source.right / 3);
                }
            }
        }
    }

    #[test]
    fn what_was_not_decoded_has_no_source() {
        let stored = Size::new(50, 40);
        let surface = Surface { ptr: 0, pitch: 60, region: Rect::new(0, 0, 20, 20), stored };
        let upright = Orientation::UPRIGHT;
        assert!(surface.source(upright, Rect::new(0, 0, 20, 20)).is_some());
        for rect in [Rect::new(1, 0, 20, 20), Rect::new(-1, 0, 5, 5), Rect::new(0, 0, 0, 5)] {
            assert!(surface.source(upright, rect).is_none(), "{rect:?}");
        }
    }
}
