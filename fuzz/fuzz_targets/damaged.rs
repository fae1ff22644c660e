//! Any bytes: what libjpeg-turbo makes of them, or both refuse.
//!
//! `FEEDLINE_LIBJPEG` names the library that `tests/libjpeg/build.sh` makes.
#![no_main]

#[path = "../../tests/libjpeg/reference.rs"]
#[allow(dead_code, unreachable_pub)]
mod reference;

use feedline::jpeg::{Decoder, JpegError, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use libfuzzer_sys::fuzz_target;
use reference::{Reference, Verdict};
use std::cell::RefCell;

const MAX_PIXELS: u64 = 1 << 18;

thread_local! {
    static TOOLS: RefCell<(Reference, Decoder)> = RefCell::new((Reference::open(), Decoder::new()));
}

fn decode(decoder: &mut Decoder, bytes: &[u8]) -> Result<Vec<u8>, JpegError> {
    let header = parse_header(bytes)?;
    let found = header.size.pixels();
    if found > MAX_PIXELS {
        return Err(JpegError::TooLarge { what: "pixels", found, limit: MAX_PIXELS, remedy: "max_pixels" });
    }
    let limits = Limits { max_pixels: MAX_PIXELS, max_scans: 1000, damaged: Damaged::Libjpeg };
    let stride = header.size.width as usize * 3;
    let mut pixels = vec![0; stride * header.size.height as usize];
    let mut out = PixelsMut { data: &mut pixels, stride };
    decoder.decode_into(bytes, &header, header.size.rect(), &limits, &mut out)?;
    Ok(pixels)
}

fuzz_target!(|bytes: &[u8]| {
    // More scans than that would take libjpeg minutes.
    if bytes.windows(2).filter(|pair| *pair == [0xFF, 0xDA]).count() > 200 {
        return;
    }
    TOOLS.with_borrow_mut(|(reference, decoder)| {
        let theirs = reference.decode(bytes, MAX_PIXELS, 1);
        match decode(decoder, bytes) {
            Ok(pixels) => {
                assert_ne!(theirs.verdict, Verdict::Refused, "libjpeg refuses: {}", theirs.message);
                assert!(pixels == theirs.pixels, "{:?}; libjpeg: {}", decoder.damage(), theirs.message);
            }
            Err(error) => {
                // Lossless files are libjpeg's alone.
                let is_lossless = matches!(error, JpegError::Unsupported { what: "lossless coding" });
                assert!(theirs.verdict == Verdict::Refused || is_lossless, "{error}; libjpeg: {}", theirs.message);
            }
        }
    });
});
