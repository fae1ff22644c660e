//! JPEGs to files of coefficients, each compared with what it was made of.

use super::decode::Decoder;
use super::encode::{Encoder, Profile};
use super::error::CoefficientsError;
use super::header::parse_header;
use crate::decode_memory::{give_back, grow};
use crate::jpeg::{self, Damage, JpegError, Limits, PixelsMut};
use crate::policy::Damaged;

/// Why a JPEG was not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It cannot be decoded, or only by guessing.
    #[error(transparent)]
    Jpeg(#[from] JpegError),
    /// It is damaged, though its pixels are not.
    #[error("the JPEG is damaged ({0}): leave it as it is")]
    Damaged(Damage),
    /// What was written cannot be read.
    #[error("what was written of it cannot be read: {0}: leave it as it is, and report this")]
    Unreadable(#[from] CoefficientsError),
    /// What was written decodes to other pixels.
    #[error("what was written of it has other pixels: leave it as it is, and report this")]
    Different,
}

/// Converts JPEGs. Keeps its buffers, so one per thread soon stops allocating for pixels.
#[derive(Default)]
pub struct Converter {
    limits: Limits,
    profile: Profile,
    encoder: Encoder,
    jpeg: jpeg::Decoder,
    decoder: Decoder,
    pixels: [Vec<u8>; 2],
}

impl Converter {
    /// A converter that refuses files beyond `limits`, and all damaged ones.
    pub fn new(limits: &Limits, profile: Profile) -> Self {
        let limits = Limits { damaged: Damaged::Refuse, ..limits.clone() };
        Self { limits, profile, ..Self::default() }
    }

    /// Writes the file of coefficients of a JPEG to `out`, in place of what is there, and decodes both to compare them.
    ///
    /// # Errors
    /// A JPEG that is damaged, or whose coefficients cannot be held: of arithmetic coding, or with scans left out.
    pub fn convert(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        let header = jpeg::parse_header(bytes)?;
        let (size, stride) = (header.size, header.size.width as usize * 3);
        self.encoder.encode(bytes, &header, &self.limits, self.profile, out)?;
        let [wanted, found] = &mut self.pixels;
        grow(wanted, size.pixels() as usize * 3);
        grow(found, size.pixels() as usize * 3);
        let damage =
            self.jpeg.inspect(bytes, &header, &self.limits, &mut PixelsMut { data: wanted, stride })?;
        if let Some(damage) = damage {
            return Err(ConvertError::Damaged(damage));
        }
        let own = parse_header(out)?;
        self.decoder.decode_rows(out, &own, size.rect().into(), &mut PixelsMut { data: found, stride })?;
        let bytes = size.pixels() as usize * 3;
        let are_equal = wanted[..bytes] == found[..bytes]
            && (own.size, own.orientation, own.color) == (size, header.orientation, header.color);
        self.pixels.iter_mut().for_each(give_back);
        if are_equal { Ok(()) } else { Err(ConvertError::Different) }
    }
}
