//! Files of every format: recognised by content, decoded to known pixels, refused with the format named.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

pub(crate) mod files;

use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::{Decoder, Format, Image, ImageError, Limits, Part, Scale, parse_header, verify};
use files::{Png, exif, extended_webp, webp};

/// All colour types of PNG with all depths that each may have.
const KINDS: [(u8, &[u8]); 5] =
    [(0, &[1, 2, 4, 8, 16]), (2, &[8, 16]), (3, &[1, 2, 4, 8]), (4, &[8, 16]), (6, &[8, 16])];

/// Three colours; indices behind them name none.
const PALETTE: [u8; 9] = [10, 20, 30, 40, 50, 60, 255, 0, 127];

fn decode(file: &[u8], region: Option<Rect>) -> Result<Image, ImageError> {
    let header = parse_header(file)?;
    let mut image = Image::default();
    let region = region.unwrap_or(header.size.rect());
    Decoder::new(Limits::default()).decode(file, &header, region, &mut image)?;
    Ok(image)
}

fn pixel(image: &Image, x: u32, y: u32) -> [u8; 3] {
    let at = (y as i32 - image.region.y) as usize * image.stride + (x as i32 - image.region.x) as usize * 3;
    [image.data[at], image.data[at + 1], image.data[at + 2]]
}

/// A sample that looks random, often small so that 16-bit grey is not always clamped.
fn sample(png: &Png, x: u32, y: u32, channel: u32) -> u16 {
    let hash = (x * 7919 + y * 104_729 + channel * 1_299_709 + 12_345).wrapping_mul(2_654_435_761) >> 8;
    let small = if hash & 0x10000 != 0 && png.depth == 16 { 0x1FF } else { 0xFFFF };
    (hash as u16) & small & ((1u32 << png.depth) - 1) as u16
}

/// What Pillow's `convert("RGB")` makes of the samples of one pixel.
fn expected(png: &Png, x: u32, y: u32) -> [u8; 3] {
    let stored = |channel| sample(png, x, y, channel);
    let high = |channel| (stored(channel) >> (png.depth - 8)) as u8;
    match (png.color, png.depth) {
        (0, 16) => [stored(0).min(255) as u8; 3],
        (0, depth) => [(u32::from(stored(0)) * 255 / ((1 << depth) - 1)) as u8; 3],
        (3, _) => {
            let at = usize::from(stored(0)) * 3;
            PALETTE.get(at..at + 3).map_or([0; 3], |color| color.try_into().unwrap())
        }
        (4, _) => [high(0); 3],
        _ => [high(0), high(1), high(2)],
    }
}

fn every_png() -> impl Iterator<Item = (Png, Vec<u8>)> {
    let sizes = [(1, 1), (3, 2), (5, 9), (37, 20)];
    let kinds = KINDS.iter().flat_map(|&(color, depths)| depths.iter().map(move |&depth| (color, depth)));
    let stored = kinds.flat_map(|kind| [false, true].map(|interlaced| (kind, interlaced)));
    stored.flat_map(move |((color, depth), interlaced)| {
        sizes.map(|(width, height)| {
            let png = Png { width, height, color, depth, interlaced };
            let palette: &[(&[u8; 4], &[u8])] = if color == 3 { &[(b"PLTE", &PALETTE[..])] } else { &[] };
            (png, png.file(|x, y, c| sample(&png, x, y, c), palette))
        })
    })
}

#[test]
fn every_kind_of_png_becomes_the_rgb_that_pillow_makes() {
    for (png, file) in every_png() {
        let header = parse_header(&file).unwrap();
        assert_eq!((header.format, header.size), (Format::Png, Size::new(png.width, png.height)));
        let image = decode(&file, None).unwrap_or_else(|error| panic!("{png:?}: {error}"));
        for (x, y) in (0..png.height).flat_map(|y| (0..png.width).map(move |x| (x, y))) {
            assert_eq!(pixel(&image, x, y), expected(&png, x, y), "{png:?} at {x},{y}");
        }
    }
}

#[test]
fn a_region_has_the_pixels_of_the_whole() {
    let region = Rect::new(3, 5, 17, 11);
    for (png, file) in every_png().filter(|(png, _)| png.width == 37) {
        let part = decode(&file, Some(region)).unwrap();
        assert_eq!((part.region, part.stored), (region, Size::new(37, 20)));
        for (x, y) in (5..16).flat_map(|y| (3..20).map(move |x| (x, y))) {
            assert_eq!(pixel(&part, x, y), expected(&png, x, y), "{png:?} at {x},{y}");
        }
    }
}

#[test]
fn transparency_of_a_png_is_dropped_and_not_blended() {
    let rgb = Png { width: 2, height: 1, color: 2, depth: 8, interlaced: false };
    let file = rgb.file(|x, _, c| (x * 3 + c) as u16, &[(b"tRNS", &[0, 0, 0, 1, 0, 2])]);
    assert_eq!(decode(&file, None).unwrap().data[..6], [0, 1, 2, 3, 4, 5]);
    let indexed = Png { color: 3, ..rgb };
    let file = indexed.file(|x, _, _| x as u16, &[(b"PLTE", &PALETTE[..]), (b"tRNS", &[0, 128])]);
    assert_eq!(decode(&file, None).unwrap().data[..6], [10, 20, 30, 40, 50, 60]);
}

#[test]
fn orientation_is_read_from_png_and_webp_as_from_jpeg() {
    let png = Png { width: 4, height: 3, color: 0, depth: 8, interlaced: false };
    let still = webp(4, 3, &[9; 36])[12..].to_vec();
    let vp8l = still[8..].to_vec();
    for (tag, prefix) in (1..=8).flat_map(|tag| [(tag, &b""[..]), (tag, &b"Exif\0\0"[..])]) {
        let exif = [prefix, &exif(tag)].concat();
        let turned = extended_webp(4, 3, 0x08, &[(b"VP8L", vp8l.clone()), (b"EXIF", exif.clone())]);
        for file in [png.file(|_, _, _| 0, &[(b"eXIf", &exif)]), turned] {
            let header = parse_header(&file).unwrap();
            assert_eq!(header.orientation, Orientation::from_exif(u16::from(tag)));
            assert_eq!(decode(&file, None).unwrap().orientation, header.orientation);
            assert_eq!(header.size, Size::new(4, 3));
        }
    }
}

#[test]
fn a_webp_keeps_its_colours_and_drops_its_alpha() {
    let colors: Vec<u8> = (0..7 * 5 * 3).map(|i| (i * 37) as u8).collect();
    let with_alpha: Vec<u8> = colors.chunks(3).flat_map(|c| [c[0], c[1], c[2], c[0] | 1]).collect();
    for file in [webp(7, 5, &colors), webp(7, 5, &with_alpha)] {
        assert_eq!(parse_header(&file).unwrap().format, Format::WebP);
        assert_eq!(decode(&file, None).unwrap().data[..colors.len()], colors);
        let part = decode(&file, Some(Rect::new(2, 1, 4, 3))).unwrap();
        assert_eq!(pixel(&part, 5, 3), colors[(3 * 7 + 5) * 3..][..3]);
    }
}

/// An animation of one frame of 4x2 at (2, 2) on a canvas of 8x6.
fn animation(frame: &[u8]) -> Vec<u8> {
    let mut body = vec![1, 0, 0, 1, 0, 0, 3, 0, 0, 1, 0, 0, 10, 0, 0, 0];
    body.extend_from_slice(&webp(4, 2, frame)[12..]);
    extended_webp(8, 6, 0x02, &[(b"ANIM", vec![255, 255, 255, 255, 0, 0]), (b"ANMF", body)])
}

#[test]
fn an_animation_shows_its_first_frame_on_black() {
    let frame: Vec<u8> = (0..32).map(|i| if i % 4 == 3 { 77 } else { 100 + i as u8 }).collect();
    let whole = decode(&animation(&frame), None).unwrap();
    let at_corner = decode(&animation(&frame), Some(Rect::new(4, 3, 4, 3))).unwrap();
    for (x, y) in (0..6).flat_map(|y| (0..8).map(move |x| (x, y))) {
        let inside = (2..6).contains(&x) && (2..4).contains(&y);
        let start = if inside { ((y - 2) * 4 + x - 2) as usize * 4 } else { 0 };
        let expected = if inside { [frame[start], frame[start + 1], frame[start + 2]] } else { [0; 3] };
        assert_eq!(pixel(&whole, x, y), expected, "{x},{y}");
        if x >= 4 && y >= 3 {
            assert_eq!(pixel(&at_corner, x, y), expected, "{x},{y}");
        }
    }
}

#[test]
fn other_formats_are_refused_by_name_and_what_is_no_image_is_told() {
    let mut bitmap = b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0".to_vec();
    bitmap.resize(60, 0);
    let cases: [(&[u8], &str); 13] = [
        (b"GIF89a......", "is GIF"),
        (&bitmap, "is BMP"),
        (b"II*\0....", "is TIFF"),
        (b"MM\0*....", "is TIFF"),
        (b"\0\0\0\x1cftypavif", "is AVIF"),
        (b"\0\0\0\x1cftypheic", "is HEIF"),
        (b"\xFF\x0A....", "is JPEG XL"),
        (b"\0\0\0\x0CjP  \r\n\x87\n", "is JPEG 2000"),
        (b"", "the file is empty"),
        (&[0; 4096], "zeros"),
        (b"BM is how this text begins", "it holds text"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"\x01\x02\x03\x04\x05", "no known format"),
    ];
    for (bytes, told) in cases {
        let error = parse_header(bytes).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_and_no_panic() {
    let png = Png { width: 5, height: 4, color: 2, depth: 8, interlaced: false };
    let interlaced = Png { interlaced: true, ..png };
    let colors: Vec<u8> = (0..60).map(|i| (i * 41) as u8).collect();
    let of_png = |png: Png| png.file(|x, y, c| sample(&png, x, y, c), &[]);
    for file in [of_png(png), of_png(interlaced), webp(5, 4, &colors), animation(&[200; 24])] {
        verify(&file, &Limits::default()).unwrap();
        // The last chunk of a PNG (12 bytes) holds no pixels and the last byte of a WebP may be padding.
        for end in 0..file.len() - 13 {
            assert!(verify(&file[..end], &Limits::default()).is_err(), "cut at {end} of {}", file.len());
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_or_an_image_and_no_panic() {
    let files: Vec<Vec<u8>> =
        every_png().map(|(_, file)| file).chain([webp(7, 5, &[3; 105]), animation(&[200; 32])]).collect();
    let limits = Limits { max_pixels: 1 << 20, ..Limits::default() };
    let mut hash = 1u32;
    for file in files.iter().cycle().take(4000) {
        let mut damaged = file.clone();
        for _ in 0..=hash >> 30 {
            hash = hash.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (hash >> 8) as usize % damaged.len();
            damaged[at] = (hash >> 3) as u8;
        }
        let _ = verify(&damaged, &limits);
    }
}

#[test]
fn a_damaged_checksum_is_found_though_the_region_ends_before_it() {
    let png = Png { width: 5, height: 40, color: 2, depth: 8, interlaced: false };
    let mut file = png.file(|x, y, c| sample(&png, x, y, c), &[]);
    let checksum = file.len() - 13;
    file[checksum] ^= 1;
    let error = decode(&file, Some(Rect::new(0, 0, 2, 2))).unwrap_err();
    assert!(matches!(error, ImageError::Corrupt { format: Format::Png, .. }), "{error}");
}

#[test]
fn a_smaller_scale_of_another_format_than_jpeg_is_refused_by_name() {
    let png = feedline_test_support::png::flat([9, 90, 200], 16, 8);
    let (header, mut image) = (parse_header(&png).unwrap(), Image::default());
    let part = Part { scale: Scale::Half, region: Rect::new(0, 0, 8, 4) };
    let error = Decoder::new(Limits::default()).decode_part(&png, &header, part, None, &mut image);
    assert_eq!(error, Err(ImageError::Scale { format: Format::Png }));
}

#[test]
fn limits_hold_before_anything_is_allocated() {
    let huge = Png { width: 60_000, height: 60_000, color: 6, depth: 16, interlaced: true };
    let small = Png { width: 1, height: 1, ..huge };
    let mut file = small.file(|_, _, _| 0, &[]);
    file[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
    let error = verify(&file, &Limits::default()).unwrap_err();
    assert!(matches!(error, ImageError::TooLarge { pixels: 3_600_000_000, .. }), "{error}");
    let animated = extended_webp(1 << 24, 1 << 24, 0x02, &[]);
    assert!(matches!(verify(&animated, &Limits::default()), Err(ImageError::TooLarge { .. })));
}

#[test]
fn a_region_outside_is_refused_and_an_empty_one_decodes_nothing() {
    let png = Png { width: 5, height: 4, color: 0, depth: 8, interlaced: false };
    let file = png.file(|_, _, _| 7, &[]);
    for region in [Rect::new(-1, 0, 2, 2), Rect::new(3, 0, 3, 1), Rect::new(0, 4, 1, 1)] {
        assert!(matches!(decode(&file, Some(region)), Err(ImageError::Region { .. })));
    }
    assert_eq!(decode(&file, Some(Rect::new(0, 0, 0, 4))).unwrap().region.width, 0);
}

#[test]
fn a_jpeg_goes_to_the_jpeg_decoder_whatever_came_before() {
    let mut jpeg = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut jpeg, 95);
    encoder.encode(&[200; 16 * 8 * 3], 16, 8, jpeg_encoder::ColorType::Rgb).unwrap();
    let png = Png { width: 5, height: 4, color: 0, depth: 8, interlaced: false }.file(|_, _, _| 7, &[]);
    let (mut decoder, mut image) = (Decoder::new(Limits::default()), Image::default());
    for (file, size, level) in
        [(&jpeg, Size::new(16, 8), 200), (&png, Size::new(5, 4), 7), (&jpeg, Size::new(16, 8), 200)]
    {
        let header = parse_header(file).unwrap();
        assert_eq!((header.size, header.jpeg.is_some()), (size, header.format == Format::Jpeg));
        decoder.decode(file, &header, size.rect(), &mut image).unwrap();
        assert_eq!(pixel(&image, size.width - 1, size.height - 1), [level; 3]);
    }
}
