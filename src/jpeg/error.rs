//! Why a JPEG was not decoded, grouped by what the caller can do about it.

use crate::geometry::{Rect, Size};

/// The reason why a file was refused. The caller adds the file's name.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JpegError {
    /// The first bytes are not those of a JPEG.
    #[error("not a JPEG: it does not begin with FF D8: check the file's type, or encode it as JPEG")]
    NotJpeg,
    /// The bytes end before the picture does.
    #[error(
        "truncated: the file ends in {place}: copy it again, or set damaged = \"libjpeg\" to fill the rest with grey"
    )]
    Truncated {
        /// The part of the file in which the bytes ended.
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
        /// The defect.
        what: &'static str,
    },
    /// More work than the limits allow; nothing was allocated.
    #[error("too large: {what} {found}, the limit is {limit}: raise `{remedy}` if the file is to be trusted")]
    TooLarge {
        /// The quantity that exceeds its limit.
        what: &'static str,
        /// Its value in the file.
        found: u64,
        /// The limit.
        limit: u64,
        /// The field of [`super::Limits`] to raise.
        remedy: &'static str,
    },
    /// The region lies outside the image, or the destination or the header does not match.
    #[error("the request does not fit: {what} (region {region:?} of an image of {size}): fix the call")]
    Request {
        /// What does not fit.
        what: &'static str,
        /// The requested region.
        region: Rect,
        /// The stored size of the image.
        size: Size,
    },
}

impl JpegError {
    /// Whether the file's bytes are the reason, so that libjpeg-turbo may go on where this decoder does not.
    pub(super) fn is_defect(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::Corrupt { .. } | Self::Unsupported { .. })
    }

    /// What is wrong with the bytes.
    pub(super) fn defect(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "the file ends early",
            Self::Unsupported { what } | Self::Corrupt { what } => what,
            Self::NotJpeg | Self::TooLarge { .. } | Self::Request { .. } => "the file is damaged",
        }
    }
}

/// Short for an `Err` of [`JpegError::Corrupt`].
pub(crate) fn corrupt<T>(what: &'static str) -> Result<T, JpegError> {
    Err(JpegError::Corrupt { what })
}

/// Short for an `Err` of [`JpegError::Unsupported`].
pub(crate) fn unsupported<T>(what: &'static str) -> Result<T, JpegError> {
    Err(JpegError::Unsupported { what })
}
