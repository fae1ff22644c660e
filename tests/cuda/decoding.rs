//! JPEGs decoded through nvJPEG: who decodes what, and that a bad file is nobody's trouble but its own.

use crate::pixels;
use crate::scenario::{Outcome, Scenario};
use feedline::device::cuda::{DecodedImage, ImageDecoder, Route};
use feedline::geometry::Rect;
use feedline::image::{self, Decoder, Image, Limits};
use feedline::policy::Damaged;
use feedline_test_support::jpeg::{ColorType, Jpeg, SamplingFactor};
use feedline_test_support::noise::Noise;
use std::error::Error;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("a batch of every kind is decoded to the pixels of the CPU", every_kind).swept(),
    Scenario::new("most of a batch goes to the engines", || most_by(Route::Hardware, 40)),
    Scenario::new("without engines a large batch goes to the GPU's processors", || {
        most_by(Route::GpuHuffman, 120)
    })
    .nvjpeg("engines=0"),
    Scenario::new("without engines a small batch goes to the hybrid decoder", || most_by(Route::Hybrid, 8))
        .nvjpeg("engines=0"),
    Scenario::new("a corrupt file costs its neighbours nothing", corrupt).swept(),
    Scenario::new("corrupt files do not cost the engines their place", corrupt_again),
    Scenario::new("files that the GPU does not take are given back", given_back),
    Scenario::new("a part of an image has the pixels of the whole", parts).nvjpeg("engines=0"),
    Scenario::new("engines decode whole images", whole),
    Scenario::new("an nvJPEG that is wrong at edges decodes whole images", whole).nvjpeg("version=13.2.0"),
    Scenario::new("batch after batch uses the same memory", again),
];

/// A photograph's stand-in: soft colours with some noise, so that every coefficient is used.
fn file(width: u16, height: u16, sampling: SamplingFactor, color: ColorType, progressive: bool) -> Vec<u8> {
    let jpeg = Jpeg { progressive, color, quality: 88, ..Jpeg::new(sampling) };
    let mut noise = Noise(u32::from(width) * 31 + u32::from(height));
    let count = usize::from(width) * usize::from(height) * jpeg.channels() as usize;
    let level = |at: usize| (at / 7 % 200) as u8 + (noise.bits() >> 27) as u8;
    jpeg.file(&(0..count).map(level).collect::<Vec<u8>>(), width, height)
}

fn photo(number: usize) -> Vec<u8> {
    let sampling = [SamplingFactor::F_2_2, SamplingFactor::F_1_1, SamplingFactor::F_2_1][number % 3];
    let (width, height) = (90 + 7 * (number % 5) as u16, 70 + 5 * (number % 7) as u16);
    file(width, height, sampling, ColorType::Rgb, false)
}

/// A file whose entropy-coded bytes hold a marker that does not belong there; its last marker is in its place.
fn spoiled(mut bytes: Vec<u8>) -> Vec<u8> {
    let middle = bytes.len() * 2 / 3;
    bytes[middle..middle + 2].copy_from_slice(&[0xFF, 0xC4]);
    bytes
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn open() -> Result<ImageDecoder> {
    pixels::lend_the_decoder()?;
    Ok(ImageDecoder::open(0, true)?)
}

fn by_cpu(bytes: &[u8], region: Rect) -> Result<Image> {
    let header = image::parse_header(bytes)?;
    let mut image = Image::default();
    Decoder::new(Limits { damaged: Damaged::Refuse, ..Limits::default() })
        .decode(bytes, &header, region, &mut image)?;
    Ok(image)
}

fn decode(files: &[Vec<u8>], wanted: Option<Rect>) -> Result<Vec<Result<DecodedImage>>> {
    decode_with(&mut open()?, files, wanted)
}

fn decode_with(
    decoder: &mut ImageDecoder,
    files: &[Vec<u8>],
    wanted: Option<Rect>,
) -> Result<Vec<Result<DecodedImage>>> {
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let decoded = decoder.decode(&files, wanted)?;
    Ok(decoded.into_iter().map(|decoded| decoded.map_err(|cause| -> Box<dyn Error> { cause })).collect())
}

/// The decoded image is that of the CPU, to the byte.
fn compare(bytes: &[u8], decoded: &DecodedImage) -> Outcome {
    let expected = by_cpu(bytes, decoded.image.region)?;
    let length = expected.stride * expected.region.height as usize;
    let same =
        expected.stride == decoded.image.stride && expected.data[..length] == decoded.image.data[..length];
    if same {
        Ok(())
    } else {
        Err(format!("{}: other pixels in {:?}", decoded.by, decoded.image.region).into())
    }
}

fn every_kind() -> Outcome {
    use SamplingFactor::{F_1_1, F_1_2, F_2_1, F_2_2, F_4_1};
    let mut files: Vec<Vec<u8>> = [F_1_1, F_1_2, F_2_1, F_2_2, F_4_1]
        .into_iter()
        .flat_map(|sampling| {
            [false, true].map(|progressive| file(97, 61, sampling, ColorType::Rgb, progressive))
        })
        .collect();
    files.push(file(33, 47, F_1_1, ColorType::Luma, false));
    for (bytes, decoded) in files.iter().zip(decode(&files, None)?) {
        compare(bytes, &decoded?)?;
    }
    Ok(())
}

fn most_by(route: Route, images: usize) -> Outcome {
    let files: Vec<Vec<u8>> = (0..images).map(photo).collect();
    let mut count = 0;
    for (bytes, decoded) in files.iter().zip(decode(&files, None)?) {
        let decoded = decoded?;
        count += usize::from(decoded.by == route);
        compare(bytes, &decoded)?;
    }
    if 2 * count > images { Ok(()) } else { Err(format!("{count} of {images} by {route}").into()) }
}

fn corrupt() -> Outcome {
    let mut files: Vec<Vec<u8>> = (0..12).map(photo).collect();
    files[7] = spoiled(photo(7));
    let decoded = decode(&files, None)?;
    for (number, (bytes, decoded)) in files.iter().zip(decoded).enumerate() {
        match (number, decoded) {
            (7, Err(_)) => {}
            (7, Ok(_)) => return Err("the corrupt file was decoded".into()),
            (_, decoded) => compare(bytes, &decoded?)?,
        }
    }
    Ok(())
}

/// An engine is given up where it fails and no file is to blame; a batch with a bad file must not end like that.
fn corrupt_again() -> Outcome {
    let mut decoder = open()?;
    let mut files: Vec<Vec<u8>> = (0..12).map(photo).collect();
    files[7] = spoiled(photo(7));
    for _ in 0..4 {
        decode_with(&mut decoder, &files, None)?;
    }
    let files: Vec<Vec<u8>> = (0..40).map(photo).collect();
    let decoded = decode_with(&mut decoder, &files, None)?;
    let by_engines = decoded.iter().flatten().filter(|decoded| decoded.by == Route::Hardware).count();
    if by_engines > 20 { Ok(()) } else { Err(format!("{by_engines} of 40 by the engines").into()) }
}

fn given_back() -> Outcome {
    let mut cut = photo(1);
    cut.truncate(cut.len() - 2);
    let inks = file(40, 40, SamplingFactor::F_1_1, ColorType::Cmyk, false);
    let files = [photo(0), inks, cut, b"no image".to_vec(), photo(2)];
    let decoded = decode(&files, None)?;
    for (number, (bytes, decoded)) in files.iter().zip(decoded).enumerate() {
        match decoded {
            Ok(decoded) if [0, 4].contains(&number) => compare(bytes, &decoded)?,
            Err(_) if (1..4).contains(&number) => {}
            other => return Err(format!("file {number}: {other:?}").into()),
        }
    }
    Ok(())
}

fn parts() -> Outcome {
    let wanted = Rect::new(201, 150, 60, 40);
    let large = |sampling, progressive| file(640, 480, sampling, ColorType::Rgb, progressive);
    let files = [
        large(SamplingFactor::F_2_2, false),
        large(SamplingFactor::F_1_1, false),
        large(SamplingFactor::F_2_1, true),
    ];
    for (bytes, decoded) in files.iter().zip(decode(&files, Some(wanted))?) {
        let decoded = decoded?;
        let region = decoded.image.region;
        if !region.contains(wanted) || region.width >= 640 {
            return Err(format!("{region:?} for {wanted:?}").into());
        }
        compare(bytes, &decoded)?;
    }
    Ok(())
}

fn whole() -> Outcome {
    let files = [file(640, 480, SamplingFactor::F_2_2, ColorType::Rgb, false)];
    for decoded in decode(&files, Some(Rect::new(201, 150, 60, 40)))? {
        let decoded = decoded?;
        if decoded.image.region != Rect::new(0, 0, 640, 480) {
            return Err(format!("{:?}", decoded.image.region).into());
        }
        compare(&files[0], &decoded)?;
    }
    Ok(())
}

fn again() -> Outcome {
    let mut decoder = open()?;
    for batch in 0..6 {
        let files: Vec<Vec<u8>> = (batch..batch + 9).map(photo).collect();
        for (bytes, decoded) in files.iter().zip(decode_with(&mut decoder, &files, None)?) {
            compare(bytes, &decoded?)?;
        }
    }
    Ok(())
}
