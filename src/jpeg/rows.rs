//! Where decoded rows go: into a picture in memory, or to somebody who needs each of them only for a while.

use crate::geometry::Size;

/// Takes the rows of a decoded region as they become complete, from the first to the last.
///
/// A decode that fails leaves off anywhere. One that an index led astray begins again at the first row; what it
/// handed out before counts no more.
pub(crate) trait Rows {
    /// Whether a region of this size fits.
    fn fits(&self, region: Size) -> bool;

    /// Where row `y` of the region is written: the region's width times 3 bytes of R, G, B, or more than that.
    fn row(&mut self, y: usize) -> &mut [u8];

    /// Says that row `y` is written.
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
