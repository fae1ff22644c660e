//! Any bytes with a decode index: no panic, and with an index of the file's own the same pixels and errors as without.
//!
//! The first byte chooses the region and whether files may end early, the second how many bytes of a record follow,
//! which may be wrong; the rest is the file.
#![no_main]

use feedline::geometry::Rect;
use feedline::jpeg::{Decoder, Header, Index, JpegError, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use libfuzzer_sys::fuzz_target;

fn decode(
    bytes: &[u8],
    header: &Header,
    region: Rect,
    limits: &Limits,
    index: Option<&mut Index>,
) -> Result<Vec<u8>, JpegError> {
    let mut data = vec![0; region.size().pixels() as usize * 3];
    let mut out = PixelsMut { data: &mut data, stride: region.width as usize * 3 };
    Decoder::new().decode_part(bytes, header, region.into(), limits, &mut out, index)?;
    Ok(data)
}

fuzz_target!(|input: &[u8]| {
    let &[choice, length, ref rest @ ..] = input else { return };
    let Some((record, bytes)) = rest.split_at_checked(length.into()) else { return };
    let damaged = if choice & 1 != 0 { Damaged::Libjpeg } else { Damaged::Torchvision };
    let limits = Limits { max_pixels: 1 << 18, max_scans: 20, damaged };
    let Ok(header) = parse_header(bytes) else { return };
    if header.size.pixels() > limits.max_pixels {
        return;
    }
    let (x, y) = (i32::from(choice) * 2, i32::from(choice >> 3));
    let region = Rect::new(x, y, 40, 1 + u32::from(choice)).intersect(header.size.rect());
    if region.is_empty() {
        return;
    }
    let expected = decode(bytes, &header, region, &limits, None);
    let mut index = Index::default();
    for _ in 0..3 {
        assert_eq!(decode(bytes, &header, region, &limits, Some(&mut index)), expected);
    }
    // A record has no checksum of its own, so a wrong one of the right file may give wrong pixels, but no panic.
    let mut record = record.to_vec();
    let mut own = Vec::new();
    index.write(&mut own);
    for (byte, own) in record.iter_mut().zip(own.iter().take(10)) {
        *byte = *own;
    }
    index.read(&record);
    drop(decode(bytes, &header, region, &limits, Some(&mut index)));
    // What was noted behind it is kept all the same.
    index.write(&mut own);
});
