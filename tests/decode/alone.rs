//! Files that are decoded without a loader: upright, in part, smaller, and many at once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::images::files::{Png, exif, extended_webp, webp};
use feedline::decode::{
    FileError, Format, Header, ImageError, Job, Limits, PixelsMut, RgbImage, Scale, Scaling, Settings,
    decode, decode_batch, decode_batch_into, decode_file, decode_into, read_batch,
};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::{Decoder, Image, Part, parse_header};
use feedline::policy::Damaged;
use feedline_test_support::jpeg::{ColorType, Jpeg, SamplingFactor};
use std::path::{Path, PathBuf};

/// A file of each kind with the EXIF orientation `tag`, of 53 stored columns and 37 rows.
fn files(tag: u8) -> Vec<Vec<u8>> {
    let jpeg = Jpeg { orientation: tag, ..Jpeg::new(SamplingFactor::F_2_2) };
    let png = Png { width: 53, height: 37, color: 2, depth: 8, interlaced: false };
    let levels = |x: u32, y: u32, c: u32| (x * 3 + y * 5 + c * 70) as u16 & 0xFF;
    let pixels: Vec<u8> =
        (0..37 * 53).flat_map(|at| (0..3).map(move |c| levels(at % 53, at / 53, c) as u8)).collect();
    let still = webp(53, 37, &pixels)[20..].to_vec();
    vec![
        jpeg.picture(53, 37, 1),
        Jpeg { progressive: true, ..jpeg }.picture(53, 37, 2),
        Jpeg { color: ColorType::Luma, ..jpeg }.picture(53, 37, 3),
        png.file(levels, &[(b"eXIf", &exif(tag))]),
        Png { interlaced: true, ..png }.file(levels, &[(b"eXIf", &exif(tag))]),
        extended_webp(53, 37, 0x08, &[(b"VP8L", still), (b"EXIF", exif(tag))]),
    ]
}

/// The slow way: all of the stored image, turned pixel by pixel.
fn upright(file: &[u8], orientation: Orientation) -> RgbImage {
    let header = parse_header(file).unwrap();
    let mut image = Image::default();
    Decoder::new(Limits::default()).decode(file, &header, header.size.rect(), &mut image).unwrap();
    let size = orientation.apply_size(header.size);
    let seen =
        (0..size.height).flat_map(|y| (0..size.width).map(move |x| Rect::new(x as i32, y as i32, 1, 1)));
    let data = seen.flat_map(|seen| {
        let from = orientation.to_stored(seen, size);
        image.data[from.y as usize * image.stride + from.x as usize * 3..][..3].to_vec()
    });
    RgbImage { size, data: data.collect(), damage: None }
}

fn part(image: &RgbImage, region: Rect) -> RgbImage {
    let row = |y: i64| (y as usize * image.size.width as usize + region.x as usize) * 3;
    let rows = i64::from(region.y)..region.bottom();
    let data = rows.flat_map(|y| image.data[row(y)..][..region.width as usize * 3].to_vec());
    RgbImage { size: region.size(), data: data.collect(), damage: None }
}

#[test]
fn every_format_is_decoded_upright_and_in_part() {
    for tag in 1..=8 {
        for (kind, file) in files(tag).iter().enumerate() {
            let orientation = Orientation::from_exif(tag.into());
            let whole = decode(file, &Settings::default()).unwrap();
            assert!(whole == upright(file, orientation), "kind {kind}, orientation {tag}");
            let stored = decode(file, &Settings::default().exif(false)).unwrap();
            assert!(stored == upright(file, Orientation::UPRIGHT), "kind {kind}, orientation {tag}");
            for region in [Rect::new(0, 0, 1, 1), Rect::new(5, 3, 30, 34), Rect::new(36, 20, 1, 17)] {
                let found = decode(file, &Settings::default().region(region)).unwrap();
                assert!(found == part(&whole, region), "kind {kind}, orientation {tag}, {region:?}");
            }
        }
    }
}

#[test]
fn a_smaller_scale_is_that_of_the_decoder_turned_upright() {
    for tag in 1..=8 {
        let file = &files(tag)[0];
        for scale in Scale::ALL {
            let small = decode(file, &Settings::default().scale(scale)).unwrap();
            let mut header = parse_header(file).unwrap();
            let stored = scale.apply(header.size);
            let orientation = header.orientation;
            assert_eq!(small.size, orientation.apply_size(stored));
            header.orientation = Orientation::UPRIGHT;
            let mut image = Image::default();
            let whole = Part { scale, region: stored.rect() };
            Decoder::default().decode_part(file, &header, whole, None, &mut image).unwrap();
            for (at, seen) in small.data.chunks_exact(3).enumerate() {
                let (x, y) = (at as u32 % small.size.width, at as u32 / small.size.width);
                let from = orientation.to_stored(Rect::new(x as i32, y as i32, 1, 1), small.size);
                let expected = &image.data[from.y as usize * image.stride + from.x as usize * 3..][..3];
                assert_eq!(seen, expected, "{scale:?}, orientation {tag}, {x} {y}");
            }
        }
    }
}

#[test]
fn a_header_tells_what_a_decode_gives() {
    for tag in 1..=8 {
        for file in files(tag) {
            let header = Header::read(&file).unwrap();
            assert_eq!((header.stored, header.orientation.to_exif()), (Size::new(53, 37), tag.into()));
            assert_eq!(header.size, decode(&file, &Settings::default()).unwrap().size);
            let region = Settings::default().region(Rect::new(3, 2, 31, 30));
            for scale in [Scaling::Fixed(Scale::Full), Scaling::AtLeast(Size::new(7, 7))] {
                let settings = region.clone().scale(scale);
                assert_eq!(header.decoded_size(&settings).unwrap(), decode(&file, &settings).unwrap().size);
            }
        }
    }
}

#[test]
fn a_header_tells_how_pixels_are_stored() {
    let told = |file: &[u8]| {
        let header = Header::read(file).unwrap();
        (header.format, header.components, header.bits, header.progressive, header.sampling.map(|s| s.name()))
    };
    let jpeg = Jpeg::new(SamplingFactor::F_2_1);
    assert_eq!(told(&jpeg.picture(9, 7, 1)), (Format::Jpeg, 3, 8, false, Some("4:2:2")));
    let many = Jpeg { progressive: true, color: ColorType::Cmyk, ..Jpeg::new(SamplingFactor::F_1_1) };
    assert_eq!(told(&many.picture(9, 7, 1)), (Format::Jpeg, 4, 8, true, Some("4:4:4")));
    let grey = Jpeg { color: ColorType::Luma, ..jpeg };
    assert_eq!(told(&grey.picture(9, 7, 1)), (Format::Jpeg, 1, 8, false, Some("grey")));
    for (color, depth, components) in [(0, 1, 1), (2, 16, 3), (3, 4, 1), (4, 8, 2), (6, 16, 4)] {
        for interlaced in [false, true] {
            let png = Png { width: 4, height: 3, color, depth, interlaced };
            assert_eq!(told(&png.file(|_, _, _| 0, &[])), (Format::Png, components, depth, interlaced, None));
        }
    }
    assert_eq!(told(&webp(2, 1, &[9; 6])), (Format::WebP, 3, 8, false, None));
    assert_eq!(told(&webp(2, 1, &[9; 8])), (Format::WebP, 4, 8, false, None));
    let extended = |flags| extended_webp(2, 1, flags, &[(b"VP8L", webp(2, 1, &[9; 6])[20..].to_vec())]);
    assert_eq!(told(b"P5 2 1 200 ab"), (Format::Pnm, 1, 8, false, None));
    assert_eq!(told(b"P6 1 1 256 abcdef"), (Format::Pnm, 3, 16, false, None));
    assert_eq!((told(&extended(0)).1, told(&extended(0x10)).1), (3, 4));
}

#[test]
fn rows_may_lie_apart_and_what_lies_between_them_stays() {
    for tag in [1, 2, 6] {
        let file = &files(tag)[0];
        let packed = decode(file, &Settings::default()).unwrap();
        let (row, height) = (packed.size.width as usize * 3, packed.size.height as usize);
        let stride = row + 5;
        let mut data = vec![77; stride * height - 5];
        let out = PixelsMut { data: &mut data, stride };
        assert_eq!(decode_into(file, &Settings::default(), out).unwrap().size, packed.size);
        for (found, expected) in data.chunks(stride).zip(packed.data.chunks_exact(row)) {
            assert_eq!(found[..row], *expected);
            assert!(found[row..].iter().all(|&level| level == 77));
        }
        let too_small = PixelsMut { data: &mut data[1..], stride };
        let error = decode_into(file, &Settings::default(), too_small).unwrap_err();
        assert_eq!(error, ImageError::Room { size: packed.size });
        let too_narrow = PixelsMut { data: &mut data, stride: row - 1 };
        assert!(matches!(decode_into(file, &Settings::default(), too_narrow), Err(ImageError::Room { .. })));
    }
}

#[test]
fn limits_and_damage_are_the_loaders() {
    let sound = Jpeg::new(SamplingFactor::F_1_1).picture(64, 64, 5);
    let mut damaged = sound.clone();
    let middle = sound.len() / 2;
    damaged[middle..][..2].copy_from_slice(&[0xFF, 0x01]);
    let cut = &sound[..middle];
    let with = |damaged| Settings::default().limits(Limits { damaged, ..Limits::default() });
    assert!(decode(&damaged, &with(Damaged::Refuse)).is_err());
    let taken = decode(&damaged, &Settings::default()).unwrap();
    assert!(taken.damage.unwrap().to_string().contains("Corrupt JPEG data"));
    assert!(
        decode(&sound, &Settings::default()).unwrap().damage.is_none(),
        "that of the file before is gone"
    );
    assert!(decode(cut, &with(Damaged::Torchvision)).unwrap_err().to_string().contains("truncated"));
    assert!(decode(cut, &with(Damaged::Libjpeg)).unwrap().damage.is_some());
    let small = Settings::default().limits(Limits { max_pixels: 4095, ..Limits::default() });
    assert!(decode(&sound, &small).unwrap_err().to_string().contains("max_pixels"));
    assert!(decode(&sound, &Settings::default()).is_ok(), "the limits were those of one call");
}

#[test]
fn a_batch_has_the_results_of_single_files_in_their_order() {
    let mut batch: Vec<Vec<u8>> = (1..=8).flat_map(files).collect();
    batch.insert(5, b"no image".to_vec());
    batch.push(Vec::new());
    let settings = Settings::default();
    let expected: Vec<_> = batch.iter().map(|file| decode(file, &settings)).collect();
    for threads in [Some(1), Some(2), Some(7), Some(0), None] {
        assert!(decode_batch(&batch, &settings, threads) == expected, "{threads:?}");
    }
    assert!(decode_batch(&[] as &[&[u8]], &settings, None).is_empty());
    let mut room = vec![vec![0; 53 * 37 * 3]; batch.len()];
    let jobs = |room: &mut [Vec<u8>]| -> Vec<_> {
        let out = |file, data| {
            let size = Header::read(file).map_or(Size::default(), |header| header.size);
            PixelsMut { data, stride: size.width as usize * 3 }
        };
        let pairs = batch.iter().zip(room);
        let jobs =
            pairs.map(|(bytes, data)| Job { bytes, settings: settings.clone(), out: out(bytes, data) });
        // Memory has no other lifetime here than the jobs.
        decode_batch_into(jobs.collect(), Some(3), &mut || true).unwrap()
    };
    let results = jobs(&mut room);
    for ((result, expected), data) in results.into_iter().zip(&expected).zip(&room) {
        match (result, expected) {
            (Ok(written), Ok(image)) => assert!(written.size == image.size && *data == image.data),
            (Err(error), Err(expected)) => assert_eq!(error, *expected),
            (found, expected) => panic!("{found:?}, but alone {expected:?}"),
        }
    }
}

#[test]
fn files_are_decoded_by_their_paths() {
    let photo = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos/cat/0000.jpg"));
    let bytes = std::fs::read(&photo).unwrap();
    assert!(
        decode_file(&photo, &Settings::default()).unwrap() == decode(&bytes, &Settings::default()).unwrap()
    );
    assert_eq!(Header::of_file(&photo).unwrap(), Header::read(&bytes).unwrap());
    let missing = photo.with_file_name("none.jpg");
    let refused = decode_file(&missing, &Settings::default()).unwrap_err();
    assert!(
        matches!(refused, FileError::Io(_)) && refused.to_string().contains("check the path"),
        "{refused}"
    );
    assert!(matches!(Header::of_file(&missing), Err(FileError::Io(_))));
    let read = read_batch(&[&photo, &missing, Path::new(env!("CARGO_MANIFEST_DIR"))], Some(2), &mut || true);
    let read = read.unwrap();
    assert!(*read[0].as_ref().unwrap() == bytes && read[1].is_err() && read[2].is_err());
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.jpg");
    std::fs::write(&text, "no image").unwrap();
    let refused = decode_file(&text, &Settings::default()).unwrap_err();
    assert!(matches!(refused, FileError::Image(ImageError::NotAnImage { .. })), "{refused}");
}

#[test]
fn a_header_of_more_than_its_usual_bytes_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    let jpeg = Jpeg::new(SamplingFactor::F_2_2).picture(53, 37, 1);
    let padding: Vec<u8> = [&[0xFF, 0xEC, 0xFF, 0xFF][..], &[0; 0xFFFD]].concat();
    let long = [&jpeg[..2], &padding, &padding, &jpeg[2..]].concat();
    // The chunk that turns it stands behind 100 KiB of others.
    let png = Png { width: 53, height: 37, color: 2, depth: 8, interlaced: false };
    let turned = png.file(|_, _, _| 0, &[(b"prVt", &[0; 100 << 10]), (b"eXIf", &exif(6))]);
    for file in [long, turned] {
        std::fs::write(&path, &file).unwrap();
        assert_eq!(Header::of_file(&path).unwrap(), Header::read(&file).unwrap());
    }
    assert_eq!(Header::of_file(&path).unwrap().size, Size::new(37, 53));
}

#[test]
fn a_long_file_that_is_no_image_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    for head in [&b"no image"[..], b"GIF89a"] {
        std::fs::write(&path, head).unwrap();
        // Of more bytes than there is memory for, and nearly all of them nowhere.
        std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 43).unwrap();
        let refused = Header::of_file(&path).unwrap_err();
        let is_seen = |error: &ImageError| {
            matches!(error, ImageError::NotAnImage { .. } | ImageError::Unsupported { .. })
        };
        assert!(matches!(&refused, FileError::Image(error) if is_seen(error)), "{refused}");
    }
}
