//! Small pictures of every kind that a route exists for.

use feedline::geometry::Size;
use feedline_test_support::jpeg::{ColorType, Jpeg, SamplingFactor};
use feedline_test_support::noise::picture;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

struct Kind {
    size: (u16, u16),
    sampling: SamplingFactor,
    progressive: bool,
    color: ColorType,
    /// The EXIF orientation, 1 to 8; 1 writes none.
    orientation: u8,
}

const PLAIN: Kind = Kind {
    size: (61, 47),
    sampling: SamplingFactor::F_2_2,
    progressive: false,
    color: ColorType::Rgb,
    orientation: 1,
};

fn jpeg(kind: &Kind, seed: u32) -> Vec<u8> {
    let Kind { size: (width, height), sampling, progressive, color, orientation } = *kind;
    let jpeg = Jpeg { sampling, progressive, color, orientation, ..Jpeg::default() };
    jpeg.picture(width, height, seed)
}

fn png(width: u32, height: u32) -> Vec<u8> {
    png_of(width, height, &picture(width, height, 3, 5))
}

/// Of one level, and of any size.
pub(crate) fn flat_png(width: u32, height: u32) -> Vec<u8> {
    png_of(width, height, &vec![90; (width * height * 3) as usize])
}

fn png_of(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    file
}

/// A semantic mask of so many pixels, in stripes of nine classes.
pub(crate) fn mask(size: Size, seed: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let encoder = png::Encoder::new(&mut file, size.width, size.height);
    let mut writer = encoder.write_header().unwrap();
    let places = (0..size.height).flat_map(|y| (0..size.width).map(move |x| x / 6 + y / 4));
    writer.write_image_data(&places.map(|stripe| ((stripe + seed) % 9) as u8).collect::<Vec<u8>>()).unwrap();
    writer.finish().unwrap();
    file
}

/// A depth map of so many pixels, of 16 bits.
pub(crate) fn depths(size: Size, seed: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size.width, size.height);
    encoder.set_depth(png::BitDepth::Sixteen);
    let mut writer = encoder.write_header().unwrap();
    let places = (0..size.height).flat_map(|y| (0..size.width).map(move |x| (x + 1) * 97 + y * 31));
    let levels = places.flat_map(|level| ((level + seed) as u16).to_be_bytes());
    writer.write_image_data(&levels.collect::<Vec<u8>>()).unwrap();
    writer.finish().unwrap();
    file
}

/// All samplings, grey, progressive, turned, CMYK and PNG.
pub(crate) fn all() -> Vec<Vec<u8>> {
    use SamplingFactor::{F_1_1, F_1_2, F_2_1, F_2_2, F_4_1};
    let kinds = [
        PLAIN,
        Kind { sampling: F_1_1, size: (40, 90), ..PLAIN },
        Kind { sampling: F_2_1, size: (97, 33), ..PLAIN },
        Kind { sampling: F_1_2, size: (50, 50), ..PLAIN },
        Kind { sampling: F_4_1, size: (66, 41), ..PLAIN },
        Kind { sampling: F_2_2, progressive: true, size: (75, 64), ..PLAIN },
        Kind { color: ColorType::Luma, size: (48, 55), ..PLAIN },
        Kind { color: ColorType::Cmyk, sampling: F_1_1, size: (52, 43), ..PLAIN },
        Kind { orientation: 6, size: (80, 45), ..PLAIN },
        Kind { orientation: 3, sampling: F_1_1, ..PLAIN },
    ];
    let jpegs = kinds.iter().enumerate().map(|(seed, kind)| jpeg(kind, seed as u32));
    jpegs.chain([png(37, 71), jpeg(&PLAIN, 99)]).collect()
}

/// As few as a batch or two needs.
pub(crate) fn few() -> Vec<Vec<u8>> {
    all().into_iter().take(4).collect()
}

/// Those, and one that only its decoder finds bad.
pub(crate) fn few_with_a_bad_one() -> Vec<Vec<u8>> {
    let mut files = few();
    files.insert(1, spoiled(jpeg(&PLAIN, 50)));
    files
}

/// A third fits many times into the least memory that a device is given, a third once, a third only in part.
pub(crate) fn large() -> Vec<Vec<u8>> {
    let size = |seed: u32| [(61, 47), (620, 510), (900, 700)][seed as usize % 3];
    (0..18).map(|seed| jpeg(&Kind { size: size(seed), ..PLAIN }, seed)).collect()
}

/// Enough for several batches that are worth a call of the GPU's own entropy decoder.
pub(crate) fn many() -> Vec<Vec<u8>> {
    (0..216).map(|seed| jpeg(&Kind { size: (40 + seed % 9, 36), ..PLAIN }, seed.into())).collect()
}

/// Each takes more weights than the one before where all are resized to the same size.
pub(crate) fn wider_and_wider() -> Vec<Vec<u8>> {
    let widths = [61, 900, 1700].into_iter().zip(0..);
    widths.map(|(width, seed)| jpeg(&Kind { size: (width, 48), ..PLAIN }, seed)).collect()
}

/// One that is larger than that memory, whatever part of it is wanted.
pub(crate) fn with_a_giant() -> Vec<Vec<u8>> {
    let mut files = few();
    files.insert(2, jpeg(&Kind { size: (1100, 900), ..PLAIN }, 1));
    files
}

/// With a marker in the middle that has no business there: only who decodes the file notices.
pub(crate) fn spoiled(mut file: Vec<u8>) -> Vec<u8> {
    let middle = file.len() * 2 / 3;
    file[middle..middle + 2].copy_from_slice(&[0xFF, 0xC4]);
    file
}

/// Some end in the middle, some are no pictures, and some look sound until they are decoded: first, between, and last.
pub(crate) fn with_bad_ones() -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<u8>> = all().into_iter().chain(all()).chain(few()).collect();
    for at in [3, 9, 14] {
        let half = files[at].len() / 2;
        files[at].truncate(half);
    }
    files[7] = b"no picture at all".to_vec();
    files[16].clear();
    let last = files.len() - 1;
    for at in [0, 1, 8, 13, last] {
        files[at] = spoiled(std::mem::take(&mut files[at]));
    }
    files
}

fn is_jpeg(end: &OsStr) -> bool {
    ["jpg", "jpeg"].iter().any(|usual| end.eq_ignore_ascii_case(usual))
}

/// All JPEG files below a folder, by their names, in order.
pub(crate) fn files_below(folder: impl AsRef<Path>) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files_below(path)?),
            false if path.extension().is_some_and(is_jpeg) => found.push(path),
            false => {}
        }
    }
    found.sort();
    Ok(found)
}
