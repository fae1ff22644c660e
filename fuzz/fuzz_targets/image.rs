//! Any bytes as a PNG, WebP or PNM file: no panic, and where the whole picture decodes, a region of it has the same pixels. And as
//! a mask: as many classes as its header has pixels.
//!
//! The first two bytes choose the region; the rest is the file.
#![no_main]

use feedline::geometry::Rect;
use feedline::image::{Decoder, Format, Image, Limits, decode_mask, parse_header};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let &[choice, place, ref bytes @ ..] = input else { return };
    let limits = Limits { max_pixels: 1 << 18, ..Limits::default() };
    let mut classes = Vec::new();
    if let Ok(size) = decode_mask(bytes, &limits, &mut classes) {
        assert!(size.pixels() <= limits.max_pixels && classes.len() as u64 == size.pixels());
    }
    let Ok(header) = parse_header(bytes) else { return };
    if header.format == Format::Jpeg {
        return;
    }
    let (mut decoder, mut whole) = (Decoder::new(limits.clone()), Image::default());
    if let Err(error) = decoder.decode(bytes, &header, header.size.rect(), &mut whole) {
        assert!(!error.to_string().is_empty());
        return;
    }
    assert!(header.size.pixels() <= limits.max_pixels);
    let (x, y) = (i32::from(choice >> 1), i32::from(place));
    let region = Rect::new(x, y, 1 + u32::from(place & 31), 1 + u32::from(choice & 31));
    let region = region.intersect(header.size.rect());
    if region.is_empty() {
        return;
    }
    let mut part = Image::default();
    decoder.decode(bytes, &header, region, &mut part).expect("a part of a good picture is good");
    let width = region.width as usize * 3;
    for row in 0..region.height as usize {
        let at = (region.y as usize + row) * whole.stride + region.x as usize * 3;
        assert_eq!(part.data[row * part.stride..][..width], whole.data[at..at + width]);
    }
});
