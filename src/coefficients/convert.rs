//! Converts JPEGs to files of coefficients, and compares what each decodes to with its JPEG.

use super::decode::Decoder;
use super::encode::{Encoder, Profile};
use super::error::CoefficientsError;
use super::header::{is_coefficients, parse_header};
use crate::decode_memory::{give_back, grow};
use crate::geometry::Size;
use crate::jpeg::{self, Damage, JpegError, Limits, PixelsMut, Rows};
use crate::policy::Damaged;

/// Why a JPEG was not converted. The caller adds the file's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It has been converted before.
    #[error("it is a file of coefficients already: use it as it is")]
    Converted,
    /// It cannot be decoded, or only by guessing, or its coefficients cannot be held.
    #[error("{}", refusal(.0))]
    Jpeg(JpegError),
    /// It is damaged, though its pixels are not.
    #[error("the JPEG is damaged ({0}): copy it again, or use it as it is")]
    Damaged(Damage),
    /// What was written cannot be read.
    #[error("what was written of it cannot be read ({}): use the JPEG as it is, and report this", .0.defect())]
    Unreadable(CoefficientsError),
    /// What was written decodes to other pixels.
    #[error("what was written of it has other pixels: use the JPEG as it is, and report this")]
    Different,
}

// No sources of the errors: their remedies are those of decoding.
impl From<JpegError> for ConvertError {
    fn from(error: JpegError) -> Self {
        Self::Jpeg(error)
    }
}

impl From<CoefficientsError> for ConvertError {
    fn from(error: CoefficientsError) -> Self {
        Self::Unreadable(error)
    }
}

/// The error with what helps where a JPEG is converted.
fn refusal(error: &JpegError) -> String {
    match error {
        JpegError::NotJpeg => "not a JPEG: it does not begin with FF D8: give a JPEG".to_owned(),
        JpegError::Truncated { place } => {
            format!("truncated: the file ends in {place}: copy it again, or use it as it is")
        }
        JpegError::Unsupported { what } => {
            format!("the coefficients of this JPEG cannot be held: {what}: use the JPEG as it is")
        }
        JpegError::Corrupt { what } => {
            format!("corrupt JPEG: {what}: copy the file again, or use it as it is")
        }
        JpegError::TooLarge { what, found, limit, .. } => {
            format!("too large: {what} {found}, the limit is {limit}: use the JPEG as it is")
        }
        JpegError::Request { .. } => error.to_string(),
    }
}

/// Converts JPEGs. Keeps its buffers, so one per thread soon stops allocating for pixels.
#[derive(Default)]
pub struct Converter {
    limits: Limits,
    profile: Profile,
    encoder: Encoder,
    jpeg: jpeg::Decoder,
    decoder: Decoder,
    pixels: Vec<u8>,
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
    /// What is no JPEG; a JPEG that is damaged, or whose coefficients cannot be held: of arithmetic coding, or with scans left out.
    pub fn convert(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        if is_coefficients(bytes) {
            return Err(ConvertError::Converted);
        }
        let header = jpeg::parse_header(bytes)?;
        self.encoder.encode(bytes, &header, &self.limits, self.profile, out)?;
        // It is decoded twice or more, into the same memory.
        let pixels = header.size.pixels() as usize * 3;
        self.jpeg.memory.keep_pixels();
        self.jpeg.memory.reserve([pixels, jpeg::scratch_bytes(&header)]);
        self.jpeg.memory.take_pixels(pixels);
        let compared = self.compare(bytes, &header, out);
        give_back(&mut self.pixels);
        self.jpeg.memory.release();
        compared
    }

    /// Decodes the JPEG and what was written of it.
    fn compare(&mut self, bytes: &[u8], header: &jpeg::Header, written: &[u8]) -> Result<(), ConvertError> {
        let (size, stride) = (header.size, header.size.width as usize * 3);
        grow(&mut self.pixels, size.pixels() as usize * 3);
        let mut pixels = PixelsMut { data: &mut self.pixels, stride };
        if let Some(damage) = self.jpeg.inspect(bytes, header, &self.limits, &mut pixels)? {
            return Err(ConvertError::Damaged(damage));
        }
        let own = parse_header(written)?;
        if (own.size, own.orientation, own.color) != (size, header.orientation, header.color) {
            return Err(ConvertError::Different);
        }
        let mut rows = Compared { wanted: &self.pixels, found: vec![0; stride], are_equal: true };
        self.decoder.decode_rows(written, &own, size.rect().into(), &mut rows)?;
        if rows.are_equal { Ok(()) } else { Err(ConvertError::Different) }
    }
}

/// Compares rows with those of the JPEG.
struct Compared<'a> {
    wanted: &'a [u8],
    found: Vec<u8>,
    are_equal: bool,
}

impl Rows for Compared<'_> {
    fn fits(&self, region: Size) -> bool {
        region.width as usize * 3 == self.found.len()
    }

    fn row(&mut self, _: usize) -> &mut [u8] {
        &mut self.found
    }

    fn done(&mut self, y: usize) {
        let stride = self.found.len();
        self.are_equal &= self.wanted[y * stride..][..stride] == self.found[..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_offers_what_helps_in_decoding_alone() {
        let jpeg = [
            JpegError::NotJpeg,
            JpegError::Truncated { place: "a scan" },
            JpegError::Unsupported { what: "arithmetic coding" },
            JpegError::Corrupt { what: "a bad code" },
            JpegError::TooLarge { what: "pixels", found: 5, limit: 4, remedy: "max_pixels" },
        ];
        let of_jpeg = jpeg.into_iter().map(ConvertError::from);
        let damage = Damage::BadHuffmanCode;
        let unreadable = CoefficientsError::Corrupt { what: "a count is above 8" }.into();
        let others =
            [ConvertError::Converted, ConvertError::Damaged(damage), unreadable, ConvertError::Different];
        for error in of_jpeg.chain(others) {
            assert!(std::error::Error::source(&error).is_none(), "{error}");
            let message = error.to_string();
            let remedy = message.rsplit_once(": ").unwrap().1;
            assert!(remedy.contains("use ") || remedy == "give a JPEG", "{message}");
            for elsewhere in ["damaged =", "max_pixels", "encode", "--", "pack"] {
                assert!(!message.contains(elsewhere), "{message}");
            }
        }
    }
}
