//! Why a JPEG was not decoded, grouped by what the caller can do about it.

use crate::geometry::{Rect, Size};

/// A file that was refused. The file's name is added by the caller, who knows it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JpegError {
    /// The first bytes are not those of a JPEG.
    #[error("not a JPEG: it does not begin with FF D8: check the file's type, or encode it as JPEG")]
    NotJpeg,
    /// The bytes end before the picture does.
    #[error(
        "truncated: the file ends in {place}: copy it again, or set tolerate_truncated to fill the rest with grey"
    )]
    Truncated {
        /// What was being read when the bytes ended.
        place: &'static str,
    },
    /// A kind of JPEG that this decoder does not read.
    #[error("unsupported JPEG: {what}: re-encode it as 8-bit baseline or progressive JPEG")]
    Unsupported {
        /// The kind.
        what: &'static str,
    },
    /// Bytes that no encoder writes.
    #[error("corrupt JPEG: {what}: copy the file again, or leave it out")]
    Corrupt {
        /// What is wrong.
        what: &'static str,
    },
    /// More work than the limits allow; nothing was allocated.
    #[error("too large: {what} {found}, the limit is {limit}: raise `{remedy}` if the file is to be trusted")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much is allowed.
        limit: u64,
        /// The field of [`super::Limits`] to raise.
        remedy: &'static str,
    },
    /// The caller asked for something outside the picture, or gave a destination or header that does not fit.
    #[error("the request does not fit: {what} (region {region:?} of an image of {size}): fix the call")]
    Request {
        /// What does not fit.
        what: &'static str,
        /// The region asked for.
        region: Rect,
        /// The stored size of the image.
        size: Size,
    },
}

/// Short for an `Err` of [`JpegError::Corrupt`].
pub(super) fn corrupt<T>(what: &'static str) -> Result<T, JpegError> {
    Err(JpegError::Corrupt { what })
}

/// Short for an `Err` of [`JpegError::Unsupported`].
pub(super) fn unsupported<T>(what: &'static str) -> Result<T, JpegError> {
    Err(JpegError::Unsupported { what })
}
