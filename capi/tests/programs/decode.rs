//! Files that are decoded without a loader, from C and C++.

use crate::{root, run};
use feedline::decode::{Header, RgbImage, Scaling, Settings, decode};
use feedline::geometry::{Rect, Size};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

fn checksum(pixels: &[u8]) -> u64 {
    pixels.iter().fold(0, |sum: u64, &level| sum.wrapping_mul(31).wrapping_add(level.into()))
}

/// A JPEG with an EXIF segment that turns it.
fn turned(jpeg: &[u8], tag: u8) -> Vec<u8> {
    let exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0";
    let body = [&exif[..], &[tag, 0, 0, 0, 0, 0, 0]].concat();
    let length = (body.len() as u16 + 2).to_be_bytes();
    [&jpeg[..2], &[0xFF, 0xE1], &length, &body, &jpeg[2..]].concat()
}

/// What the program says of a file, as the library in Rust has it.
fn told(file: &[u8]) -> (String, String) {
    let header = Header::read(file).unwrap();
    let Header { size, stored, orientation, components, bits, progressive, .. } = &header;
    let sampling = header.sampling.map_or("none", |sampling| sampling.name());
    let (format, turned) = (header.format as u8, orientation.to_exif());
    let mut text = format!(
        "format {format}, {} x {}, stored {} x {}, orientation {turned}, {components} components of {bits} bits, \
         progressive {}, {sampling}\n",
        size.height,
        size.width,
        stored.height,
        stored.width,
        u8::from(*progressive),
    );
    let line = |what: &str, RgbImage { size, data, .. }: RgbImage| {
        format!("{what} {} x {}: {}\n", size.height, size.width, checksum(&data))
    };
    let part = Settings::default().region(Rect::new(5, 3, 24, 20)).scale(Scaling::AtLeast(Size::new(9, 9)));
    for (what, settings) in
        [("whole", Settings::default()), ("stored", Settings::default().exif(false)), ("part", part)]
    {
        text.write_str(&line(what, decode(file, &settings).unwrap())).unwrap();
    }
    (text, line("of the batch", decode(file, &Settings::default()).unwrap()))
}

#[test]
fn files_are_decoded_from_c() {
    let folder = tempfile::tempdir().unwrap();
    let photo = fs::read(root().join("data/photos/cat/0000.jpg")).unwrap();
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 40, 30);
    encoder.set_color(png::ColorType::Rgba);
    let pixels: Vec<u8> = (0..40 * 30 * 4).map(|at| (at * 7 % 251) as u8).collect();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    let pnm = b"P6 40 30 255 ".iter().chain(&pixels[..40 * 30 * 3]).copied().collect();
    let files = [photo.clone(), turned(&photo, 6), turned(&photo, 2), png, pnm];
    let paths: Vec<PathBuf> = (0..files.len()).map(|at| folder.path().join(at.to_string())).collect();
    paths.iter().zip(&files).for_each(|(path, file)| fs::write(path, file).unwrap());
    let arguments: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let (single, batch): (Vec<String>, Vec<String>) = files.iter().map(|file| told(file)).unzip();
    assert_eq!(run("capi/tests/c/decode.c", &arguments), single.concat() + &batch.concat());
}

#[test]
fn files_are_decoded_from_cpp() {
    run("capi/tests/c/decode.cpp", &[root().join("data/photos/cat/0000.jpg").to_str().unwrap()]);
}
