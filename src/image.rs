//! Image files of every supported format: headers and pixels.
//!
//! A file's bytes determine its format, never its name. The pixels are those of Pillow's
//! `Image.open(file).convert("RGB")`: alpha is dropped and not blended, palettes are looked up, grey is replicated,
//! colour profiles and gamma are ignored, the first frame of an animation is taken. 16-bit colour of a PNG keeps the high
//! byte, that of a PNM is scaled; 16-bit grey is clamped to 255, not scaled, because that is what Pillow (9 to 13) does.

mod error;
mod exif;
mod header;
mod layout;
mod magic;
mod mask;
mod png;
mod pnm;
mod raw;
mod webp;

pub use crate::jpeg::{Damage, Index, Limits, Part, Scale};
pub(crate) use crate::jpeg::{PixelsMut, Rows};
pub use error::ImageError;
pub use header::{Header, parse_header};
pub(crate) use layout::PixelLayout;
pub use mask::{decode_depth, decode_mask};

use crate::decode_memory::{LARGE, give_back, grow};
use crate::geometry::{Orientation, Rect, Size};
use crate::{coefficients, jpeg};

/// A file format that can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// JPEG, by this crate's own decoder.
    Jpeg,
    /// PNG.
    Png,
    /// WebP, the first frame of an animation.
    WebP,
    /// The coefficients of a JPEG, as `feedline pack` and `feedline convert` write them (docs/coefficients.md).
    Coefficients,
    /// Binary PNM: grey (P5, PGM) and colour (P6, PPM) of up to 16 bits.
    Pnm,
    /// Packed rows of one, two or three bytes a pixel, upright or not, without a header: what a loader hands to its decoders
    /// where it has the levels already. No file has it.
    Raw,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::WebP => "WebP",
            Format::Pnm => "PNM",
            Format::Coefficients => "coefficients",
            Format::Raw => "raw levels",
        })
    }
}

impl Format {
    /// Whether its pixels are made of DCT coefficients: row by row, and at smaller scales where that is asked for.
    pub(crate) fn is_dct(self) -> bool {
        matches!(self, Format::Jpeg | Format::Coefficients)
    }
}

/// Decoded pixels: packed RGB rows of a region of a stored image.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// Size of the whole stored image.
    pub stored: Size,
    /// The part that `data` holds, in stored coordinates.
    pub region: Rect,
    /// Bytes from one row to the next.
    pub stride: usize,
    /// Rows of R, G, B bytes; [`Image::TAIL`] more bytes follow the last row, so that wide loads stay inside.
    pub data: Vec<u8>,
    /// How the file asks to be turned.
    pub orientation: Orientation,
}

impl Image {
    /// Bytes after the last row that may be read, whatever they hold.
    pub const TAIL: usize = 64;

    /// Bytes of the pixels of a region, as they are decoded.
    pub(crate) fn bytes(region: Rect) -> usize {
        region.width as usize * 3 * region.height as usize + Self::TAIL
    }

    /// Makes room for `region`, reusing the memory; the pixels are undefined until they are written.
    pub fn reset(&mut self, stored: Size, region: Rect) {
        self.stored = stored;
        self.region = region;
        self.stride = region.width as usize * 3;
        grow(&mut self.data, Self::bytes(region));
    }

    /// Gives the memory back if it is too much to be kept for the next file; the pixels are gone then.
    pub(crate) fn give_back(&mut self) {
        give_back(&mut self.data);
    }
}

/// Where the decoders of other formats than JPEG and coefficients write a region of a stored image.
struct ImageMut<'a> {
    stored: Size,
    region: Rect,
    pixels: PixelsMut<'a>,
}

impl ImageMut<'_> {
    /// Row `row` of the region: R, G, B bytes.
    fn row_mut(&mut self, row: usize) -> &mut [u8] {
        &mut self.pixels.data[row * self.pixels.stride..][..self.region.width as usize * 3]
    }
}

/// Decodes files of all formats. Keeps its buffers, so one per worker thread soon stops allocating for pixels.
#[derive(Default)]
pub struct Decoder {
    limits: Limits,
    jpeg: jpeg::Decoder,
    coefficients: coefficients::Decoder,
    scratch: Scratch,
    damage: Option<Damage>,
}

/// The buffers that the PNG and WebP decoders write, and that the region is then copied from.
#[derive(Default)]
struct Scratch {
    pixels: Vec<u8>,
    file: Vec<u8>,
}

impl Decoder {
    /// A decoder that refuses files beyond `limits`; `max_scans` and `damaged` apply to JPEG only.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// From now on refuses files beyond `limits`.
    pub(crate) fn set_limits(&mut self, limits: &Limits) {
        self.limits.clone_from(limits);
    }

    /// What was wrong with the last file that was decoded, if it is damaged and the limits allow that.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Decodes the part `region` (stored coordinates, before orientation) of a file into `out`.
    ///
    /// `header` must come from [`parse_header`] of the same bytes. On an error `out` holds no particular pixels.
    ///
    /// # Errors
    /// A file that is truncated, corrupt or above the limits, or a region that is not inside the image.
    pub fn decode(
        &mut self,
        bytes: &[u8],
        header: &Header,
        region: Rect,
        out: &mut Image,
    ) -> Result<(), ImageError> {
        self.decode_part(bytes, header, region.into(), None, out)
    }

    /// As [`Decoder::decode`], for an image that may be decoded at a smaller scale, and with an index as in
    /// [`jpeg::Decoder::decode_indexed`]. Smaller scales are for JPEGs and files of coefficients, the index is for JPEGs: other
    /// formats leave it as it is.
    ///
    /// # Errors
    /// Those of [`Decoder::decode`]; [`ImageError::Scale`] for another format at another scale than full.
    pub fn decode_part(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        index: Option<&mut Index>,
        out: &mut Image,
    ) -> Result<(), ImageError> {
        let size = self.check(header, part)?;
        self.take_pixels(header, part.region);
        out.reset(size, part.region);
        out.orientation = header.orientation;
        let pixels = PixelsMut { data: &mut out.data, stride: out.stride };
        self.decode_into(bytes, header, part, index, pixels)
    }

    /// As [`Decoder::decode_part`], into memory of the caller's that has room for the part.
    ///
    /// # Errors
    /// Those of [`Decoder::decode_part`].
    pub(crate) fn decode_into(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        index: Option<&mut Index>,
        mut pixels: PixelsMut<'_>,
    ) -> Result<(), ImageError> {
        self.damage = None;
        let (stored, region) = (self.check(header, part)?, part.region);
        if region.is_empty() {
            return Ok(());
        }
        if header.format == Format::WebP {
            self.jpeg.memory.take_scratch(webp::scratch_bytes(stored));
        }
        let decoded = match header.format {
            Format::Jpeg | Format::Coefficients => {
                return self.decode_rows(bytes, header, part, index, &mut pixels);
            }
            Format::Png => {
                let out = &mut ImageMut { stored, region, pixels };
                png::decode(bytes, &self.limits, &mut self.scratch, out)
            }
            Format::WebP => webp::decode(bytes, &mut self.scratch, &mut ImageMut { stored, region, pixels }),
            Format::Pnm => pnm::decode(bytes, &mut ImageMut { stored, region, pixels }),
            Format::Raw => raw::decode(bytes, &mut ImageMut { stored, region, pixels }),
        };
        give_back(&mut self.scratch.pixels);
        give_back(&mut self.scratch.file);
        self.jpeg.memory.end_decode();
        decoded
    }

    /// Takes memory for all images of a sample, with so many bytes of pixels each, and for what decoding them needs.
    pub(crate) fn reserve<'a>(&mut self, images: impl Iterator<Item = (&'a Header, usize)> + Clone) {
        let scratch = images.clone().map(|(header, _)| scratch_bytes(header)).max();
        self.jpeg.memory.reserve(images.map(|(_, pixels)| pixels).chain(scratch));
    }

    /// Takes memory for what a caller makes of pixels; it counts as theirs.
    pub(crate) fn take_more(&mut self, bytes: usize) {
        self.jpeg.memory.take_pixels(bytes);
    }

    /// Takes memory for the pixels of a region, and for what decoding them needs.
    fn take_pixels(&mut self, header: &Header, region: Rect) {
        let pixels = Image::bytes(region);
        self.jpeg.memory.reserve([pixels, scratch_bytes(header)]);
        self.jpeg.memory.take_pixels(pixels);
    }

    /// Pixels stay after a decode, and count as memory for huge images, until [`Decoder::release`]. Whoever keeps them must
    /// not wait for other decoders before.
    pub(crate) fn keep_pixels(&mut self) {
        self.jpeg.memory.keep_pixels();
    }

    /// To be called when the pixels of earlier decodes are gone.
    pub(crate) fn release(&mut self) {
        self.jpeg.memory.release();
    }

    /// As [`Decoder::decode_part`], for a format that [`Format::is_dct`]: hands each row of a non-empty region on as soon as it
    /// is complete. The part must have passed [`Decoder::check`].
    ///
    /// # Errors
    /// Those of [`Decoder::decode_part`] that depend on the bytes; [`ImageError::Corrupt`] for another format.
    pub(crate) fn decode_rows(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        index: Option<&mut Index>,
        out: &mut dyn Rows,
    ) -> Result<(), ImageError> {
        self.damage = None;
        if let Some(parsed) = &header.coefficients {
            let decoded = self.coefficients.decode_rows(bytes, parsed, part, out);
            self.jpeg.memory.end_decode();
            return Ok(decoded?);
        }
        let parsed = header.jpeg.as_ref().ok_or_else(|| error::other_file(Format::Jpeg))?;
        let decoded = self.jpeg.decode_rows(bytes, parsed, part, &self.limits, out, index);
        self.damage = self.jpeg.damage();
        Ok(decoded?)
    }

    /// The size of the whole image at the part's scale, if the part may be decoded.
    ///
    /// # Errors
    /// Those of [`Decoder::decode_part`] that do not depend on the bytes.
    pub(crate) fn check(&self, header: &Header, part: Part) -> Result<Size, ImageError> {
        let Part { scale, region } = part;
        if scale != Scale::Full && !header.format.is_dct() {
            return Err(ImageError::Scale { format: header.format });
        }
        let size = scale.apply(header.size);
        check_pixels(header.size, &self.limits)?;
        if !size.rect().contains(region) {
            return Err(ImageError::Region { region, size });
        }
        Ok(size)
    }
}

/// Refuses images with more pixels than the limits allow: before memory is taken for them.
pub(crate) fn check_pixels(size: Size, limits: &Limits) -> Result<(), ImageError> {
    match size.pixels() > limits.max_pixels {
        true => Err(ImageError::TooLarge { pixels: size.pixels(), limit: limits.max_pixels }),
        false => Ok(()),
    }
}

/// Refuses `what` beside an image if it is not as large as the upright image.
pub(crate) fn check_size(what: &str, size: Size, image: Size, remedy: &str) -> Result<(), String> {
    match size == image {
        true => Ok(()),
        false => Err(format!("{what} has {size} pixels and the image {image}: {remedy}")),
    }
}

/// Whether decoding the whole image takes memory that is shared out in turns.
pub(crate) fn is_huge(header: &Header) -> bool {
    Image::bytes(header.size.rect()).max(scratch_bytes(header)) > LARGE
}

/// Bytes that a decoder needs beside the pixels, as far as the header says.
fn scratch_bytes(header: &Header) -> usize {
    match (&header.jpeg, header.format) {
        (Some(jpeg), _) => jpeg::scratch_bytes(jpeg),
        (None, Format::WebP) => webp::scratch_bytes(header.size),
        (None, _) => 0,
    }
}

/// A file that can be decoded.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Its header.
    pub header: Header,
    /// Its first defect, if it has any. Some change no pixel: wherever libjpeg-turbo warns, there is one.
    pub damage: Option<Damage>,
}

/// Decodes the whole file and discards the pixels, to check that training will be able to read it. Damage that `limits`
/// allow is reported and no error.
///
/// # Errors
/// Those of [`parse_header`] and [`Decoder::decode`].
pub fn verify(bytes: &[u8], limits: &Limits) -> Result<Verified, ImageError> {
    let header = parse_header(bytes)?;
    let (mut decoder, mut image) = (Decoder::new(limits.clone()), Image::default());
    let Some(jpeg) = &header.jpeg else {
        decoder.decode(bytes, &header, header.size.rect(), &mut image)?;
        return Ok(Verified { header, damage: None });
    };
    decoder.check(&header, header.size.rect().into())?;
    // It is decoded twice.
    decoder.keep_pixels();
    decoder.take_pixels(&header, header.size.rect());
    image.reset(header.size, header.size.rect());
    let mut out = PixelsMut { data: &mut image.data, stride: image.stride };
    let damage = decoder.jpeg.inspect(bytes, jpeg, limits, &mut out)?;
    Ok(Verified { header, damage })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode_memory::taken;
    use feedline_test_support::png::chunk;

    #[test]
    fn the_pixels_of_a_huge_file_of_coefficients_count_until_they_are_gone() {
        use crate::coefficients::{Converter, Profile};
        use feedline_test_support::jpeg::{ColorType, Jpeg};
        let jpeg = Jpeg { color: ColorType::Luma, ..Jpeg::default() };
        let jpeg = jpeg.file(&vec![90; 6000 * 4000], 6000, 4000);
        let mut file = Vec::new();
        Converter::new(&Limits::default(), Profile::Small).convert(&jpeg, &mut file).unwrap();
        assert_eq!(taken(), 0, "the converter has given all back");
        Converter::new(&Limits::default(), Profile::Small)
            .convert(&jpeg[..900], &mut Vec::new())
            .unwrap_err();
        assert_eq!(taken(), 0, "and after an error");
        let header = parse_header(&file).unwrap();
        let whole = header.size.rect();
        let (mut decoder, mut image) = (Decoder::default(), Image::default());
        decoder.decode(&file, &header, whole, &mut image).unwrap();
        assert_eq!(taken(), 0, "the decoder does not say that they stay");
        let end = file.len() - 100;
        file[end] ^= 1;
        decoder.keep_pixels();
        decoder.decode(&file, &header, whole, &mut image).unwrap_err();
        assert_eq!(taken(), Image::bytes(whole) as u64);
        decoder.release();
        assert_eq!(taken(), 0);
    }

    #[test]
    fn the_pixels_of_a_huge_image_count_before_they_are_decoded_and_until_they_are_gone() {
        let edge = 5_000u32.to_be_bytes();
        let head = chunk(b"IHDR", &[&edge[..], &edge, &[8, 0, 0, 0, 0]].concat());
        let file = [b"\x89PNG\r\n\x1a\n", &head[..], &chunk(b"IDAT", b"none")].concat();
        let header = parse_header(&file).unwrap();
        let whole = header.size.rect();
        let (mut decoder, mut image) = (Decoder::default(), Image::default());
        decoder.decode(&file, &header, whole, &mut image).unwrap_err();
        assert_eq!(taken(), 0, "the decoder does not say that they stay");
        decoder.keep_pixels();
        for times in 1..3 {
            decoder.decode(&file, &header, whole, &mut image).unwrap_err();
            assert_eq!(taken(), times * Image::bytes(whole) as u64);
        }
        image.give_back();
        assert_eq!(image.data.capacity(), 0);
        decoder.release();
        assert_eq!(taken(), 0);
    }
}
