//! Levels that need no decoding: a region of them is copied.

use super::error::{ImageError, corrupt};
use super::{Format, ImageMut};

/// Copies the region. What a pixel has no byte for is 0, but for a single level, which all three channels have.
///
/// # Errors
/// Other bytes than one, two or three a pixel.
pub(super) fn decode(bytes: &[u8], out: &mut ImageMut<'_>) -> Result<(), ImageError> {
    let (pixels, width) = (out.stored.pixels() as usize, out.stored.width as usize);
    let each = bytes.len() / pixels.max(1);
    if !(1..=3).contains(&each) || each * pixels != bytes.len() {
        let cause = format!("{} bytes for {} pixels", bytes.len(), out.stored);
        return Err(corrupt(Format::Raw, cause));
    }
    let region = out.region;
    for row in 0..region.height as usize {
        let first = (region.y as usize + row) * width + region.x as usize;
        let from = bytes[first * each..][..region.width as usize * each].chunks_exact(each);
        for (to, levels) in out.row_mut(row).chunks_exact_mut(3).zip(from) {
            match *levels {
                [level] => to.fill(level),
                [high, low] => to.copy_from_slice(&[high, low, 0]),
                _ => to.copy_from_slice(levels),
            }
        }
    }
    Ok(())
}
