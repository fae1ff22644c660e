//! Files that are decoded without a loader.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::border::{Failure, Status, c_text, guard, is_there, shared, write};
use feedline::decode::{self, Header, ImageError, Limits, PixelsMut, RgbImage, Scale, Scaling, Settings};
use feedline::geometry::{Rect, Size};
use feedline::policy;
use std::ffi::{CStr, CString, c_char};

/// The format of a file, by its bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// JPEG.
    Jpeg = 0,
    /// PNG.
    Png = 1,
    /// WebP.
    Webp = 2,
    /// The coefficients of a JPEG (docs/coefficients.md).
    Coefficients = 3,
    /// Binary PNM: PGM and PPM.
    Pnm = 4,
}

/// What becomes of a damaged JPEG: the words of the option `damaged`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// Damage inside is accepted, with the pixels that libjpeg-turbo makes of it; a file that ends early is refused.
    Torchvision = 0,
    /// It is refused.
    Refuse = 1,
    /// All that libjpeg-turbo decodes is accepted; what is missing is grey.
    Libjpeg = 2,
}

/// What a file says of its image before it is decoded.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ImageHeader {
    /// The file's format.
    pub format: ImageFormat,
    /// Columns of the upright image.
    pub width: u32,
    /// Rows of the upright image.
    pub height: u32,
    /// Columns as they are stored.
    pub stored_width: u32,
    /// Rows as they are stored.
    pub stored_height: u32,
    /// The EXIF orientation, 1 to 8; 1 is upright.
    pub orientation: u32,
    /// Channels of a stored pixel: 1 (grey, or a palette), 2 (grey and alpha), 3, or 4 (colour and alpha, or four inks).
    pub components: u32,
    /// Bits of a stored channel.
    pub bits: u32,
    /// 1 for a progressive JPEG or an interlaced PNG, else 0.
    pub progressive: i32,
    /// The chroma sampling of a JPEG or of its coefficients, such as "4:2:0"; null for other formats. Always valid.
    pub sampling: *const c_char,
}

/// What a file is decoded to. All zeros mean the whole upright image at full scale.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DecodeOptions {
    /// The part that is wanted, in pixels of the upright image at full scale; all of it where these four are 0. At a smaller
    /// scale its edges are rounded outwards. This is its top row.
    pub top: u32,
    /// Its left column.
    pub left: u32,
    /// Its rows.
    pub height: u32,
    /// Its columns.
    pub width: u32,
    /// 1, 2, 4 or 8: a JPEG or a file of coefficients is decoded at this part of its width and height. 0 is 1, or what
    /// min_height and min_width ask for.
    pub scale_denominator: u32,
    /// Where not 0, with min_width: the smallest scale at which what is wanted still has as many rows and columns, without
    /// counting parts of pixels; the full one where there is none, and for PNG, WebP and PNM.
    pub min_height: u32,
    /// The least columns.
    pub min_width: u32,
    /// Where not 0, the image is left as it is stored, whatever its EXIF orientation says.
    pub ignore_exif: i32,
    /// A FEEDLINE_DAMAGED_...
    pub damaged: i32,
    /// The most scans of a progressive JPEG; 0 is the default of the option `max_scans`.
    pub max_scans: u32,
    /// The most pixels of an image; 0 is the default of the option `max_pixels`.
    pub max_pixels: u64,
}

/// A decoded image, which feedline_image_free() frees.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Rows without gaps of R, G, B: height * width * 3 bytes, which may be written. Null where there is no image.
    pub pixels: *mut u8,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

const NO_IMAGE: Image = Image { pixels: std::ptr::null_mut(), width: 0, height: 0 };

/// The bytes of a file.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FileBytes {
    /// The first byte; may be null where there is none.
    pub bytes: *const u8,
    /// Number of bytes.
    pub size: usize,
}

/// What became of a file of a batch, which feedline_decoded_free() frees.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    /// FEEDLINE_STATUS_OK, or why there is no image: FEEDLINE_STATUS_SAMPLE for a file that cannot be decoded.
    pub status: Status,
    /// The image.
    pub image: Image,
    /// What is wrong with the file, with the remedy; null where it was decoded.
    pub error: *mut c_char,
}

/// The result of each file where the call fails.
const NOTHING: Decoded = Decoded { status: Status::Invalid, image: NO_IMAGE, error: std::ptr::null_mut() };

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Self {
        let message = error.to_string();
        match error {
            ImageError::Outside { .. } | ImageError::Scale { .. } | ImageError::Room { .. } => {
                Failure::invalid(message)
            }
            _ => Failure::sample(message),
        }
    }
}

impl DecodeOptions {
    fn settings(&self) -> Result<Settings, Failure> {
        let Self { top, left, height, width, .. } = *self;
        let whole = (top, left, height, width) == (0, 0, 0, 0);
        let edge = |edge: u32| {
            let too_far =
                || Failure::invalid(format!("a region begins at {edge}: that is beyond every image"));
            i32::try_from(edge).map_err(|_| too_far())
        };
        let region = if whole { None } else { Some(Rect::new(edge(left)?, edge(top)?, width, height)) };
        let fixed = |scale| Ok(Scaling::Fixed(scale));
        let scale = match (self.scale_denominator, self.min_height, self.min_width) {
            (0, 0, 0) => fixed(Scale::Full),
            (0, height, width) => Ok(Scaling::AtLeast(Size::new(width, height))),
            (1, 0, 0) => fixed(Scale::Full),
            (2, 0, 0) => fixed(Scale::Half),
            (4, 0, 0) => fixed(Scale::Quarter),
            (8, 0, 0) => fixed(Scale::Eighth),
            (1 | 2 | 4 | 8, _, _) => {
                Err("scale_denominator and a least size both say the scale: set one".into())
            }
            (other, _, _) => Err(format!("scale_denominator is {other}: set 1, 2, 4 or 8, or 0")),
        };
        let damaged = match self.damaged {
            0 => policy::Damaged::Torchvision,
            1 => policy::Damaged::Refuse,
            2 => policy::Damaged::Libjpeg,
            other => {
                return Err(Failure::invalid(format!(
                    "damaged is {other}: set a FEEDLINE_DAMAGED_..., 0 to 2"
                )));
            }
        };
        let mut limits = Limits { damaged, ..Limits::default() };
        if self.max_pixels > 0 {
            limits.max_pixels = self.max_pixels;
        }
        if self.max_scans > 0 {
            limits.max_scans = self.max_scans;
        }
        let scale = scale.map_err(Failure::invalid)?;
        Ok(Settings { region, scale, exif: self.ignore_exif == 0, limits })
    }
}

/// # Safety
/// `options` is null, or points at options that are not written during the call.
unsafe fn settings(options: *const DecodeOptions) -> Result<Settings, Failure> {
    // SAFETY: it is null, or options that are not written during the call.
    unsafe { options.as_ref() }.copied().unwrap_or_default().settings()
}

/// # Safety
/// `bytes` is null, or `size` bytes can be read there that are not written as long as the slice is used.
unsafe fn file<'a>(bytes: *const u8, size: usize) -> Result<&'a [u8], Failure> {
    if size == 0 {
        return Ok(&[]);
    }
    is_there(bytes, "bytes")?;
    // SAFETY: it is not null, so there are `size` bytes that are not written meanwhile.
    Ok(unsafe { std::slice::from_raw_parts(bytes, size) })
}

fn handed_over(RgbImage { size, data, .. }: RgbImage) -> Image {
    let pixels = Box::into_raw(data.into_boxed_slice()).cast();
    Image { pixels, width: size.width, height: size.height }
}

/// # Safety
/// `image` is from [`handed_over`], or has no pixels, and is not used again.
unsafe fn take_back(image: Image) {
    if !image.pixels.is_null() {
        let bytes = image.width as usize * image.height as usize * 3;
        let pixels = std::ptr::slice_from_raw_parts_mut(image.pixels, bytes);
        // SAFETY: `handed_over` made it of a box of so many bytes, and it is not used again.
        drop(unsafe { Box::from_raw(pixels) });
    }
}

/// Reads what a file in memory says of its image. Nothing is decoded.
///
/// # Safety
/// `size` bytes may be read at `bytes`; `header` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_read_header(
    bytes: *const u8,
    size: usize,
    header: *mut ImageHeader,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let read = Header::read(unsafe { file(bytes, size)? })?;
        let seen = ImageHeader {
            format: match read.format {
                decode::Format::Png => ImageFormat::Png,
                decode::Format::WebP => ImageFormat::Webp,
                decode::Format::Pnm => ImageFormat::Pnm,
                decode::Format::Coefficients => ImageFormat::Coefficients,
                _ => ImageFormat::Jpeg,
            },
            width: read.size.width,
            height: read.size.height,
            stored_width: read.stored.width,
            stored_height: read.stored.height,
            orientation: read.orientation.to_exif().into(),
            components: read.components.into(),
            bits: read.bits.into(),
            progressive: read.progressive.into(),
            sampling: read.sampling.map_or(std::ptr::null(), |sampling| c_name(sampling.name()).as_ptr()),
        };
        // SAFETY: the caller's promise.
        unsafe { write(header, seen, "header") }
    })
}

/// The name of a sampling as text of C's.
fn c_name(name: &str) -> &'static CStr {
    const NAMES: [&CStr; 8] = [c"grey", c"4:4:4", c"4:2:2", c"4:2:0", c"4:4:0", c"4:1:1", c"4:1:0", c"4:4:1"];
    NAMES.into_iter().find(|known| known.to_bytes() == name.as_bytes()).unwrap_or(c"other")
}

/// Columns and rows of what a file in memory is decoded to with these options, which may be null.
///
/// # Safety
/// `size` bytes may be read at `bytes`; `options` is null or may be read; `width` and `height` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_decoded_size(
    bytes: *const u8,
    size: usize,
    options: *const DecodeOptions,
    width: *mut u32,
    height: *mut u32,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (file, settings) = unsafe { (file(bytes, size)?, settings(options)?) };
        let decoded = Header::read(file)?.decoded_size(&settings)?;
        is_there(height, "height")?;
        // SAFETY: the caller's promise.
        unsafe {
            write(width, decoded.width, "width")?;
            write(height, decoded.height, "height")
        }
    })
}

/// Decodes a file in memory: JPEG, PNG, WebP, PNM or a file of coefficients. `options` may be null. The image is to be freed by feedline_image_free(); on an
/// error it has no pixels.
///
/// # Safety
/// `size` bytes may be read at `bytes`; `options` is null or may be read; `image` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_decode(
    bytes: *const u8,
    size: usize,
    options: *const DecodeOptions,
    image: *mut Image,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(image, NO_IMAGE, "image")? };
        // SAFETY: the caller's promise.
        let (file, settings) = unsafe { (file(bytes, size)?, settings(options)?) };
        let decoded = decode::decode(file, &settings)?;
        // SAFETY: the caller's promise.
        unsafe { write(image, handed_over(decoded), "image") }
    })
}

/// Decodes a file in memory to rows of R, G, B that begin `stride` bytes from each other, in memory of `room` bytes from
/// `pixels` on. feedline_decoded_size() tells how many there will be. `options` may be null. On an error the memory holds no
/// particular pixels.
///
/// # Safety
/// `size` bytes may be read at `bytes`, and `room` bytes written at `pixels`, which are others; `options` is null or may be
/// read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_decode_into(
    bytes: *const u8,
    size: usize,
    options: *const DecodeOptions,
    pixels: *mut u8,
    room: usize,
    stride: usize,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (file, settings) = unsafe { (file(bytes, size)?, settings(options)?) };
        is_there(pixels, "pixels")?;
        if isize::try_from(room).is_err() {
            return Err(Failure::invalid(format!(
                "there cannot be room for {room} bytes: give as many as there are"
            )));
        }
        // SAFETY: the caller's promise.
        let data = unsafe { std::slice::from_raw_parts_mut(pixels, room) };
        decode::decode_into(file, &settings, PixelsMut { data, stride })?;
        Ok(Status::Ok)
    })
}

/// Decodes `count` files in memory on `threads` threads, of which the calling one is one; 0 is one for each core. `options`, which
/// may be null, are those of all files. `results` gets one result for each file, in order, and is to be freed by
/// feedline_decoded_free(). A file that cannot be decoded is no error of the call; where the call fails, each result is
/// FEEDLINE_STATUS_INVALID without image and text. The threads end with the call, so that a forked process can make it too.
///
/// # Safety
/// `count` files may be read at `files`, and their bytes; `options` is null or may be read; `count` results may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_decode_batch(
    files: *const FileBytes,
    count: usize,
    options: *const DecodeOptions,
    threads: usize,
    results: *mut Decoded,
) -> Status {
    guard(|| {
        for at in 0..if results.is_null() { 0 } else { count } {
            // SAFETY: the caller's promise; `at` is below `count`.
            unsafe { results.add(at).write(NOTHING) };
        }
        // SAFETY: the caller's promise.
        let settings = unsafe { settings(options)? };
        if count == 0 {
            return Ok(Status::Ok);
        }
        is_there(results, "results")?;
        // SAFETY: the caller's promise.
        let files = unsafe {
            shared(files, "files")?;
            std::slice::from_raw_parts(files, count)
        };
        // SAFETY: the caller's promise.
        let bytes = files.iter().map(|own| unsafe { file(own.bytes, own.size) });
        let bytes = bytes.collect::<Result<Vec<&[u8]>, Failure>>()?;
        let decoded = decode::decode_batch(&bytes, &settings, (threads > 0).then_some(threads));
        for (at, result) in decoded.into_iter().enumerate() {
            let result = match result {
                Ok(image) => {
                    Decoded { status: Status::Ok, image: handed_over(image), error: std::ptr::null_mut() }
                }
                Err(error) => {
                    let failure = Failure::from(error);
                    let error = CString::into_raw(c_text(failure.message()));
                    Decoded { status: failure.status(), image: NO_IMAGE, error }
                }
            };
            // SAFETY: the caller's promise; `at` is below `count`.
            unsafe { results.add(at).write(result) };
        }
        Ok(Status::Ok)
    })
}

/// Frees the pixels of an image, which has none then; null is let pass.
///
/// # Safety
/// `image` is null, or was written by feedline_decode().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_image_free(image: *mut Image) {
    guard(|| {
        // SAFETY: the caller's promise.
        if let Some(image) = unsafe { image.as_mut() } {
            // SAFETY: its pixels are from `handed_over`, or there are none, and nobody finds them again.
            unsafe { take_back(std::mem::replace(image, NO_IMAGE)) };
        }
        Ok(Status::Ok)
    });
}

/// Frees the images and texts of `count` results, which have none then; null is let pass.
///
/// # Safety
/// `results` is null, or `count` results were written there by feedline_decode_batch().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_decoded_free(results: *mut Decoded, count: usize) {
    guard(|| {
        for at in 0..if results.is_null() { 0 } else { count } {
            // SAFETY: the caller's promise.
            let result = unsafe { &mut *results.add(at) };
            // SAFETY: image and text are from this file, or there are none, and nobody finds them again.
            unsafe {
                take_back(std::mem::replace(&mut result.image, NO_IMAGE));
                crate::border::feedline_string_free(std::mem::replace(
                    &mut result.error,
                    std::ptr::null_mut(),
                ));
            }
        }
        Ok(Status::Ok)
    });
}
