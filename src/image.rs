//! Image files of every format that the pipeline takes: what they are, and their pixels.

use crate::geometry::{Orientation, Rect, Size};

/// A file format that can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// JPEG, by this crate's own decoder.
    Jpeg,
    /// PNG.
    Png,
    /// WebP, the first frame of an animation.
    WebP,
}

/// Decoded pixels: packed RGB rows of a region of a stored image.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// Size of the whole stored image.
    pub stored: Size,
    /// The part that `data` holds, in stored coordinates.
    pub region: Rect,
    /// Bytes from one row to the next.
    pub stride: usize,
    /// Rows of R, G, B bytes; [`Image::TAIL`] more bytes follow the last row, so that wide loads stay inside.
    pub data: Vec<u8>,
    /// How the file asks to be turned.
    pub orientation: Orientation,
}

impl Image {
    /// Bytes behind the last row that may be read, whatever they hold.
    pub const TAIL: usize = 64;

    /// Makes room for `region`, reusing the memory; the pixels are undefined until they are written.
    pub fn reset(&mut self, stored: Size, region: Rect) {
        self.stored = stored;
        self.region = region;
        self.stride = region.width as usize * 3;
        let bytes = self.stride * region.height as usize + Self::TAIL;
        if self.data.len() < bytes {
            self.data.resize(bytes, 0);
        }
    }
}
