//! The properties of a file that a plan needs, read before it is decoded.

use super::error::{ImageError, other_file};
use super::{Format, magic, png, pnm, webp};
use crate::geometry::{Orientation, Size};
use crate::{coefficients, jpeg};

/// Format, size and orientation of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The file's format, according to its bytes.
    pub format: Format,
    /// Size as stored, before the orientation is applied; never zero.
    pub size: Size,
    /// How to turn the stored pixels upright, from EXIF; upright if the file does not specify it.
    pub orientation: Orientation,
    /// The rest of a JPEG's header.
    pub jpeg: Option<jpeg::Header>,
    /// The rest of the header of a file of coefficients.
    pub coefficients: Option<coefficients::Header>,
}

impl Header {
    /// How densely the components of a JPEG, or of its coefficients, are stored.
    pub(crate) fn sampling(&self) -> Option<jpeg::Sampling> {
        let of_coefficients = || self.coefficients.as_ref().map(|header| header.sampling());
        self.jpeg.as_ref().map(|jpeg| jpeg.sampling).or_else(of_coefficients)
    }
}

impl From<jpeg::Header> for Header {
    fn from(jpeg: jpeg::Header) -> Self {
        let (size, orientation) = (jpeg.size, jpeg.orientation);
        Self { format: Format::Jpeg, size, orientation, jpeg: Some(jpeg), coefficients: None }
    }
}

impl From<coefficients::Header> for Header {
    fn from(header: coefficients::Header) -> Self {
        let (size, orientation) = (header.size, header.orientation);
        Self { format: Format::Coefficients, size, orientation, jpeg: None, coefficients: Some(header) }
    }
}

/// Reads the first bytes (for PNG and WebP also the chunk heads) of a file. Decodes nothing and allocates nothing.
///
/// # Errors
/// Not an image, a format that is not decoded, or a header that is truncated or invalid.
pub fn parse_header(bytes: &[u8]) -> Result<Header, ImageError> {
    let format = magic::format(bytes)?;
    let (size, orientation) = match format {
        Format::Jpeg => {
            return Ok(jpeg::parse_header(bytes)?.into());
        }
        Format::Coefficients => return Ok(coefficients::parse_header(bytes)?.into()),
        Format::Png => png::parse_header(bytes)?,
        Format::WebP => webp::parse_header(bytes)?,
        Format::Pnm => pnm::parse_header(bytes)?,
        Format::Raw => return Err(other_file(Format::Raw)),
    };
    Ok(Header { format, size, orientation, jpeg: None, coefficients: None })
}
