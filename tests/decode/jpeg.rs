//! The JPEG decoder from outside: regions, limits, damage, and the kinds of file an encoder at hand can write.

use feedline::geometry::{Rect, Size};
use feedline::jpeg::{ColorModel, Decoder, JpegError, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use feedline_test_support::jpeg::{ColorType, Jpeg, SAMPLINGS, SamplingFactor};

/// Of the pictures' noise.
const SEED: u32 = 12_345;

fn decode_region(bytes: &[u8], region: Rect, limits: &Limits) -> Result<Vec<u8>, JpegError> {
    let header = parse_header(bytes)?;
    let mut data = vec![0; region.size().pixels() as usize * 3];
    let mut out = PixelsMut { data: &mut data, stride: region.width as usize * 3 };
    Decoder::new().decode_into(bytes, &header, region, limits, &mut out)?;
    Ok(data)
}

fn decode(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, JpegError> {
    decode_region(bytes, parse_header(bytes)?.size.rect(), limits)
}

fn crop(whole: &[u8], size: Size, region: Rect) -> Vec<u8> {
    let rows = region.y as usize..region.bottom() as usize;
    let row = |y: usize| (y * size.width as usize + region.x as usize) * 3;
    rows.flat_map(|y| whole[row(y)..row(y) + region.width as usize * 3].to_vec()).collect()
}

#[test]
fn a_region_has_the_pixels_of_the_whole() {
    for (sampling, _) in SAMPLINGS {
        for (progressive, restart) in [(false, 0), (true, 0), (false, 3)] {
            let bytes = Jpeg { progressive, restart, ..Jpeg::new(sampling) }.picture(83, 71, SEED);
            let size = Size::new(83, 71);
            let whole = decode(&bytes, &Limits::default()).expect("a sound file");
            for (x, y) in
                [(0, 0), (1, 1), (15, 16), (16, 15), (17, 33), (31, 7), (66, 54), (82, 70), (40, 0), (0, 63)]
            {
                for (width, height) in [(1, 1), (2, 3), (16, 16), (33, 20), (83, 71)] {
                    let region = Rect::new(x, y, width, height).intersect(size.rect());
                    let part = decode_region(&bytes, region, &Limits::default()).expect("a sound file");
                    assert!(
                        part == crop(&whole, size, region),
                        "{sampling:?} {progressive} {restart} {region:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_header_names_what_the_encoder_wrote() {
    for (sampling, name) in SAMPLINGS {
        let settings = Jpeg { progressive: true, restart: 5, ..Jpeg::new(sampling) };
        let header = parse_header(&settings.picture(33, 9, SEED)).expect("a sound file");
        assert_eq!((header.size, header.sampling.name()), (Size::new(33, 9), name));
        assert_eq!((header.progressive, header.restart_interval, header.precision), (true, 5, 8));
        assert_eq!(header.color, ColorModel::YCbCr);
    }
    for (color, model) in [
        (ColorType::Luma, ColorModel::Grey),
        (ColorType::Cmyk, ColorModel::Cmyk),
        (ColorType::CmykAsYcck, ColorModel::Ycck),
    ] {
        let bytes = Jpeg { color, ..Jpeg::new(SamplingFactor::F_1_1) }.picture(9, 9, SEED);
        assert_eq!(parse_header(&bytes).expect("a sound file").color, model);
        assert!(decode(&bytes, &Limits::default()).is_ok());
    }
}

#[test]
fn a_progressive_file_has_the_pixels_of_the_same_baseline_file() {
    for (sampling, name) in SAMPLINGS {
        for (width, height) in [(1, 1), (3, 50), (64, 64), (70, 33)] {
            let baseline = Jpeg::new(sampling).picture(width, height, SEED);
            let progressive = Jpeg { progressive: true, ..Jpeg::new(sampling) }.picture(width, height, SEED);
            let [a, b] = [baseline, progressive].map(|bytes| decode(&bytes, &Limits::default()));
            assert!(a.expect("a sound file") == b.expect("a sound file"), "{name} {width}x{height}");
        }
    }
}

/// The markers' segments of a file and, behind the header of its only scan, the scan's data.
fn segments(bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let (mut found, mut rest) = (Vec::new(), &bytes[2..]);
    while let [0xFF, marker, high, low, ..] = *rest {
        let (body, behind) = rest[2..].split_at(usize::from(high) << 8 | usize::from(low));
        found.push((marker, body));
        rest = behind;
        if marker == 0xDA {
            found.push((0, &rest[..rest.len() - 2]));
            return found;
        }
    }
    unreachable!("a file has a scan")
}

#[test]
fn components_may_come_in_scans_of_their_own_whatever_band_those_claim_to_be() {
    let noise = |seed: usize| (0..30 * 20).map(|at| (at * at * (seed + 7) % 251) as u8).collect::<Vec<_>>();
    let luma = Jpeg { color: ColorType::Luma, ..Jpeg::default() };
    let files = [0, 1, 2].map(|seed| luma.file(&noise(seed), 30, 20));
    let grey = files.each_ref().map(|file| decode(file, &Limits::default()).expect("a sound file"));
    let components = b"RGB".map(|name| [name, 0x11, 0]).concat();
    // Only progressive scans have bands: in a sequential file the numbers mean nothing.
    for band in [[0, 63], [1, 63], [6, 5]] {
        let segment = |marker: u8, body: &[u8]| [&[0xFF, marker], body].concat();
        let mut bytes = vec![0xFF, 0xD8];
        for (marker, body) in segments(&files[0]) {
            match marker {
                0xDB | 0xC4 => bytes.extend(segment(marker, body)),
                // Components of these names are no luma and chroma.
                0xC0 => {
                    bytes.extend(segment(marker, &[&[0, 17, 8, 0, 20, 0, 30, 3][..], &components].concat()))
                }
                _ => {}
            }
        }
        for (file, name) in files.iter().zip(*b"RGB") {
            bytes.extend(segment(0xDA, &[0, 8, 1, name, 0, band[0], band[1], 0]));
            bytes.extend(segments(file).last().expect("the scan's data").1);
        }
        bytes.extend([0xFF, 0xD9]);
        let pixels = decode(&bytes, &Limits::default()).expect("a sound file");
        for (at, pixel) in pixels.chunks_exact(3).enumerate() {
            assert_eq!(pixel, [0, 1, 2].map(|channel: usize| grey[channel][at * 3]), "band {band:?}");
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_is_truncated_and_never_a_picture() {
    for progressive in [false, true] {
        let bytes = Jpeg { progressive, ..Jpeg::new(SamplingFactor::F_2_2) }.picture(40, 30, SEED);
        assert!(bytes.ends_with(&[0xFF, 0xD9]));
        for end in 2..bytes.len() - 2 {
            let result = decode(&bytes[..end], &Limits::default());
            assert!(matches!(result, Err(JpegError::Truncated { .. })), "cut at {end}: {:?}", result.err());
        }
        assert!(decode(&bytes[..bytes.len() - 2], &Limits::default()).is_ok(), "only the EOI is missing");
        assert!(decode(&bytes[..bytes.len() - 1], &Limits::default()).is_ok(), "half the EOI is missing");
        assert_eq!(decode(&bytes[..1], &Limits::default()), Err(JpegError::NotJpeg));
    }
}

#[test]
fn tolerated_truncation_keeps_the_top_and_fills_the_rest_with_grey() {
    let bytes = Jpeg { restart: 4, ..Jpeg::new(SamplingFactor::F_1_1) }.picture(64, 64, SEED);
    let limits = Limits { damaged: Damaged::Libjpeg, ..Limits::default() };
    let whole = decode(&bytes, &limits).expect("a sound file");
    let cut = decode(&bytes[..bytes.len() / 2], &limits).expect("tolerated");
    assert_eq!(cut[..64 * 8 * 3], whole[..64 * 8 * 3], "the first row of MCUs is before the cut");
    assert_eq!(cut[cut.len() - 3..], [128, 128, 128]);
    for end in 600..bytes.len() {
        let result = decode(&bytes[..end], &limits);
        // libjpeg completes a scan header, and then refuses what it has made of it.
        let is_error = matches!(result, Err(JpegError::Truncated { .. } | JpegError::Corrupt { .. }));
        assert!(result.is_ok() || (is_error && end < 640), "cut at {end}: {result:?}");
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut state = 99u32;
    for (sampling, _) in SAMPLINGS {
        for progressive in [false, true] {
            let sound = Jpeg { progressive, restart: 2, ..Jpeg::new(sampling) }.picture(37, 29, SEED);
            for _ in 0..400 {
                let mut bytes = sound.clone();
                for _ in 0..1 + state % 3 {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let at = (state >> 8) as usize % bytes.len();
                    bytes[at] = state as u8;
                }
                let damaged = [Damaged::Refuse, Damaged::Torchvision, Damaged::Libjpeg][state as usize % 3];
                let limits = Limits { max_pixels: 1 << 20, damaged, ..Limits::default() };
                if parse_header(&bytes).is_ok_and(|header| header.size.pixels() <= limits.max_pixels) {
                    let _ = decode(&bytes, &limits);
                }
            }
        }
    }
}

#[test]
fn limits_refuse_before_anything_is_decoded() {
    let bytes = Jpeg { progressive: true, ..Jpeg::new(SamplingFactor::F_1_1) }.picture(40, 40, SEED);
    let few_pixels = Limits { max_pixels: 1599, ..Limits::default() };
    let few_scans = Limits { max_scans: 2, ..Limits::default() };
    for (limits, remedy) in [(few_pixels, "max_pixels"), (few_scans, "max_scans")] {
        let Err(error @ JpegError::TooLarge { .. }) = decode(&bytes, &limits) else {
            panic!("{remedy} was ignored")
        };
        assert!(error.to_string().contains(remedy), "{error}");
    }
}

#[test]
fn a_request_that_does_not_fit_is_an_error() {
    let bytes = Jpeg::new(SamplingFactor::F_2_2).picture(20, 20, SEED);
    let header = parse_header(&bytes).expect("a sound file");
    let mut data = vec![0; 20 * 20 * 3 - 1];
    let limits = Limits::default();
    for region in [Rect::new(0, 0, 20, 20), Rect::new(-1, 0, 2, 2), Rect::new(19, 19, 2, 1)] {
        let mut out = PixelsMut { data: &mut data, stride: 60 };
        let result = Decoder::new().decode_into(&bytes, &header, region, &limits, &mut out);
        assert!(matches!(result, Err(JpegError::Request { .. })), "{region:?}");
    }
    let other = Jpeg::new(SamplingFactor::F_1_1).picture(20, 20, SEED);
    let mut out = PixelsMut { data: &mut data, stride: 60 };
    let result = Decoder::new().decode_into(&other, &header, Rect::new(0, 0, 4, 4), &limits, &mut out);
    assert!(matches!(result, Err(JpegError::Request { .. })));
}

#[test]
fn a_decoder_that_met_a_bad_file_decodes_the_next_one() {
    let sound = Jpeg::new(SamplingFactor::F_2_2).picture(50, 50, SEED);
    let expected = decode(&sound, &Limits::default()).expect("a sound file");
    let header = parse_header(&sound).expect("a sound file");
    let mut decoder = Decoder::new();
    let mut data = vec![0; expected.len()];
    for end in (0..sound.len()).step_by(97).chain([sound.len()]) {
        let mut out = PixelsMut { data: &mut data, stride: 150 };
        let _ = decoder.decode_into(&sound[..end], &header, header.size.rect(), &Limits::default(), &mut out);
    }
    assert!(data == expected);
}
