//! Small damaged files, decoded whole and in part, against pixels recorded from libjpeg-turbo. Miri, which is slow, runs only
//! some of them.

use crate::geometry::Rect;
use crate::jpeg::{Decoder, Header, JpegError, Limits, PixelsMut, parse_header};
use crate::policy::Damaged;
use feedline_test_support::damage::{Cases, checksum};
use std::path::Path;

/// For each case what libjpeg-turbo says of it, and the checksum of its pixels.
const RECORD: &str = include_str!("../../../tests/decode/damaged.tsv");
const STEP: usize = if cfg!(miri) { 13 } else { 1 };
const MAX_PIXELS: u64 = if cfg!(miri) { 1000 } else { 4000 };

/// Decodes a part of a file, once more from the start with the decoder that goes on after damage where there is any.
fn decode(decoder: &mut Decoder, bytes: &[u8], header: &Header, part: Rect) -> Result<Vec<u8>, JpegError> {
    let limits = Limits { max_pixels: 1 << 20, max_scans: 1000, damaged: Damaged::Libjpeg };
    let stride = part.width as usize * 3;
    let mut pixels = vec![0; stride * part.height as usize];
    decoder.decode_into(bytes, header, part, &limits, &mut PixelsMut { data: &mut pixels, stride })?;
    Ok(pixels)
}

#[test]
fn small_damaged_files_have_their_recorded_pixels_and_so_have_their_parts() {
    let (mut decoder, cases) = (Decoder::new(), Cases::open(Path::new(env!("CARGO_MANIFEST_DIR"))));
    let (mut damaged, mut refused) = (0, 0);
    for (number, line) in RECORD.lines().enumerate().skip(1).step_by(STEP) {
        let wanted = line.split_once('\t').expect("two columns").1;
        let bytes = cases.file(number as u64);
        let header = match parse_header(&bytes) {
            Ok(header) if header.size.pixels() <= MAX_PIXELS => header,
            _ => continue,
        };
        let whole = header.size.rect();
        let Ok(pixels) = decode(&mut decoder, &bytes, &header, whole) else {
            assert_eq!(wanted, "-", "case {number} is refused");
            refused += 1;
            continue;
        };
        assert_eq!(format!("{:016x}", checksum(&pixels)), wanted, "case {number}");
        damaged += usize::from(decoder.damage().is_some());
        let (x, y) = (whole.width / 3, whole.height / 3);
        let part = Rect { x: x as i32, y: y as i32, width: whole.width - x, height: whole.height - y };
        let rows = pixels.chunks(whole.width as usize * 3).skip(y as usize);
        let cut: Vec<u8> = rows.flat_map(|row| &row[x as usize * 3..]).copied().collect();
        let found = decode(&mut decoder, &bytes, &header, part).expect("the whole was decoded");
        assert!(found == cut, "case {number}, a part");
    }
    assert!(damaged * STEP > 100 && refused * STEP > 50, "{damaged} damaged, {refused} refused");
}
