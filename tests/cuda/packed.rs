//! Files of coefficients on the device: the CPU decoder's pixels in every value, whole and in part; and what is damaged is found by
//! both or by none.

use crate::pictures::{files_below, flat_png};
use crate::scenario::{Outcome, Scenario};
use feedline::coefficients::{Converter, Profile};
use feedline::device::cuda::ImageDecoder;
use feedline::device::cuda::jpeg::{FilePart, LeftOut, ParallelDecoder};
use feedline::geometry::{Rect, Size};
use feedline::image::{Decoder, Image, Limits, parse_header};
use feedline_test_support::jpeg::{ColorType, Jpeg, SAMPLINGS};
use feedline_test_support::noise::Noise;
use feedline_test_support::packed::mend_checksums;
use feedline_test_support::scribble::Scribble;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("packed: every sampling, size and profile is decoded to the CPU's pixels", every_sampling)
        .decides(),
    Scenario::new("packed: coefficients of every size are decoded to the CPU's pixels", scribbles).decides(),
    Scenario::new("packed: what the device takes of damaged files is what the CPU takes", damaged).decides(),
    Scenario::new("packed: photographs are decoded to the CPU's pixels", photographs).decides(),
    Scenario::new(
        "packed: a PNG that claims a huge image is refused, and costs its neighbours nothing",
        beside_others,
    )
    .decides(),
    Scenario::new("packed: four components, and more than ten blocks an MCU, are left to the CPU", left_out)
        .decides(),
];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const PROFILES: [Profile; 2] = [Profile::Small, Profile::Fast];

/// A file of coefficients.
struct Packed {
    name: String,
    bytes: Vec<u8>,
    size: Size,
}

/// The file of a JPEG's coefficients.
pub(crate) fn packed(jpeg: &[u8], profile: Profile) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Converter::new(&Limits::default(), profile).convert(jpeg, &mut bytes)?;
    Ok(bytes)
}

impl Packed {
    fn new(name: String, jpeg: &[u8], profile: Profile) -> Result<Self> {
        let bytes = packed(jpeg, profile)?;
        let size = parse_header(&bytes)?.size;
        Ok(Self { name: format!("{name}, {profile:?}"), bytes, size })
    }
}

fn open() -> Result<ParallelDecoder> {
    Ok(ParallelDecoder::open(0, 256 << 20).map_err(|cause| cause.to_string())?)
}

fn by_cpu(bytes: &[u8], region: Rect) -> Result<Image> {
    let mut image = Image::default();
    Decoder::new(Limits::default()).decode(bytes, &parse_header(bytes)?, region, &mut image)?;
    Ok(image)
}

/// The number of a region that is drawn; the first is all of the image.
fn region(size: Size, number: usize, noise: &mut Noise) -> Rect {
    let mut below = |limit: u32| noise.bits() % limit.max(1);
    let (x, y) = (below(size.width), below(size.height));
    let (width, height) = (1 + below(size.width - x), 1 + below(size.height - y));
    match number {
        0 => size.rect(),
        _ => Rect::new(x as i32, y as i32, width, height),
    }
}

/// Compares each file whole, and so many regions of it; FEEDLINE_TEST_REGIONS=N makes that N.
fn compare(files: &[Packed], regions: usize) -> Outcome {
    let regions = std::env::var("FEEDLINE_TEST_REGIONS").map_or(Ok(regions), |count| count.parse())?;
    let (mut decoder, mut noise) = (open()?, Noise(5));
    for number in 0..=regions {
        let regions: Vec<Rect> = files.iter().map(|file| region(file.size, number, &mut noise)).collect();
        let pairs = files.iter().zip(&regions);
        let parts: Vec<FilePart<'_>> = pairs
            .map(|(Packed { bytes, .. }, &region)| FilePart { bytes, region: Some(region), index: None })
            .collect();
        let decoded = decoder.decode(&parts).map_err(|cause| cause.to_string())?;
        for ((file, region), decoded) in files.iter().zip(regions).zip(decoded) {
            let decoded = decoded.unwrap_or_else(|why| panic!("{}, {region:?}: {why}", file.name));
            let wanted = by_cpu(&file.bytes, region)?;
            assert_eq!(decoded.image.orientation, wanted.orientation, "{}", file.name);
            let bytes = region.width as usize * 3;
            for row in 0..region.height as usize {
                let [found, wanted] =
                    [&decoded.image, &wanted].map(|image| &image.data[row * image.stride..][..bytes]);
                assert!(found == wanted, "{}, {region:?}, row {row}", file.name);
            }
        }
    }
    Ok(())
}

fn every_sampling() -> Outcome {
    let mut files = Vec::new();
    let kinds = [(false, ColorType::Rgb), (true, ColorType::Rgb), (false, ColorType::Luma)];
    for (sampling, name) in SAMPLINGS {
        for (width, height) in [(1, 1), (7, 9), (17, 33), (2, 40), (97, 70), (290, 40)] {
            for (number, (progressive, color)) in kinds.into_iter().enumerate() {
                let jpeg = Jpeg { progressive, color, quality: [85, 30, 99][number], ..Jpeg::new(sampling) };
                let picture = jpeg.picture(width, height, u32::from(width));
                let what = format!("{name} {width}x{height}, progressive {progressive}, {color:?}");
                files.push(Packed::new(what, &picture, PROFILES[(number + usize::from(width)) % 2])?);
            }
        }
    }
    files.chunks(64).try_for_each(|files| compare(files, 4))
}

/// Of all sizes, so that each kind of code, and the lists of those that none holds, are there; of samplings by three, and of chroma
/// that is denser than luma.
fn scribbles() -> Outcome {
    let layouts: [&[(u8, u8)]; 8] = [
        &[(1, 1)],
        &[(1, 1), (1, 1), (1, 1)],
        &[(2, 2), (1, 1), (1, 1)],
        &[(4, 2), (1, 1), (1, 1)],
        &[(3, 1), (1, 1), (1, 1)],
        &[(1, 3), (1, 1), (1, 3)],
        &[(2, 2), (2, 1), (1, 1)],
        &[(1, 1), (2, 2), (1, 2)],
    ];
    let mut files = Vec::new();
    for (number, factors) in layouts.into_iter().enumerate() {
        for (kind, coefficients) in [0, 6, 30, 63].into_iter().enumerate() {
            for (width, height) in [(3, 40), (37, 39), (300, 20)] {
                let seed = (number * 100 + kind * 10) as u32 + u32::from(width);
                let rgb = kind == 3 && factors.len() == 3;
                let scribble =
                    Scribble { factors: factors.to_vec(), rgb, coefficients, seed, ..Scribble::default() };
                let jpeg = scribble.file(width, height);
                let name = format!("{width}x{height} {scribble:?}");
                for profile in PROFILES {
                    files.push(Packed::new(name.clone(), &jpeg, profile)?);
                }
            }
        }
    }
    for profile in PROFILES {
        for color in [ColorType::Luma, ColorType::Rgb] {
            files.push(Packed::new(format!("stark {color:?}"), &stark(color, 300, 40), profile)?);
        }
    }
    files.chunks(64).try_for_each(|files| compare(files, 3))
}

/// Bytes that were changed, behind checksums that are right again; and some bytes cut off. FEEDLINE_TEST_FLIPS=N makes that N
/// changes of each file.
fn damaged() -> Outcome {
    let flips: usize = std::env::var("FEEDLINE_TEST_FLIPS").map_or(Ok(150), |count| count.parse())?;
    let sound = [
        packed(&Jpeg::new(SAMPLINGS[3].0).picture(90, 70, 1), Profile::Small)?,
        packed(&Jpeg::new(SAMPLINGS[0].0).picture(300, 17, 2), Profile::Fast)?,
        packed(&Scribble { coefficients: 40, ..Scribble::default() }.file(64, 40), Profile::Small)?,
        packed(&stark(ColorType::Rgb, 50, 20), Profile::Small)?,
    ];
    let mut noise = Noise(77);
    let mut files = Vec::new();
    for bytes in &sound {
        for number in 0..flips {
            let mut file = bytes.clone();
            for _ in 0..1 + noise.bits() % 2 {
                let at = 20 + noise.bits() as usize % (file.len() - 20);
                file[at] = match number % 3 {
                    0 => file[at] ^ 1 << (noise.bits() % 8),
                    1 => noise.bits() as u8,
                    _ => [0, 0xFF][noise.bits() as usize % 2],
                };
            }
            // Every fifth one keeps its wrong checksum.
            if number % 5 != 0 {
                mend_checksums(&mut file);
            }
            files.push(file);
        }
        files.extend((1..bytes.len()).step_by(bytes.len() / 9).map(|length| bytes[..length].to_vec()));
    }
    files.push(with_patches_in_another_order()?);
    let (mut decoder, mut taken) = (open()?, 0);
    for number in 0..2 {
        let region =
            |bytes: &[u8]| Some(region(parse_header(bytes).ok()?.size, number, &mut Noise(number as u32)));
        let bytes = files.iter().map(Vec::as_slice);
        let parts = bytes.map(|bytes| FilePart { bytes, region: region(bytes), index: None });
        let parts: Vec<FilePart<'_>> = parts.collect();
        let decoded = decoder.decode(&parts).map_err(|cause| cause.to_string())?;
        for ((file, part), decoded) in files.iter().zip(&parts).zip(decoded) {
            let wanted = part.region.map(|region| by_cpu(file, region));
            let by_both = decoded.is_ok() == matches!(wanted, Some(Ok(_)));
            let (device, cpu) =
                (decoded.as_ref().err(), wanted.as_ref().and_then(|wanted| wanted.as_ref().err()));
            assert!(by_both, "{file:?}, {:?}: {device:?} and {cpu:?}", part.region);
            if let (Ok(decoded), Some(Ok(wanted))) = (decoded, wanted) {
                taken += 1;
                assert!(decoded.image.data == wanted.data, "{file:?}, {:?}", part.region);
            }
        }
    }
    println!("{taken} of {} damaged files were taken", 2 * files.len());
    assert!((files.len() / 5..2 * files.len() * 4 / 5).contains(&taken));
    Ok(())
}

/// Black and white, pixel by pixel, with factors of 1: coefficients that no byte holds.
fn stark(color: ColorType, width: u16, height: u16) -> Vec<u8> {
    let jpeg = Jpeg { color, quality: 100, ..Jpeg::new(SAMPLINGS[0].0) };
    let (mut noise, count) = (Noise(9), usize::from(width) * usize::from(height) * jpeg.channels() as usize);
    let pixels: Vec<u8> = (0..count).map(|_| if noise.bits() & 0x100 == 0 { 0 } else { 255 }).collect();
    jpeg.file(&pixels, width, height)
}

/// A file of one group that ends with two large values or more, of which the last two stand in the wrong order.
fn with_patches_in_another_order() -> Result<Vec<u8>> {
    let mut file = packed(&stark(ColorType::Luma, 32, 8), Profile::Fast)?;
    let end = file.len() - 64;
    let place = |at: usize| u16::from_le_bytes([file[at], file[at + 1]]);
    assert!(place(end - 8) < place(end - 4) && place(end - 4) < 4 * 64, "the last two are patches");
    file[end - 8..end].rotate_left(4);
    mend_checksums(&mut file);
    assert!(by_cpu(&file, Rect::new(0, 0, 32, 8)).is_err());
    Ok(file)
}

/// Some of the bundled ones; FEEDLINE_TEST_JPEGS=FOLDER makes that all below a folder.
fn photographs() -> Outcome {
    let folder = std::env::var("FEEDLINE_TEST_JPEGS");
    let step = if folder.is_ok() { 1 } else { 7 };
    let paths = files_below(folder.as_deref().unwrap_or("data/photos"))?;
    let mut files = Vec::new();
    for (number, path) in paths.iter().step_by(step).enumerate() {
        let jpeg = std::fs::read(path)?;
        match Packed::new(path.display().to_string(), &jpeg, PROFILES[number % 2]) {
            Ok(file) if parse_header(&jpeg)?.jpeg.is_some_and(|jpeg| jpeg.components < 4) => files.push(file),
            _ => {}
        }
    }
    println!("{} of {} files", files.len(), paths.len());
    assert!(files.len() > 3);
    files.chunks(20).try_for_each(|files| compare(files, 4))
}

fn left_out() -> Outcome {
    let inks = Jpeg { color: ColorType::Cmyk, ..Jpeg::new(SAMPLINGS[0].0) }.picture(40, 30, 1);
    // In several scans, a JPEG may have more blocks to an MCU. Of one row of blocks the groups stand in the same order.
    let dense = Jpeg { progressive: true, ..Jpeg::new(SAMPLINGS[0].0) }.picture(40, 8, 1);
    let files = [packed(&inks, Profile::Small)?, with_factors(packed(&dense, Profile::Small)?)];
    let parts = files.each_ref().map(|bytes| FilePart { bytes, region: None, index: None });
    for bytes in &files {
        by_cpu(bytes, parse_header(bytes)?.size.rect())?;
    }
    let decoded = open()?.decode(&parts).map_err(|cause| cause.to_string())?;
    let why: Vec<Option<LeftOut>> = decoded.into_iter().map(|decoded| decoded.err()).collect();
    assert_eq!(why, [Some(LeftOut::Components), Some(LeftOut::Uncut)]);
    Ok(())
}

fn beside_others() -> Outcome {
    let jpeg = Jpeg::new(SAMPLINGS[3].0).picture(40, 30, 1);
    let mut png = flat_png(5, 5);
    // Width and height, ahead of the checksum that a header's reader does not look at.
    png[16..24].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]);
    assert!(parse_header(&png)?.size.pixels() > 1 << 60);
    let files = [png, jpeg.clone(), packed(&jpeg, Profile::Small)?];
    let decoded = ImageDecoder::open_own(0, 64 << 20)?.decode(&files.each_ref().map(Vec::as_slice), None)?;
    let [Err(refused), Ok(of_jpeg), Ok(of_packed)] = &decoded[..] else { panic!("{decoded:?}") };
    assert!(refused.to_string().contains("decode it on the CPU"), "{refused}");
    assert!(of_jpeg.image.data == of_packed.image.data);
    Ok(())
}

/// The same file with factors of 2 by 2 for each component.
fn with_factors(mut file: Vec<u8>) -> Vec<u8> {
    (0..3).for_each(|component| file[20 + 4 * component] = 0x22);
    mend_checksums(&mut file);
    file
}
