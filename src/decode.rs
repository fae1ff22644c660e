//! Decoding without a loader: files to RGB, for programs that have a pipeline of their own.
//!
//! Pixels, formats, limits and the treatment of damaged files are the loader's. A file is decoded upright, whole or in
//! part, and a JPEG or its coefficients at full scale or at a half, a quarter or an eighth of it.
//!
//! ```
//! use feedline::decode::{Header, Scaling, Settings, decode};
//! use feedline::geometry::{Rect, Size};
//!
//! let file = std::fs::read("data/photos/cat/0000.jpg")?;
//! let header = Header::read(&file)?;
//! let image = decode(&file, &Settings::default())?;
//! assert_eq!(image.size, header.size);
//! assert_eq!(image.data.len(), 3 * header.size.pixels() as usize);
//!
//! // A part of the upright image, at the smallest scale that leaves at least 64 columns and rows of it.
//! let settings = Settings::default().region(Rect::new(10, 20, 200, 150)).scale(Scaling::AtLeast(Size::new(64, 64)));
//! assert_eq!(decode(&file, &settings)?.size, Size::new(100, 75));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each thread keeps the buffers of its last decode, as [`crate::image::Decoder`] does for whoever holds one.

mod batch;
mod error;
mod header;
mod placement;
mod settings;
mod turned;

pub use crate::image::{Damage, Format, ImageError, Limits, Scale};
pub use crate::jpeg::{PixelsMut, Sampling};
pub use batch::{Job, decode_batch, decode_batch_into, read_batch};
pub use error::FileError;
pub use header::Header;
pub use settings::{Scaling, Settings};

use crate::decode_memory;
use crate::geometry::{Orientation, Size};
use crate::image::{self, Decoder, Image, Rows, parse_header};
use crate::regular_file;
use placement::Placement;
use std::cell::RefCell;
use std::path::Path;
use turned::Turned;

/// A decoded image: rows of R, G, B without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbImage {
    /// Columns and rows.
    pub size: Size,
    /// `height * width * 3` bytes, the shape `(height, width, 3)`.
    pub data: Vec<u8>,
    /// What was wrong with the file, if it is damaged and the limits allow that.
    pub damage: Option<Damage>,
}

/// What was written to a caller's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Columns and rows.
    pub size: Size,
    /// What was wrong with the file, if it is damaged and the limits allow that.
    pub damage: Option<Damage>,
}

/// Decodes a file.
///
/// # Errors
/// A file that is no image, of a format that is not decoded, damaged or above the limits; a region outside of the upright
/// image; and [`ImageError::Scale`] for a smaller scale of a PNG, a WebP or a PNM.
pub fn decode(bytes: &[u8], settings: &Settings) -> Result<RgbImage, ImageError> {
    let header = parse_header(bytes)?;
    let placement = Placement::new(&header, settings)?;
    let size = placement.size();
    let mut data = vec![0; placement.bytes()];
    let out = PixelsMut { data: &mut data, stride: size.width as usize * 3 };
    let damage = decode_placed(bytes, &header, settings, &placement, out)?;
    Ok(RgbImage { size, data, damage })
}

/// Decodes the file at `path`, as [`decode`].
///
/// # Errors
/// Those of [`decode`], and those of the file system.
pub fn decode_file(path: &Path, settings: &Settings) -> Result<RgbImage, FileError> {
    Ok(decode(&regular_file::read(path)?, settings)?)
}

/// Decodes a file to memory of the caller's, of which only the pixels are written. [`Header::decoded_size`] says how many
/// rows and columns there will be.
///
/// # Errors
/// Those of [`decode`], and [`ImageError::Room`] where the image does not fit. On an error the memory holds no particular
/// pixels.
pub fn decode_into(bytes: &[u8], settings: &Settings, out: PixelsMut<'_>) -> Result<Written, ImageError> {
    let header = parse_header(bytes)?;
    let placement = Placement::new(&header, settings)?;
    let size = placement.size();
    if !out.fits(size) {
        return Err(ImageError::Room { size });
    }
    Ok(Written { size, damage: decode_placed(bytes, &header, settings, &placement, out)? })
}

thread_local! {
    static WORKER: RefCell<Worker> = RefCell::default();
}

fn decode_placed(
    bytes: &[u8],
    header: &image::Header,
    settings: &Settings,
    placement: &Placement,
    out: PixelsMut<'_>,
) -> Result<Option<Damage>, ImageError> {
    WORKER.with_borrow_mut(|worker| {
        worker.decoder.set_limits(&settings.limits);
        worker.decode(bytes, header, placement, out)?;
        Ok(worker.decoder.damage())
    })
}

/// The decoder of a thread, and what it turns images with.
#[derive(Default)]
struct Worker {
    decoder: Decoder,
    /// A PNG, a WebP or a PNM as it is stored.
    stored: Image,
    /// Stored rows that become columns.
    strip: Vec<u8>,
}

impl Worker {
    /// Decodes to `out`, which has room.
    fn decode(
        &mut self,
        bytes: &[u8],
        header: &image::Header,
        placement: &Placement,
        mut out: PixelsMut<'_>,
    ) -> Result<(), ImageError> {
        let Self { decoder, stored, strip } = self;
        if placement.orientation == Orientation::UPRIGHT {
            return decoder.decode_into(bytes, header, placement.part, None, out);
        }
        let region = placement.part.region;
        let mut turned = Turned::new(placement.orientation, region.size(), strip, &mut out);
        let decoded = match header.format.is_dct() {
            true => decoder.decode_rows(bytes, header, placement.part, None, &mut turned),
            false => {
                let decoded = decoder.decode_part(bytes, header, placement.part, None, stored);
                decoded.map(|()| turned.take(stored))
            }
        };
        stored.give_back();
        decode_memory::give_back(strip);
        decoded
    }
}
