//! Any bytes as a file of coefficients whose checksums are right: no panic, and where the whole picture decodes, a region of it has
//! the same pixels.
//!
//! The first two bytes choose the region; the rest is the file.
#![no_main]

use feedline::geometry::Rect;
use feedline::image::{Decoder, Format, Image, Limits, parse_header};
use libfuzzer_sys::fuzz_target;

/// Puts right checksums wherever the file has room for them, so that what they guard is reached.
fn mend(file: &mut [u8]) -> Option<()> {
    let number = |file: &[u8], at: usize, bytes: usize| {
        let read = file.get(at..at + bytes)?;
        Some(read.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
    };
    let (count, tables) = (number(file, 11, 1)?, number(file, 18, 1)?);
    let (height, rows) = (number(file, 14, 2)?, number(file, 16, 2)?.max(1));
    let down = (0..count.min(4)).map(|i| number(file, 20 + 4 * i, 1).map_or(1, |byte| byte & 15)).max()?;
    // The factors of a single component are 1.
    let down = if count == 1 { 1 } else { down.max(1) };
    let segments = height.div_ceil(8 * down).div_ceil(rows);
    let offsets = 20 + 4 * count + 128 * tables;
    for segment in 0..segments {
        let start = number(file, offsets + 4 * segment, 4)?;
        let end = number(file, offsets + 4 * segment + 4, 4)?;
        if let Some([_, _, _, _, rest @ ..]) = file.get(start..end) {
            let sum = crc32c::crc32c(rest).to_le_bytes();
            file[start..start + 4].copy_from_slice(&sum);
        }
    }
    let end = offsets + 4 * (segments + 1);
    let sum = crc32c::crc32c(file.get(..end)?).to_le_bytes();
    file.get_mut(end..end + 4)?.copy_from_slice(&sum);
    Some(())
}

fuzz_target!(|input: &[u8]| {
    let &[choice, place, ref bytes @ ..] = input else { return };
    let mut bytes = bytes.to_vec();
    mend(&mut bytes);
    let Ok(header) = parse_header(&bytes) else { return };
    if header.format != Format::Coefficients {
        return;
    }
    let limits = Limits { max_pixels: 1 << 18, ..Limits::default() };
    let (mut decoder, mut whole) = (Decoder::new(limits), Image::default());
    if let Err(error) = decoder.decode(&bytes, &header, header.size.rect(), &mut whole) {
        assert!(!error.to_string().is_empty());
        return;
    }
    let (x, y) = (i32::from(choice >> 1), i32::from(place));
    let region = Rect::new(x, y, 1 + u32::from(place & 31), 1 + u32::from(choice & 31));
    let region = region.intersect(header.size.rect());
    if region.is_empty() {
        return;
    }
    let mut part = Image::default();
    decoder.decode(&bytes, &header, region, &mut part).expect("a part of a good picture is good");
    let width = region.width as usize * 3;
    for row in 0..region.height as usize {
        let at = (region.y as usize + row) * whole.stride + region.x as usize * 3;
        assert_eq!(part.data[row * part.stride..][..width], whole.data[at..at + width]);
    }
});
