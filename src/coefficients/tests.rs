//! Whole files: pixels are the JPEG's, whole and in regions, at every scale and vector level.

use super::*;
use crate::geometry::{Rect, Size};
use crate::jpeg::{self, JpegError, Limits, Part, PixelsMut, Scale};
use crate::policy::Damaged;
use crate::rng::{Draws, Rng};
use crate::simd::{Level, Vectors, levels};
use feedline_test_support::jpeg::{ColorType, Jpeg, SAMPLINGS};
use feedline_test_support::scribble::Scribble;
use std::collections::BTreeMap;
use std::path::Path;

const PROFILES: [Profile; 2] = [Profile::Small, Profile::Fast];
/// Factors that only [`Scribble`] writes: of 3, of three sizes in one file, and chroma that is denser than luma.
const FACTORS: [&[(u8, u8)]; 12] = [
    &[(3, 1), (1, 1), (1, 1)],
    &[(1, 3), (1, 1), (1, 1)],
    &[(3, 2), (1, 1), (1, 1)],
    &[(3, 2), (1, 1), (3, 1)],
    &[(1, 3), (1, 1), (1, 3)],
    &[(1, 1), (3, 1), (1, 3)],
    &[(1, 1), (2, 2), (1, 2)],
    &[(1, 1), (2, 1), (2, 1)],
    &[(1, 2), (2, 1), (1, 1)],
    &[(2, 2), (2, 1), (1, 1)],
    &[(1, 4), (1, 2), (1, 1)],
    &[(3, 3)],
];

/// Files of every kind that can be made here, with their names.
fn generated(sizes: &[(u16, u16)]) -> Vec<(String, Vec<u8>)> {
    let colors = [ColorType::Luma, ColorType::Cmyk, ColorType::CmykAsYcck, ColorType::Ycck];
    let sampled = SAMPLINGS.into_iter().map(|(sampling, _)| Jpeg::new(sampling));
    let kinds = sampled.chain(colors.map(|color| Jpeg { color, ..Jpeg::default() })).flat_map(|kind| {
        let progressive = Jpeg { progressive: true, orientation: 6, ..kind };
        // Factors of 1: coefficients that take more than eight bits.
        [progressive, Jpeg { quality: 100, ..kind }, Jpeg { quality: 30, restart: 3, ..kind }]
    });
    let kinds: Vec<Jpeg> = kinds.collect();
    let mut files = Vec::new();
    for &(width, height) in sizes {
        for kind in &kinds {
            files.push((format!("{width}x{height} {kind:?}"), kind.picture(width, height, 5)));
        }
        for (seed, factors) in (0..).zip(FACTORS) {
            for coefficients in [6, 30] {
                let scribble =
                    Scribble { factors: factors.to_vec(), coefficients, seed, ..Scribble::default() };
                files.push((format!("{width}x{height} {scribble:?}"), scribble.file(width, height)));
            }
        }
    }
    files
}

/// The JPEGs below a folder, with their names.
fn jpegs(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            jpegs(&path, files);
        } else if let Some(bytes) = std::fs::read(&path).ok().filter(|bytes| bytes.starts_with(&[0xFF, 0xD8]))
        {
            files.push((path.display().to_string(), bytes));
        }
    }
}

/// Packed RGB of a whole image at one scale.
struct Pixels {
    size: Size,
    data: Vec<u8>,
}

impl Pixels {
    fn of_jpeg(jpeg: &mut jpeg::Decoder, bytes: &[u8], header: &jpeg::Header, scale: Scale) -> Self {
        let size = scale.apply(header.size);
        let mut data = vec![0; size.pixels() as usize * 3];
        let out = &mut PixelsMut { data: &mut data, stride: size.width as usize * 3 };
        let part = Part { scale, region: size.rect() };
        jpeg.decode_part(bytes, header, part, &Limits::default(), out, None).unwrap();
        Self { size, data }
    }

    /// Whether `found` is this region, row by row.
    fn has(&self, region: Rect, found: &[u8]) -> bool {
        let (row, stride) = (region.width as usize * 3, self.size.width as usize * 3);
        let first = region.y as usize * stride + region.x as usize * 3;
        found.chunks(row).enumerate().all(|(y, found)| self.data[first + y * stride..][..row] == *found)
    }
}

/// Compares files of coefficients with the JPEGs that they are made of, and counts what was compared.
struct Comparison {
    /// One of each profile.
    converters: [Converter; 2],
    jpeg: jpeg::Decoder,
    levels: Vec<(Level, Decoder)>,
    found: Vec<u8>,
    rng: Rng,
    files: usize,
    /// Decodes, each of a profile at a scale and a level.
    whole: usize,
    /// Regions, each at all levels.
    regions: usize,
    /// Files that are not converted, by the reason.
    refused: BTreeMap<&'static str, usize>,
}

impl Comparison {
    fn new() -> Self {
        let converters = PROFILES.map(|profile| Converter::new(&Limits::default(), profile));
        let levels = levels().map(|level| (level, Decoder::with(Vectors::detected(level)))).collect();
        let (found, rng, refused) = (Vec::new(), Rng::new(5, 0, 0, 0), BTreeMap::new());
        let jpeg = jpeg::Decoder::new();
        Self { converters, jpeg, levels, found, rng, files: 0, whole: 0, regions: 0, refused }
    }

    /// The whole image and so many random regions, at all levels.
    fn compare(&mut self, name: &str, bytes: &[u8], regions: usize) {
        self.files += 1;
        let converted = self.converters.each_mut().map(|converter| {
            let mut file = Vec::new();
            converter.convert(bytes, &mut file).map(|()| file)
        });
        let files = match converted {
            [Ok(small), Ok(fast)] => [small, fast],
            [Err(error), _] | [_, Err(error)] => {
                let reason = self.reason(name, bytes, &error);
                *self.refused.entry(reason).or_default() += 1;
                return;
            }
        };
        let header = jpeg::parse_header(bytes).unwrap();
        let wanted = Scale::ALL.map(|scale| Pixels::of_jpeg(&mut self.jpeg, bytes, &header, scale));
        for (file, profile) in files.iter().zip(PROFILES) {
            let own = parse_header(file).unwrap();
            let known = (header.size, header.orientation, header.color);
            assert_eq!((own.size, own.orientation, own.color), known, "{name} {profile:?}");
            for (scale, wanted) in Scale::ALL.into_iter().zip(&wanted) {
                let part = Part { scale, region: wanted.size.rect() };
                self.whole += self.levels.len();
                self.compare_part((name, profile), file, &own, part, wanted);
            }
        }
        for number in 0..regions {
            let profile = number % 2;
            let own = parse_header(&files[profile]).unwrap();
            // Half of them at full size.
            let at = if self.rng.chance(0.5) { 0 } else { self.rng.below(Scale::ALL.len() as u32) as usize };
            let part = Part { scale: Scale::ALL[at], region: self.region(wanted[at].size) };
            self.regions += 1;
            self.compare_part((name, PROFILES[profile]), &files[profile], &own, part, &wanted[at]);
        }
    }

    /// A random region: a part of any size, or a few pixels across or down.
    fn region(&mut self, size: Size) -> Rect {
        let rng = &mut self.rng;
        let mut span = |length: u32| {
            let begin = rng.below(length);
            let left = length - begin;
            let most = if rng.chance(0.3) { left.min(20) } else { left };
            (begin as i32, 1 + rng.below(most))
        };
        let ((x, width), (y, height)) = (span(size.width), span(size.height));
        Rect::new(x, y, width, height)
    }

    fn compare_part(
        &mut self,
        what: (&str, Profile),
        file: &[u8],
        header: &Header,
        part: Part,
        wanted: &Pixels,
    ) {
        for (level, decoder) in &mut self.levels {
            self.found.clear();
            self.found.resize(part.region.size().pixels() as usize * 3, 0x55);
            let out = &mut PixelsMut { data: &mut self.found, stride: part.region.width as usize * 3 };
            decoder.decode_rows(file, header, part, out).unwrap();
            assert!(wanted.has(part.region, &self.found), "{what:?} {level:?} {part:?}");
        }
    }

    /// Why a file may be refused, by the JPEG decoder's word.
    fn reason(&mut self, name: &str, bytes: &[u8], error: &ConvertError) -> &'static str {
        let strict = Limits { damaged: Damaged::Refuse, ..Limits::default() };
        let inspected = jpeg::parse_header(bytes).and_then(|header| {
            let mut data = vec![0; header.size.pixels().min(strict.max_pixels) as usize * 3];
            let out = &mut PixelsMut { data: &mut data, stride: header.size.width as usize * 3 };
            self.jpeg.inspect(bytes, &header, &strict, out).map(|damage| (damage, header.arithmetic))
        });
        match inspected {
            Ok((Some(_), _)) => "damaged in ways that the decoder survives",
            Ok((None, true)) => "arithmetic coding",
            Ok((None, false)) => panic!("{name} is a sound JPEG, and not converted: {error}"),
            Err(JpegError::Unsupported { what }) => what,
            Err(_) => "damaged or cut off",
        }
    }

    fn print(&self, what: &str) {
        let levels: Vec<Level> = self.levels.iter().map(|(level, _)| *level).collect();
        let refused: usize = self.refused.values().sum();
        println!(
            "{what}: {} files, {refused} of them rightly refused: {:?}; {} decodes of whole images at {levels:?}, and {} regions at each",
            self.files, self.refused, self.whole, self.regions
        );
    }
}

#[test]
fn whole_and_in_part_the_pixels_are_those_of_the_jpeg() {
    let mut files = Vec::new();
    jpegs(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")), &mut files);
    assert!(files.len() >= 40);
    let mut files: Vec<_> = files.into_iter().step_by(3).collect();
    files.extend(generated(&[(301, 71)]));
    let mut comparison = Comparison::new();
    files.iter().for_each(|(name, bytes)| comparison.compare(name, bytes, 6));
    comparison.print("some photographs, and files made here");
    assert!(comparison.refused.is_empty());
}

/// `FEEDLINE_TEST_JPEGS` names folders, with colons between them; without it the bundled photographs are read.
#[test]
#[ignore = "long: every file of some folders, and ten thousand regions of them"]
fn whole_corpora_have_the_pixels_of_their_jpegs() {
    const REGIONS: usize = 10_000;
    let mut comparison = Comparison::new();
    let files = generated(&[(1, 1), (8, 9), (33, 5), (37, 39), (130, 90), (611, 70)]);
    files.iter().for_each(|(name, bytes)| comparison.compare(name, bytes, 20));
    comparison.print("made here");
    assert!(comparison.refused.is_empty());

    let named = std::env::var("FEEDLINE_TEST_JPEGS").unwrap_or_else(|_| "data/photos".to_owned());
    let folders = named.split(':').map(|folder| {
        let mut files = Vec::new();
        jpegs(Path::new(folder), &mut files);
        assert!(!files.is_empty(), "no JPEG below {folder}");
        (folder, files)
    });
    let folders: Vec<_> = folders.collect();
    let total: usize = folders.iter().map(|(_, files)| files.len()).sum();
    let mut regions = 0;
    for (folder, files) in &folders {
        let mut comparison = Comparison::new();
        // A quarter more, since some files are refused.
        let each = (REGIONS + REGIONS / 4).div_ceil(total);
        files.iter().for_each(|(name, bytes)| comparison.compare(name, bytes, each));
        comparison.print(folder);
        regions += comparison.regions;
    }
    assert!(regions >= REGIONS, "{regions} regions: too many files are refused");
}
