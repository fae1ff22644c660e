//! What is known of a file before it is decoded.

use super::error::FileError;
use super::placement::Placement;
use super::settings::Settings;
use crate::geometry::{Orientation, Size};
use crate::image::{self, Format, ImageError, PixelLayout, parse_header};
use crate::jpeg::Sampling;
use crate::regular_file;
use std::io::Read;
use std::path::Path;

/// Bytes of a file in which the headers of nearly all JPEGs, PNM files and files of coefficients end.
const HEAD_BYTES: u64 = 64 << 10;

/// What the first bytes of a file say; of PNG and WebP also the heads of its chunks. Nothing is decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The file's format, by its bytes.
    pub format: Format,
    /// Columns and rows of the upright image.
    pub size: Size,
    /// Columns and rows as stored.
    pub stored: Size,
    /// How stored pixels are turned upright, from EXIF; upright if the file does not say.
    pub orientation: Orientation,
    /// Channels of a stored pixel: 1 (grey, or an index into a palette), 2 (grey and alpha), 3, or 4 (colour and alpha,
    /// or in a JPEG four inks). Decoded images have three.
    pub components: u8,
    /// Bits of a stored channel; decoded images have eight.
    pub bits: u8,
    /// Whether a JPEG is progressive, or a PNG interlaced.
    pub progressive: bool,
    /// The chroma sampling of a JPEG, or of its coefficients.
    pub sampling: Option<Sampling>,
    parsed: image::Header,
}

impl Header {
    /// Reads the header of a file in memory.
    ///
    /// # Errors
    /// Not an image, a format that is not decoded, or a header that is truncated or invalid.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        let parsed = parse_header(bytes)?;
        let PixelLayout { components, bits, progressive } = PixelLayout::of(bytes, &parsed);
        Ok(Self {
            format: parsed.format,
            size: parsed.orientation.apply_size(parsed.size),
            stored: parsed.size,
            orientation: parsed.orientation,
            components,
            bits,
            progressive,
            sampling: parsed.sampling(),
            parsed,
        })
    }

    /// Reads the header of the file at `path`: of a JPEG, a PNM or a file of coefficients no more than 64 KiB, if its header ends there.
    ///
    /// # Errors
    /// Those of [`Header::read`], and those of the file system.
    pub fn of_file(path: &Path) -> Result<Self, FileError> {
        let (mut file, mut bytes) = (regular_file::open(path)?, Vec::new());
        file.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes)?;
        match Self::read(&bytes) {
            Ok(header @ Self { format: Format::Jpeg | Format::Pnm | Format::Coefficients, .. }) => {
                return Ok(header);
            }
            // That is seen by the first bytes, however long the file is.
            Err(error @ (ImageError::NotAnImage { .. } | ImageError::Unsupported { .. })) => {
                return Err(error.into());
            }
            // Chunks of PNG and WebP that say how the image is turned may be the last ones.
            _ => {}
        }
        file.read_to_end(&mut bytes)?;
        Ok(Self::read(&bytes)?)
    }

    /// Columns and rows of what the file is decoded to with these settings.
    ///
    /// # Errors
    /// Those of [`super::decode`] that do not depend on the pixels.
    pub fn decoded_size(&self, settings: &Settings) -> Result<Size, ImageError> {
        Placement::new(&self.parsed, settings).map(|placement| placement.size())
    }
}
