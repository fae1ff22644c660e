//! Any bytes: no panic, and where the whole picture decodes, a region of it has the same pixels.
//!
//! The first two bytes choose the region and whether files may end early; the rest is the file.
#![no_main]

use feedline::geometry::Rect;
use feedline::jpeg::{Decoder, Header, JpegError, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use libfuzzer_sys::fuzz_target;

fn decode(bytes: &[u8], header: &Header, region: Rect, limits: &Limits) -> Result<Vec<u8>, JpegError> {
    let mut data = vec![0; region.size().pixels() as usize * 3];
    let mut out = PixelsMut { data: &mut data, stride: region.width as usize * 3 };
    Decoder::new().decode_into(bytes, header, region, limits, &mut out)?;
    Ok(data)
}

fuzz_target!(|input: &[u8]| {
    let &[choice, place, ref bytes @ ..] = input else { return };
    let damaged = if choice & 1 != 0 { Damaged::Libjpeg } else { Damaged::Torchvision };
    let limits = Limits { max_pixels: 1 << 18, max_scans: 20, damaged };
    let Ok(header) = parse_header(bytes) else { return };
    if header.size.pixels() > limits.max_pixels {
        return;
    }
    let Ok(whole) = decode(bytes, &header, header.size.rect(), &limits) else { return };
    let (x, y) = (i32::from(choice >> 1), i32::from(place));
    let region = Rect::new(x, y, 1 + u32::from(place & 31), 1 + u32::from(choice & 31));
    let region = region.intersect(header.size.rect());
    let part = decode(bytes, &header, region, &limits).expect("a part of a good picture is good");
    let width = header.size.width as usize * 3;
    for (row, part) in part.chunks(region.width.max(1) as usize * 3).enumerate() {
        let at = (region.y as usize + row) * width + region.x as usize * 3;
        assert_eq!(part, &whole[at..at + part.len()]);
    }
});
