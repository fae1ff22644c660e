//! Why the device's own decoder leaves a file to the CPU.

use super::layout::UNSETTLED;
use crate::image::Header;
use crate::jpeg;

/// What a file has that another decoder must look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LeftOut {
    /// No header that can be read, or another file than a JPEG or its coefficients.
    Header,
    /// Coefficients in several passes.
    Progressive,
    /// Coded arithmetically.
    Arithmetic,
    /// Neither one component nor three.
    Components,
    /// Not all components in the first scan.
    Scans,
    /// Codes are missing, or markers are not where they should be, or it is larger than what is counted, or has too many pieces, or
    /// more blocks to an MCU than a JPEG may have in one scan; or a segment of coefficients is damaged; or what is wanted does not
    /// lie in the image.
    Uncut,
    /// More memory than the decoder may take.
    Room,
    /// Cuts that did not fit each other after all rounds.
    Unsettled,
    /// The device has found codes, ends or predictions that cannot be.
    Damaged,
}

impl LeftOut {
    /// What a header alone says.
    pub(crate) fn of(header: &Header) -> Option<Self> {
        match (&header.jpeg, &header.coefficients) {
            (Some(header), _) => Self::of_jpeg(header),
            (None, Some(header)) if header.color.components() == 4 => Some(Self::Components),
            (None, Some(_)) => None,
            (None, None) => Some(Self::Header),
        }
    }

    fn of_jpeg(header: &jpeg::Header) -> Option<Self> {
        match header {
            jpeg::Header { progressive: true, .. } => Some(Self::Progressive),
            jpeg::Header { arithmetic: true, .. } => Some(Self::Arithmetic),
            jpeg::Header { components, .. } if !matches!(components, 1 | 3) => Some(Self::Components),
            jpeg::Header { components, first_scan, .. } if first_scan != components => Some(Self::Scans),
            _ => None,
        }
    }

    /// What a status word says: where cuts do not fit, whatever else is wrong follows from that.
    pub(super) fn by_device(status: u32) -> Self {
        if status & UNSETTLED != 0 { Self::Unsettled } else { Self::Damaged }
    }
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Header => "no sound header",
            Self::Progressive => "progressive",
            Self::Arithmetic => "coded arithmetically",
            Self::Components => "neither one component nor three",
            Self::Scans => "several scans",
            Self::Uncut => "not cut into pieces",
            Self::Room => "no room",
            Self::Unsettled => "not settled",
            Self::Damaged => "found damaged",
        })
    }
}
