//! PNM: Pillow's levels, regions that are copied, and headers that no writer makes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::{Decoder, Format, Image, ImageError, Limits, parse_header, verify};

fn decode(file: &[u8], region: Rect) -> Result<Vec<u8>, ImageError> {
    let (header, mut image) = (parse_header(file)?, Image::default());
    Decoder::new(Limits::default()).decode(file, &header, region, &mut image)?;
    Ok(image.data[..region.size().pixels() as usize * 3].to_vec())
}

fn whole(file: &[u8]) -> Result<Vec<u8>, ImageError> {
    decode(file, parse_header(file)?.size.rect())
}

/// A file of one row, in which each level stands in all channels.
fn row(kind: u8, largest: u16, levels: &[u16]) -> Vec<u8> {
    let (channels, bytes) = (if kind == 6 { 3 } else { 1 }, if largest < 256 { 1 } else { 2 });
    let stored = levels.iter().flat_map(|level| level.to_be_bytes()[2 - bytes..].repeat(channels));
    format!("P{kind}\n{} 1\n{largest}\n", levels.len()).into_bytes().into_iter().chain(stored).collect()
}

#[test]
fn levels_are_those_of_pillow() {
    // What Pillow 13 makes of them by `convert("RGB")`.
    let both: [(u16, &[u16], &[u8]); 6] = [
        (1, &[0, 1, 2, 255], &[0, 255, 255, 255]),
        (2, &[0, 1, 2, 255], &[0, 128, 255, 255]),
        (100, &[1, 2, 33, 50, 99, 100, 101], &[3, 5, 84, 128, 252, 255, 255]),
        (200, &[1, 2, 66, 100, 199, 200], &[1, 3, 84, 128, 254, 255]),
        (254, &[1, 2, 84, 127, 253, 254, 255], &[1, 2, 84, 128, 254, 255, 255]),
        (255, &[0, 1, 85, 127, 254, 255], &[0, 1, 85, 127, 254, 255]),
    ];
    let grey: [(u16, &[u16], &[u8]); 4] = [
        (256, &[0, 1, 2, 256], &[0, 255, 255, 255]),
        (1000, &[0, 1, 2, 333, 65535], &[0, 66, 131, 255, 255]),
        (65534, &[1, 2, 254, 255, 256, 65535], &[1, 2, 254, 255, 255, 255]),
        (65535, &[0, 2, 254, 255, 256, 32767], &[0, 2, 254, 255, 255, 255]),
    ];
    let color: [(u16, &[u16], &[u8]); 4] = [
        (256, &[1, 85, 128, 255, 256, 65535], &[1, 85, 128, 254, 255, 255]),
        (510, &[0, 1, 2, 170, 254, 255, 509, 65535], &[0, 0, 1, 85, 127, 128, 254, 255]),
        (1000, &[2, 254, 333, 500, 999], &[1, 65, 85, 128, 255]),
        (65535, &[2, 254, 21845, 32767, 65534], &[0, 1, 85, 127, 255]),
    ];
    for (kind, cases) in [(5, &both[..]), (6, &both), (5, &grey), (6, &color)] {
        for &(largest, levels, expected) in cases {
            let expected: Vec<u8> = expected.iter().flat_map(|&level| [level; 3]).collect();
            assert_eq!(whole(&row(kind, largest, levels)).unwrap(), expected, "P{kind} of {largest}");
        }
    }
}

#[test]
fn a_region_is_that_of_the_whole_and_other_rows_are_not_read() {
    for (head, each) in
        [("P5 7 5 255 ", 1), ("P6 7 5 255 ", 3), ("P5 7 5 60000 ", 2), ("P6 7 5 900 ", 6), ("P6 7 5 9 ", 3)]
    {
        let levels = (0..7 * 5 * each).map(|at| (at * 37 % 251) as u8);
        let file: Vec<u8> = head.bytes().chain(levels).collect();
        let all = whole(&file).unwrap();
        let region = Rect::new(2, 1, 4, 3);
        let rows: Vec<u8> = (1..4).flat_map(|y| all[(y * 7 + 2) * 3..][..12].to_vec()).collect();
        assert_eq!(decode(&file, region).unwrap(), rows, "{head}");
        let mut other = file.clone();
        other[head.len()..][..7 * each].fill(99);
        other[head.len() + 4 * 7 * each..].fill(99);
        assert_eq!(decode(&other, region).unwrap(), rows, "{head}");
    }
}

#[test]
fn headers_have_white_space_and_comments_where_pillow_takes_them() {
    for head in [
        "P6\n2 1\n255\n",
        "P6 2 1 255 ",
        "P6\r2\x0b1\x0c255\t",
        "P6 #a comment, with 9 9 numbers\n# and another\r  2\n#\n1 # b\n 255\r",
        "P6 0000000002 01 0255 ",
    ] {
        let file = [head.as_bytes(), b"abcdef, and what a second image would be"].concat();
        let header = parse_header(&file).unwrap();
        assert_eq!((header.format, header.size), (Format::Pnm, Size::new(2, 1)), "{head:?}");
        assert_eq!(header.orientation, Orientation::UPRIGHT);
        assert_eq!(whole(&file).unwrap(), b"abcdef", "{head:?}");
    }
}

#[test]
fn headers_that_no_writer_makes_are_refused_with_what_is_wrong() {
    for (file, words) in [
        ("P6 2x 1 255 ", "the width in its header is no decimal number"),
        ("P6 +2 1 255 ", "the width in its header is no decimal number"),
        ("P6 2 -1 255 ", "the height in its header is no decimal number"),
        ("P5 2 1 255#9 abc", "the largest level in its header runs into a comment"),
        ("P6 00000000002 1 255 ", "the width in its header has more than 10 digits"),
        ("P6 2 9999999999 255 ", "the height in its header is too large"),
        ("P6 2 0 255 ", "a size of 2x0 pixels"),
        ("P6 2147483648 1 255 ", "a size of 2147483648x1 pixels"),
        ("P6 2 1 0 ", "its largest level is 0 and must be in 1..=65535"),
        ("P6 2 1 65536 ", "its largest level is 65536 and must be in 1..=65535"),
        ("P6 is how this text begins", "the width in its header is no decimal number"),
    ] {
        let error = parse_header(file.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(&format!("corrupt PNM: {words}")), "{file}: {error}");
    }
    for (file, words) in [
        ("P4 8 1 \0", "PBM"),
        ("P3 1 1 255 1 2 3", "numbers in text"),
        ("P7\nWIDTH", "PAM"),
        ("Pf 1 1 1", "PFM"),
    ] {
        let error = parse_header(file.as_bytes()).unwrap_err();
        assert!(matches!(error, ImageError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(words) && error.to_string().contains("binary PNM"), "{error}");
    }
}

#[test]
fn a_file_cut_anywhere_is_truncated_wherever_the_region_is() {
    let file = row(6, 255, &[1, 2, 3, 4]);
    for end in 3..file.len() {
        let error = verify(&file[..end], &Limits::default()).unwrap_err();
        assert_eq!(error, ImageError::Truncated { format: Format::Pnm }, "cut at {end}");
    }
    let error = decode(&file[..file.len() - 1], Rect::new(0, 0, 1, 1)).unwrap_err();
    assert_eq!(error, ImageError::Truncated { format: Format::Pnm });
    let huge = b"P6 2147483647 2147483647 65535 ";
    let limits = Limits { max_pixels: u64::MAX, ..Limits::default() };
    assert!(matches!(verify(huge, &Limits::default()), Err(ImageError::TooLarge { .. })));
    let (header, mut image) = (parse_header(huge).unwrap(), Image::default());
    let error = Decoder::new(limits).decode(huge, &header, Rect::new(0, 0, 1, 1), &mut image);
    assert_eq!(error, Err(ImageError::Truncated { format: Format::Pnm }));
    let other =
        Decoder::default().decode(&file, &header_of(b"P5 3 1 255 abc"), Rect::new(0, 0, 1, 1), &mut image);
    assert!(matches!(other, Err(ImageError::Corrupt { format: Format::Pnm, .. })), "{other:?}");
    let header = header_of(&file);
    for other in ["", "P", "P6", "XX 6 1 255 abcdefghijklmnopqr"] {
        let error = Decoder::default().decode(other.as_bytes(), &header, Rect::new(0, 0, 1, 1), &mut image);
        assert!(matches!(error, Err(ImageError::Corrupt { format: Format::Pnm, .. })), "{other}: {error:?}");
    }
}

fn header_of(file: &[u8]) -> feedline::image::Header {
    parse_header(file).unwrap()
}
