//! Sizes, rectangles and the eight upright orientations, in whole pixels.

use bytemuck::{Pod, Zeroable};
use serde::Serialize;

/// Width and height in pixels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, Serialize)]
pub struct Size {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// A size of `width` columns and `height` rows.
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// The number of pixels, which cannot overflow.
    pub const fn pixels(self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// The whole area as a rectangle at the origin.
    pub const fn rect(self) -> Rect {
        Rect { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// Width and height swapped.
    pub const fn transposed(self) -> Self {
        Self { width: self.height, height: self.width }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// A rectangle of whole pixels; `x` and `y` may be negative if it reaches beyond an edge.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, Serialize)]
pub struct Rect {
    /// Left column.
    pub x: i32,
    /// Top row.
    pub y: i32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Rect {
    /// A rectangle with its top left corner at (`x`, `y`).
    pub const fn new(x: i32, y: i32, width: u32, height: u32) -> Self {
        Self { x, y, width, height }
    }

    /// One past the last column.
    pub const fn right(self) -> i64 {
        self.x as i64 + self.width as i64
    }

    /// One past the last row.
    pub const fn bottom(self) -> i64 {
        self.y as i64 + self.height as i64
    }

    /// Its size without its position.
    pub const fn size(self) -> Size {
        Size { width: self.width, height: self.height }
    }

    /// True when it holds no pixel.
    pub const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// The common part, or an empty rectangle at the origin.
    pub fn intersect(self, other: Rect) -> Rect {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let width = self.right().min(other.right()) - x as i64;
        let height = self.bottom().min(other.bottom()) - y as i64;
        if width <= 0 || height <= 0 {
            return Rect::default();
        }
        Rect { x, y, width: width as u32, height: height as u32 }
    }

    /// The smallest rectangle around both.
    pub fn hull(self, other: Rect) -> Rect {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let width = (self.right().max(other.right()) - i64::from(x)) as u32;
        let height = (self.bottom().max(other.bottom()) - i64::from(y)) as u32;
        Rect { x, y, width, height }
    }

    /// True when every pixel of `other` is inside.
    pub fn contains(self, other: Rect) -> bool {
        other.is_empty() || self.intersect(other) == other
    }

    /// The rectangle after rows and columns are swapped.
    pub const fn transposed(self) -> Rect {
        Rect { x: self.y, y: self.x, width: self.height, height: self.width }
    }

    /// The same rectangle moved by whole pixels.
    pub const fn shifted(self, dx: i32, dy: i32) -> Rect {
        Rect { x: self.x + dx, y: self.y + dy, ..self }
    }
}

/// How stored pixels turn into upright ones: first a transposition, then mirrors.
///
/// Bit 0 mirrors left to right, bit 1 top to bottom, bit 2 swaps rows and columns *before* the mirrors.
/// The eight values are the eight EXIF orientations in another numbering.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, Serialize)]
pub struct Orientation(pub u32);

impl Orientation {
    /// Stored upright.
    pub const UPRIGHT: Orientation = Orientation(0);
    /// Mirrored left to right.
    pub const MIRROR_X: Orientation = Orientation(1);
    /// Mirrored top to bottom.
    pub const MIRROR_Y: Orientation = Orientation(2);
    /// Rows and columns swapped.
    pub const TRANSPOSE: Orientation = Orientation(4);

    /// The orientation that EXIF tag 0x0112 names (1 to 8); anything else counts as upright, as viewers do.
    pub const fn from_exif(tag: u16) -> Self {
        Orientation(match tag {
            2 => 1,
            3 => 3,
            4 => 2,
            5 => 4,
            6 => 5,
            7 => 7,
            8 => 6,
            _ => 0,
        })
    }

    /// The orientation's EXIF tag, 1 to 8.
    pub const fn to_exif(self) -> u16 {
        match self.0 & 7 {
            1 => 2,
            3 => 3,
            2 => 4,
            4 => 5,
            5 => 6,
            7 => 7,
            6 => 8,
            _ => 1,
        }
    }

    /// Whether columns are mirrored (after the transposition).
    pub const fn mirrors_x(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether rows are mirrored (after the transposition).
    pub const fn mirrors_y(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether rows and columns are swapped.
    pub const fn transposes(self) -> bool {
        self.0 & 4 != 0
    }

    /// The size after turning a stored image of `stored` pixels.
    pub const fn apply_size(self, stored: Size) -> Size {
        if self.transposes() { stored.transposed() } else { stored }
    }

    /// Turns a rectangle of the oriented image of size `oriented` into stored coordinates.
    ///
    /// `rect` must lie inside the image.
    pub const fn to_stored(self, rect: Rect, oriented: Size) -> Rect {
        let x = if self.mirrors_x() { oriented.width as i64 - rect.right() } else { rect.x as i64 };
        let y = if self.mirrors_y() { oriented.height as i64 - rect.bottom() } else { rect.y as i64 };
        if self.transposes() {
            Rect { x: y as i32, y: x as i32, width: rect.height, height: rect.width }
        } else {
            Rect { x: x as i32, y: y as i32, width: rect.width, height: rect.height }
        }
    }

    /// This orientation followed by a swap of the upright image's rows and columns.
    pub const fn transposed(self) -> Self {
        Orientation((self.0 ^ 4) & 4 | (self.0 & 1) << 1 | (self.0 & 2) >> 1)
    }

    /// This orientation followed by a mirror left to right of the upright image.
    pub const fn mirrored_x(self) -> Self {
        Orientation(self.0 ^ 1)
    }

    /// This orientation followed by a mirror top to bottom of the upright image.
    pub const fn mirrored_y(self) -> Self {
        Orientation(self.0 ^ 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exif_orientation_is_a_different_one() {
        let mut seen: Vec<u32> = (1..=8).map(|tag| Orientation::from_exif(tag).0).collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(Orientation::from_exif(9), Orientation::UPRIGHT);
        assert!((1..=8).all(|tag| Orientation::from_exif(tag).to_exif() == tag));
    }

    #[test]
    fn a_crop_of_a_photograph_stored_on_its_side_is_found_in_the_file() {
        // EXIF 6: the stored image must be turned clockwise to be seen upright.
        let turned = Orientation::from_exif(6);
        let stored = Size::new(40, 30);
        let seen = turned.apply_size(stored);
        assert_eq!(seen, Size::new(30, 40));
        // The upright top right corner is the stored top left corner.
        assert_eq!(turned.to_stored(Rect::new(29, 0, 1, 1), seen), Rect::new(0, 0, 1, 1));
        // The upright top left corner is the stored bottom left corner.
        assert_eq!(turned.to_stored(Rect::new(0, 0, 1, 1), seen), Rect::new(0, 29, 1, 1));
    }

    #[test]
    fn rectangles_that_only_touch_share_nothing() {
        let left = Rect::new(0, 0, 4, 4);
        assert!(left.intersect(Rect::new(4, 0, 4, 4)).is_empty());
        assert_eq!(left.intersect(Rect::new(-2, 2, 4, 4)), Rect::new(0, 2, 2, 2));
        assert!(left.contains(Rect::default()));
    }
}
