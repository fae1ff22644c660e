//! Why a file of coefficients was not read.

/// The reason why a file was refused. The caller adds the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CoefficientsError {
    /// The bytes end before the image does.
    #[error("truncated: the file ends in {place}: copy it again")]
    Truncated {
        /// The part of the file in which the bytes ended.
        place: &'static str,
    },
    /// A later version of the format.
    #[error("the file is of version {found} of the format, and version 1 is known: update feedline")]
    Version {
        /// The file's version.
        found: u8,
    },
    /// Bytes that no writer makes.
    #[error("corrupt file of coefficients: {what}: copy the file again, or pack it anew")]
    Corrupt {
        /// The defect.
        what: &'static str,
    },
    /// The header does not belong to the bytes.
    #[error("the header belongs to another file: parse the header of these bytes")]
    OtherFile,
}

impl CoefficientsError {
    /// What is wrong, without a remedy.
    pub(super) fn defect(&self) -> &'static str {
        match self {
            Self::Truncated { place } => place,
            Self::Version { .. } => "its version",
            Self::Corrupt { what } => what,
            Self::OtherFile => "its header",
        }
    }
}

/// Short for an `Err` of [`CoefficientsError::Corrupt`].
pub(super) fn corrupt<T>(what: &'static str) -> Result<T, CoefficientsError> {
    Err(CoefficientsError::Corrupt { what })
}
