//! Files of coefficients from outside: the pixels of their JPEGs, whole, by region and smaller, of every kind that an encoder at hand
//! can write; and what is refused.

use feedline::coefficients::{ConvertError, Converter, Profile, parse_header};
use feedline::geometry::{Orientation, Rect};
use feedline::image::{self, Decoder, Format, Image, Limits, Part, Scale};
use feedline_test_support::jpeg::{ColorType, Jpeg, SAMPLINGS, SamplingFactor};

/// Of the pictures' noise.
const SEED: u32 = 4_321;
/// Bytes behind the last segment, which hold nothing.
const TAIL: usize = 64;

fn convert(jpeg: &[u8], profile: Profile) -> Result<Vec<u8>, ConvertError> {
    let mut file = Vec::new();
    Converter::new(&Limits::default(), profile).convert(jpeg, &mut file)?;
    Ok(file)
}

fn decode(file: &[u8], part: Option<Part>) -> Result<Image, image::ImageError> {
    let (header, mut image) = (image::parse_header(file)?, Image::default());
    let part = part.unwrap_or(header.size.rect().into());
    Decoder::new(Limits::default()).decode_part(file, &header, part, None, &mut image)?;
    Ok(image)
}

/// The pixels, row by row.
fn rows(image: &Image) -> Vec<&[u8]> {
    let width = image.region.width as usize * 3;
    (0..image.region.height as usize).map(|y| &image.data[y * image.stride..][..width]).collect()
}

/// Every kind of file that an encoder at hand can write.
fn kinds() -> impl Iterator<Item = Jpeg> {
    let colors = [ColorType::Luma, ColorType::Cmyk, ColorType::CmykAsYcck, ColorType::Ycck];
    let sampled = SAMPLINGS.into_iter().map(|(sampling, _)| Jpeg::new(sampling));
    let colored = colors.into_iter().map(|color| Jpeg { color, ..Jpeg::default() });
    sampled.chain(colored).flat_map(|kind| {
        [
            Jpeg { progressive: true, orientation: 6, ..kind },
            Jpeg { restart: 3, quality: 30, ..kind },
            // Factors of 1: coefficients that take more than eight bits.
            Jpeg { quality: 100, ..kind },
        ]
    })
}

#[test]
fn every_kind_of_jpeg_keeps_its_pixels() {
    for kind in kinds() {
        for (width, height) in [(1, 1), (8, 9), (83, 71), (300, 40)] {
            let jpeg = kind.picture(width, height, SEED);
            for profile in [Profile::Small, Profile::Fast] {
                let file = convert(&jpeg, profile).unwrap();
                let (wanted, found) = (decode(&jpeg, None).unwrap(), decode(&file, None).unwrap());
                assert_eq!(rows(&found), rows(&wanted), "{kind:?} {width} {height}");
                let header = image::parse_header(&file).unwrap();
                assert_eq!(header.format, Format::Coefficients);
                assert_eq!(header.orientation, Orientation::from_exif(kind.orientation.into()));
            }
        }
    }
}

#[test]
fn regions_and_smaller_scales_have_the_pixels_of_the_jpeg() {
    for kind in kinds() {
        let jpeg = kind.picture(301, 71, SEED);
        let file = convert(&jpeg, Profile::Small).unwrap();
        for scale in Scale::ALL {
            let size = scale.apply(image::parse_header(&jpeg).unwrap().size);
            let (right, bottom) = (size.width as i32, size.height as i32);
            for region in [
                size.rect(),
                Rect::new(0, 0, 1, 1),
                Rect::new(right - 1, bottom - 1, 1, 1),
                Rect::new(right / 3, bottom / 3, size.width / 2, size.height / 2),
                Rect::new(right / 2, 0, 3, size.height),
                Rect::new(0, bottom / 2, size.width, 2),
            ] {
                let part = Part { scale, region };
                let (wanted, found) =
                    (decode(&jpeg, Some(part)).unwrap(), decode(&file, Some(part)).unwrap());
                assert_eq!(rows(&found), rows(&wanted), "{kind:?} {part:?}");
            }
        }
    }
}

#[test]
fn whatever_is_changed_or_cut_off_is_noticed() {
    let kind = Jpeg { quality: 100, ..Jpeg::new(SamplingFactor::F_2_2) };
    let file = convert(&kind.picture(70, 50, SEED), Profile::Small).unwrap();
    for length in 0..file.len() {
        let error = decode(&file[..length], None).unwrap_err().to_string();
        assert!(!error.is_empty());
    }
    for at in 0..file.len() - TAIL {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        let error = decode(&changed, None).unwrap_err().to_string();
        assert!(!error.is_empty());
    }
    assert!(parse_header(&file[..file.len() - 1]).is_ok(), "the head alone says nothing of the end");
}

#[test]
fn a_later_version_says_so() {
    let mut file = convert(&Jpeg::default().picture(9, 9, SEED), Profile::Small).unwrap();
    file[8] = 2;
    let error = decode(&file, None).unwrap_err().to_string();
    assert_eq!(error, "the file is of version 2 of the format, and version 1 is known: update feedline");
}

#[test]
fn what_cannot_be_held_exactly_is_not_converted() {
    let sound = Jpeg::default().picture(83, 71, SEED);
    let arithmetic = include_bytes!("arithmetic/sequential.jpg");
    let error = convert(arithmetic, Profile::Small).unwrap_err().to_string();
    assert!(error.contains("arithmetic coding"), "{error}");
    let cut = convert(&sound[..sound.len() / 2], Profile::Small).unwrap_err();
    assert!(matches!(cut, ConvertError::Jpeg(_)), "{cut}");
    // Bytes between the last block and the end change no pixel.
    let mut dirty = sound.clone();
    let end = dirty.len() - 2;
    dirty.splice(end..end, [0x12; 50]);
    let damaged = convert(&dirty, Profile::Small).unwrap_err();
    assert!(matches!(damaged, ConvertError::Damaged(_)), "{damaged}");
    let none = convert(b"nothing", Profile::Small).unwrap_err().to_string();
    assert!(none.contains("not a JPEG"), "{none}");
}

#[test]
fn a_header_of_another_file_is_refused() {
    let files =
        [70, 71].map(|width| convert(&Jpeg::default().picture(width, 50, SEED), Profile::Small).unwrap());
    let header = image::parse_header(&files[0]).unwrap();
    let part = Rect::new(0, 0, 8, 8);
    let error = Decoder::new(Limits::default()).decode(&files[1], &header, part, &mut Image::default());
    assert!(error.unwrap_err().to_string().contains("another file"));
}
