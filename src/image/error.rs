//! Why an image was not decoded, and what to do. The caller adds the file's name.

use super::Format;
use crate::coefficients::CoefficientsError;
use crate::geometry::{Rect, Size};
use crate::jpeg::JpegError;

/// A file that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The bytes are not those of any known image format.
    #[error("not an image: {found}: copy the file again, or take it out of the data set")]
    NotAnImage {
        /// What the bytes look like.
        found: &'static str,
    },
    /// An image of a format that is not decoded.
    #[error("the file is {format}, which is not supported: convert it to JPEG, PNG, WebP or binary PNM")]
    Unsupported {
        /// The format's name.
        format: &'static str,
    },
    /// A mask whose pixels are colours.
    #[error(
        "a mask must be a PNG of one channel of at most 8 bits, but is {found}: write one class per pixel"
    )]
    Mask {
        /// A description of the file.
        found: String,
    },
    /// A file that is no depth map.
    #[error(
        "a depth map must be a PNG of one grey channel of 8 or 16 bits, but is {found}: write one depth per pixel"
    )]
    Depth {
        /// A description of the file.
        found: String,
    },
    /// An error of the JPEG decoder.
    #[error(transparent)]
    Jpeg(#[from] JpegError),
    /// An error of the decoder of coefficients.
    #[error(transparent)]
    Coefficients(#[from] CoefficientsError),
    /// The bytes end before the image does.
    #[error("truncated {format}: the file ends before its pixels do: copy it again")]
    Truncated {
        /// The format.
        format: Format,
    },
    /// Bytes that no encoder writes.
    #[error("corrupt {format}: {what}: copy the file again, or take it out of the data set")]
    Corrupt {
        /// The format.
        format: Format,
        /// What is wrong.
        what: String,
    },
    /// More pixels than the limits allow; nothing was allocated.
    #[error(
        "too large: {pixels} pixels, the limit is {limit}: raise `max_pixels` if the file is to be trusted"
    )]
    TooLarge {
        /// Pixels of the image.
        pixels: u64,
        /// Pixels allowed.
        limit: u64,
    },
    /// The caller asked for a region outside the image.
    #[error("the region {region:?} is not inside the stored image of {size}: fix the call")]
    Region {
        /// The region asked for.
        region: Rect,
        /// The stored size of the image.
        size: Size,
    },
    /// The caller asked for a region that leaves the upright image, or for one without pixels.
    #[error(
        "the region (top {}, left {}, height {}, width {}) is empty or leaves the upright image of height {} and width {}: fix the call",
        .region.y, .region.x, .region.height, .region.width, .size.height, .size.width
    )]
    Outside {
        /// The region asked for, in pixels of the upright image at full size.
        region: Rect,
        /// The size of the upright image.
        size: Size,
    },
    /// The caller asked for a smaller scale of a file that is neither a JPEG nor a file of coefficients.
    #[error(
        "the file is {format}, and only JPEGs and files of coefficients can be decoded at a smaller scale: ask for full scale, or for a minimum size, for which other formats are decoded at full scale"
    )]
    Scale {
        /// The format.
        format: Format,
    },
    /// The caller's memory is too small for the image.
    #[error("the destination is too small for an image of height {} and width {}: give room for so many rows", .size.height, .size.width)]
    Room {
        /// The size of the decoded image.
        size: Size,
    },
}

/// Short for [`ImageError::Corrupt`].
pub(super) fn corrupt(format: Format, what: impl Into<String>) -> ImageError {
    ImageError::Corrupt { format, what: what.into() }
}

/// The given header does not belong to the given bytes.
pub(super) fn other_file(format: Format) -> ImageError {
    corrupt(format, "the header belongs to another file")
}
