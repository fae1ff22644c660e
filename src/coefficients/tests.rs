//! Whole files: pixels are the JPEG's, whole and in regions, at every vector level.

use super::encode::Encoder;
use super::*;
use crate::geometry::{Rect, Size};
use crate::jpeg::{self, Limits, PixelsMut, Scale};
use crate::rng::{Draws, Rng};
use crate::simd::{Level, Vectors};

fn pixels(size: Size) -> Vec<u8> {
    vec![0; size.pixels() as usize * 3]
}

/// Some of the project's photographs, with their names.
fn photos() -> Vec<(String, Vec<u8>)> {
    let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")).unwrap();
    let mut paths: Vec<_> = folders
        .map(|folder| folder.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "jpg"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 40);
    paths.iter().step_by(3).map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn pixels_are_those_of_the_jpeg() {
    let limits = Limits::default();
    let (mut encoder, mut jpeg, mut file) = (Encoder::default(), jpeg::Decoder::new(), Vec::new());
    let mut decoders = Level::ALL.map(|level| Decoder::with(Vectors::detected(level)));
    for (name, bytes) in photos() {
        let header = jpeg::parse_header(&bytes).unwrap();
        let mut wanted = pixels(header.size);
        let stride = header.size.width as usize * 3;
        let out = &mut PixelsMut { data: &mut wanted, stride };
        jpeg.decode_into(&bytes, &header, header.size.rect(), &limits, out).unwrap();
        for profile in [Profile::Small, Profile::Fast] {
            encoder.encode(&bytes, &header, &limits, profile, &mut file).unwrap();
            let own = parse_header(&file).unwrap();
            assert_eq!(
                (own.size, own.orientation, own.color),
                (header.size, header.orientation, header.color)
            );
            for decoder in &mut decoders {
                let mut found = pixels(header.size);
                let out = &mut PixelsMut { data: &mut found, stride };
                decoder.decode_rows(&file, &own, header.size.rect().into(), out).unwrap();
                assert!(found == wanted, "{name} {profile:?}");
            }
        }
    }
}

#[test]
fn a_region_has_the_pixels_of_the_whole() {
    let limits = Limits::default();
    let (mut encoder, mut jpeg, mut file) = (Encoder::default(), jpeg::Decoder::new(), Vec::new());
    let mut decoder = Decoder::default();
    let mut rng = Rng::new(5, 0, 0, 0);
    for (name, bytes) in photos().iter().step_by(2) {
        let header = jpeg::parse_header(bytes).unwrap();
        encoder.encode(bytes, &header, &limits, Profile::Small, &mut file).unwrap();
        let own = parse_header(&file).unwrap();
        for scale in Scale::ALL {
            for _ in 0..4 {
                let size = scale.apply(header.size);
                let (x, y) = (rng.below(size.width), rng.below(size.height));
                let (width, height) = (1 + rng.below(size.width - x), 1 + rng.below(size.height - y));
                let part = jpeg::Part { scale, region: Rect::new(x as i32, y as i32, width, height) };
                let stride = width as usize * 3;
                let (mut wanted, mut found) = (pixels(part.region.size()), pixels(part.region.size()));
                let out = &mut PixelsMut { data: &mut wanted, stride };
                jpeg.decode_part(bytes, &header, part, &limits, out, None).unwrap();
                let out = &mut PixelsMut { data: &mut found, stride };
                decoder.decode_rows(&file, &own, part, out).unwrap();
                assert!(found == wanted, "{name} {part:?}");
            }
        }
    }
}
