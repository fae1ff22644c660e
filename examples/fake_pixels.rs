//! feedline's own JPEG decoder behind one C function, for the simulated nvJPEG: then the device has the CPU's pixels, and
//! whatever differs is a mistake.
//!
//! `cargo build --example fake_pixels` makes a library; `FAKENVJPEG_DECODER` names it to programs that run on the
//! simulated libraries. `tests/cuda` hands the function over by itself.

#![expect(unsafe_code, reason = "a function for C")]

use feedline::image::{self, Decoder, Image, ImageError, Limits};
use feedline::policy::Damaged;

/// The file is no sound JPEG.
const UNSOUND: i32 = 1;
/// The file is none that this decoder takes.
const NOT_TAKEN: i32 = 2;

/// Decodes a whole JPEG to `width * height * 3` bytes of R, G, B.
///
/// # Safety
/// `bytes` holds `length` bytes and `pixels` has room for `width * height * 3`; neither is used otherwise meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fakenvjpeg_decode(
    bytes: *const u8,
    length: usize,
    width: u32,
    height: u32,
    pixels: *mut u8,
) -> i32 {
    let room = width as usize * height as usize * 3;
    // SAFETY: `bytes` holds `length` bytes and `pixels` three for each of `width * height` pixels, which is the picture's
    // size; nobody writes to the former or uses the latter during the call.
    let (bytes, pixels) =
        unsafe { (std::slice::from_raw_parts(bytes, length), std::slice::from_raw_parts_mut(pixels, room)) };
    match decode(bytes, width, height) {
        Ok(Some(image)) => pixels.copy_from_slice(&image.data[..room]),
        Ok(None) => return NOT_TAKEN,
        Err(_) => return UNSOUND,
    }
    0
}

/// The picture; none if its header has another size than the caller read, or cannot be read at all.
fn decode(bytes: &[u8], width: u32, height: u32) -> Result<Option<Image>, ImageError> {
    let Ok(header) = image::parse_header(bytes) else { return Ok(None) };
    if (header.size.width, header.size.height) != (width, height) {
        return Ok(None);
    }
    let mut decoded = Image::default();
    Decoder::new(Limits { damaged: Damaged::Refuse, ..Limits::default() }).decode(
        bytes,
        &header,
        header.size.rect(),
        &mut decoded,
    )?;
    Ok(Some(decoded))
}
