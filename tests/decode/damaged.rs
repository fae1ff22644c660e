//! Damaged files: what libjpeg-turbo makes of them, as it was recorded, and what the option `damaged` accepts.
//!
//! `tests/libjpeg` compares with libjpeg-turbo itself, and writes the record.

use feedline::geometry::Rect;
use feedline::jpeg::{Decoder, Header, Index, JpegError, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use feedline_test_support::damage::{CASES, Cases, checksum};
use std::path::Path;

/// For each case what libjpeg-turbo says of it, and the checksum of its pixels.
const RECORD: &str = include_str!("damaged.tsv");

const ARITHMETIC: [(&str, &[u8]); 4] = [
    ("sequential", include_bytes!("arithmetic/sequential.jpg")),
    ("restarts", include_bytes!("arithmetic/restarts.jpg")),
    ("progressive", include_bytes!("arithmetic/progressive.jpg")),
    ("grey", include_bytes!("arithmetic/grey.jpg")),
];

fn cases() -> Cases {
    Cases::open(Path::new(env!("CARGO_MANIFEST_DIR")))
}

fn limits(damaged: Damaged) -> Limits {
    Limits { max_pixels: 1 << 20, max_scans: 1000, damaged }
}

fn decode(decoder: &mut Decoder, bytes: &[u8], damaged: Damaged) -> Result<Vec<u8>, JpegError> {
    let header = parse_header(bytes)?;
    let stride = header.size.width as usize * 3;
    if header.size.pixels() > 1 << 20 {
        let (found, limit) = (header.size.pixels(), 1 << 20);
        return Err(JpegError::TooLarge { what: "pixels", found, limit, remedy: "max_pixels" });
    }
    let mut pixels = vec![0; stride * header.size.height as usize];
    let mut out = PixelsMut { data: &mut pixels, stride };
    decoder.decode_into(bytes, &header, header.size.rect(), &limits(damaged), &mut out)?;
    Ok(pixels)
}

#[test]
fn damaged_files_have_the_pixels_that_libjpeg_turbo_was_recorded_with() {
    let (mut decoder, cases) = (Decoder::new(), cases());
    let mut counts = [0; 3];
    assert_eq!(RECORD.lines().count() as u64, CASES);
    for (number, line) in RECORD.lines().enumerate() {
        let (verdict, wanted) = line.split_once('\t').expect("two columns");
        let bytes = cases.file(number as u64);
        let decoded = decode(&mut decoder, &bytes, Damaged::Libjpeg);
        let found = decoded.as_ref().map_or("-".to_owned(), |pixels| format!("{:016x}", checksum(pixels)));
        assert_eq!(found, wanted, "case {number}: {:?}", decoded.err());
        match verdict {
            "intact" => counts[0] += 1,
            "damaged" => counts[1] += 1,
            _ => counts[2] += 1,
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn inspection_finds_a_defect_wherever_libjpeg_turbo_warned() {
    let (mut decoder, cases) = (Decoder::new(), cases());
    for (number, line) in RECORD.lines().enumerate().filter(|(_, line)| line.starts_with("damaged")) {
        let bytes = cases.file(number as u64);
        let header = parse_header(&bytes).expect("libjpeg reads it");
        let stride = header.size.width as usize * 3;
        let mut pixels = vec![0; stride * header.size.height as usize];
        let mut out = PixelsMut { data: &mut pixels, stride };
        let found = decoder.inspect(&bytes, &header, &limits(Damaged::Libjpeg), &mut out);
        assert!(matches!(found, Ok(Some(_))), "case {number}, {line}: {found:?}");
    }
}

#[test]
fn stricter_settings_accept_fewer_files_and_change_no_pixel() {
    let (mut decoder, cases, mut accepted) = (Decoder::new(), cases(), [0; 3]);
    for number in 0..CASES {
        let bytes = cases.file(number);
        let all = [Damaged::Refuse, Damaged::Torchvision, Damaged::Libjpeg]
            .map(|damaged| decode(&mut decoder, &bytes, damaged).ok());
        for (count, pixels) in accepted.iter_mut().zip(&all) {
            *count += usize::from(pixels.is_some());
        }
        let [refuse, torchvision, libjpeg] = all;
        assert!(refuse.is_none() || refuse == torchvision, "case {number}");
        assert!(torchvision.is_none() || torchvision == libjpeg, "case {number}");
    }
    assert!(accepted[0] > 50 && accepted[0] < accepted[1] && accepted[1] < accepted[2], "{accepted:?}");
}

#[test]
fn a_region_of_a_damaged_file_is_a_part_of_the_whole() {
    let (mut decoder, cases, mut parts) = (Decoder::new(), cases(), 0);
    for number in 0..CASES {
        let bytes = cases.file(number);
        let Ok(whole) = decode(&mut decoder, &bytes, Damaged::Libjpeg) else { continue };
        let header = parse_header(&bytes).expect("it was decoded");
        let size = header.size;
        let region =
            Rect::new(size.width as i32 / 3, size.height as i32 / 2, size.width / 2, size.height / 3);
        let region = region.intersect(size.rect());
        let mut index = Index::default();
        for _ in 0..2 {
            let stride = region.width as usize * 3;
            let mut part = vec![0; stride * region.height as usize];
            let mut out = PixelsMut { data: &mut part, stride };
            let limits = limits(Damaged::Libjpeg);
            decoder
                .decode_part(&bytes, &header, region.into(), &limits, &mut out, Some(&mut index))
                .unwrap_or_else(|error| panic!("case {number}: {error}"));
            assert!(
                decoder.damage().is_none() || index.rows() == 0,
                "case {number}: an index of a damaged file"
            );
            for (y, row) in part.chunks(stride.max(1)).enumerate() {
                let at = ((region.y as usize + y) * size.width as usize + region.x as usize) * 3;
                assert!(row == &whole[at..at + row.len()], "case {number}, row {y}");
            }
        }
        parts += usize::from(decoder.damage().is_some());
    }
    assert!(parts > 100, "{parts}");
}

#[test]
fn the_header_of_another_file_is_an_error() {
    let mut decoder = Decoder::new();
    let files: Vec<&[u8]> = ARITHMETIC.iter().map(|(_, bytes)| *bytes).collect();
    let [seed, other] = ["420", "444"].map(|name| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read(root.join("fuzz/seeds/damaged").join(name)).expect("a seed")
    });
    for header in
        files.iter().chain([&&seed[..], &&other[..]]).map(|file| parse_header(file).expect("a header"))
    {
        for bytes in files.iter().copied().chain([&seed[..], &other[..]]) {
            for cut in [bytes.len(), bytes.len() - 20] {
                let stride = header.size.width as usize * 3;
                let mut pixels = vec![0; stride * header.size.height as usize];
                let mut out = PixelsMut { data: &mut pixels, stride };
                let (limits, whole) = (limits(Damaged::Libjpeg), header.size.rect());
                let found = decoder.decode_into(&bytes[..cut], &header, whole, &limits, &mut out);
                let frame =
                    |header: &Header| (header.size, header.sampling, header.progressive, header.arithmetic);
                let is_same = parse_header(bytes).is_ok_and(|own| frame(&own) == frame(&header));
                assert!(is_same || matches!(found, Err(JpegError::Request { .. })), "{found:?}");
            }
        }
    }
}

#[test]
fn arithmetic_coding_is_decoded_whatever_the_setting() {
    let mut decoder = Decoder::new();
    let record = include_str!("arithmetic/checksums.tsv");
    for ((name, bytes), line) in ARITHMETIC.into_iter().zip(record.lines()) {
        let wanted = line.split_once('\t').expect("two columns").1;
        for damaged in [Damaged::Refuse, Damaged::Torchvision, Damaged::Libjpeg] {
            let pixels =
                decode(&mut decoder, bytes, damaged).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(format!("{:016x}", checksum(&pixels)), wanted, "{name}");
            assert_eq!(decoder.damage(), None, "{name}");
        }
        let header = parse_header(bytes).expect("a header");
        let half = &bytes[..bytes.len() / 2];
        let top = Rect { height: header.size.height * 4 / 5, ..header.size.rect() };
        let mut part = vec![0; top.size().pixels() as usize * 3];
        let mut out = PixelsMut { data: &mut part, stride: top.width as usize * 3 };
        let found = decoder.decode_into(half, &header, top, &limits(Damaged::Torchvision), &mut out);
        assert!(matches!(found, Err(JpegError::Truncated { .. })), "{name}, a part: {found:?}");
        let cut = &bytes[..bytes.len() - 9];
        for damaged in [Damaged::Refuse, Damaged::Torchvision] {
            let found = decode(&mut decoder, cut, damaged);
            assert!(matches!(found, Err(JpegError::Truncated { .. })), "{name}: {found:?}");
        }
        assert!(decode(&mut decoder, cut, Damaged::Libjpeg).is_ok(), "{name}");
        assert!(decoder.damage().is_some(), "{name}");
    }
}
