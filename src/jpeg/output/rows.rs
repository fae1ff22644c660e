//! The destination of decoded rows: an image in memory, or a consumer that needs each row only briefly.

use crate::geometry::Size;

/// Receives the rows of a decoded region as they become complete, from the first to the last.
///
/// A decode that fails may stop at any row. One that fails because of its index, or of damage that may pass, starts again
/// at the first row, and the rows before that are void.
pub(crate) trait Rows {
    /// Whether a region of this size fits.
    fn fits(&self, region: Size) -> bool;

    /// The buffer for row `y` of the region: at least the region's width times 3 bytes, for R, G, B.
    fn row(&mut self, y: usize) -> &mut [u8];

    /// Reports that row `y` is written.
    fn done(&mut self, y: usize);
}

/// A destination: packed RGB.
pub struct PixelsMut<'a> {
    /// Rows one after another; each begins with the region's width times 3 bytes of pixels.
    pub data: &'a mut [u8],
    /// Bytes from one row to the next.
    pub stride: usize,
}

impl Rows for PixelsMut<'_> {
    fn fits(&self, region: Size) -> bool {
        let row = region.width as usize * 3;
        let ahead = (region.height as usize).saturating_sub(1).checked_mul(self.stride);
        let needed = ahead.and_then(|ahead| ahead.checked_add(row));
        self.stride >= row && needed.is_some_and(|needed| needed <= self.data.len())
    }

    fn row(&mut self, y: usize) -> &mut [u8] {
        &mut self.data[y * self.stride..]
    }

    fn done(&mut self, _: usize) {}
}
