//! The orientation in a PNG's or WebP's EXIF chunk.

use crate::geometry::Orientation;
use crate::jpeg;

/// The orientation in a chunk of EXIF, which some writers begin as JPEG does.
pub(super) fn orientation(chunk: &[u8]) -> Orientation {
    let tiff = chunk.strip_prefix(b"Exif\0\0").unwrap_or(chunk);
    jpeg::exif::orientation_of_tiff(tiff).unwrap_or_default()
}
