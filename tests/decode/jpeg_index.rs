//! Decoding with an index against decoding without: the same pixels, the same errors, whatever the index holds.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use feedline::geometry::Rect;
use feedline::jpeg::{Decoder, Header, Index, JpegError, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use feedline_test_support::jpeg::{ColorType, Jpeg, SamplingFactor};
use feedline_test_support::noise::Noise;
use std::path::{Path, PathBuf};

/// A small generator, so that failures repeat.
struct Dice(Noise);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.0.bits()) * u64::from(end)) >> 32) as u32
    }

    fn region(&mut self, header: &Header) -> Rect {
        let (width, height) = (header.size.width, header.size.height);
        let (x, y) = (self.below(width), self.below(height));
        Rect::new(x as i32, y as i32, 1 + self.below(width - x), 1 + self.below(height - y))
    }
}

fn encode(sampling: SamplingFactor, color: ColorType, restart: u16, (width, height): (u16, u16)) -> Vec<u8> {
    let mut dice = Dice(Noise(u32::from(width) * 31 + u32::from(height)));
    let jpeg = Jpeg { color, restart, ..Jpeg::new(sampling) };
    // Rows that drift, with noise: DC predictions that matter, and blocks of many lengths.
    let value = |at: usize, noise: u32| (at / usize::from(width) * 3) as u8 ^ (noise as u8 & 0x3F);
    let count = usize::from(width) * usize::from(height) * jpeg.channels() as usize;
    let pixels: Vec<u8> = (0..count).map(|at| value(at, dice.below(256))).collect();
    jpeg.file(&pixels, width, height)
}

/// Files of every sampling, with restart intervals that fall within, on and across the ends of rows.
fn made() -> Vec<Vec<u8>> {
    let samplings = [
        SamplingFactor::F_1_1,
        SamplingFactor::F_2_1,
        SamplingFactor::F_1_2,
        SamplingFactor::F_2_2,
        SamplingFactor::F_4_1,
        SamplingFactor::F_4_2,
        SamplingFactor::F_1_4,
        SamplingFactor::F_2_4,
    ];
    let mut files = Vec::new();
    for sampling in samplings {
        for restart in [0, 1, 3, 5, 6, 7, 25] {
            files.push(encode(sampling, ColorType::Rgb, restart, (81, 203)));
        }
        files.push(encode(sampling, ColorType::Rgb, 0, (33, 9)));
        // Wide enough for several places in a row.
        for restart in [0, 5, 16] {
            files.push(encode(sampling, ColorType::Rgb, restart, (530, 75)));
        }
    }
    // More than 16 places in a row, and so wide that they are further apart.
    files.push(encode(SamplingFactor::F_2_2, ColorType::Rgb, 0, (2900, 40)));
    files.push(encode(SamplingFactor::F_2_2, ColorType::Rgb, 7, (4700, 40)));
    for color in [ColorType::Luma, ColorType::Cmyk] {
        files.push(encode(SamplingFactor::F_1_1, color, 0, (50, 131)));
        files.push(encode(SamplingFactor::F_1_1, color, 4, (50, 131)));
    }
    files
}

fn photos() -> Vec<Vec<u8>> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos"));
    let entries = |path: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let all = entries(root).into_iter().flat_map(|directory| entries(&directory));
    all.step_by(5).map(|path| std::fs::read(path).unwrap()).collect()
}

type Pixels = Result<Vec<u8>, JpegError>;

fn plain(decoder: &mut Decoder, bytes: &[u8], region: Rect, limits: &Limits) -> Pixels {
    let header = parse_header(bytes)?;
    let mut data = vec![0; region.size().pixels() as usize * 3];
    let mut out = PixelsMut { data: &mut data, stride: region.width as usize * 3 };
    decoder.decode_into(bytes, &header, region, limits, &mut out)?;
    Ok(data)
}

fn indexed(decoder: &mut Decoder, bytes: &[u8], region: Rect, limits: &Limits, index: &mut Index) -> Pixels {
    let header = parse_header(bytes)?;
    let mut data = vec![0; region.size().pixels() as usize * 3];
    let mut out = PixelsMut { data: &mut data, stride: region.width as usize * 3 };
    decoder.decode_indexed(bytes, &header, region, limits, &mut out, index)?;
    Ok(data)
}

/// Takes the index through a record and back, as a store does.
fn stored(index: &Index) -> Index {
    let (mut record, mut read) = (Vec::new(), Index::default());
    index.write(&mut record);
    assert!(record.len() <= Index::MAX_BYTES);
    assert_eq!(read.read(&record), index.rows() > 0);
    assert_eq!(read.rows(), index.rows());
    read
}

#[test]
fn a_region_has_the_same_pixels_with_an_index_as_without() {
    let (mut dice, mut decoder, limits) = (Dice(Noise(7)), Decoder::new(), Limits::default());
    let mut skipped = 0;
    for (number, bytes) in made().iter().chain(&photos()).enumerate() {
        let header = parse_header(bytes).unwrap();
        let mut index = Index::default();
        for round in 0..12 {
            let region = dice.region(&header);
            let expected = plain(&mut decoder, bytes, region, &limits).unwrap();
            let found = indexed(&mut decoder, bytes, region, &limits, &mut index).unwrap();
            assert!(found == expected, "file {number}, round {round}: {region:?} of {header:?}");
            assert!(!index.last_use().stale);
            skipped += index.last_use().skipped_rows;
            index = stored(&index);
        }
    }
    assert!(skipped > 1000, "hardly a row was skipped: {skipped}");
}

#[test]
fn one_decode_of_the_last_row_lets_every_later_one_start_at_its_own() {
    let bytes = encode(SamplingFactor::F_2_2, ColorType::Rgb, 0, (81, 203));
    let (mut decoder, limits, mut index) = (Decoder::new(), Limits::default(), Index::default());
    indexed(&mut decoder, &bytes, Rect::new(0, 202, 1, 1), &limits, &mut index).unwrap();
    assert_eq!((index.rows(), index.last_use().changed), (12, true));
    indexed(&mut decoder, &bytes, Rect::new(0, 100, 81, 10), &limits, &mut index).unwrap();
    // Line 100 is in row 6 of sixteen lines each; its chroma lies in the middle of that row.
    assert_eq!((index.last_use().skipped_rows, index.last_use().changed), (6, false));
    indexed(&mut decoder, &bytes, Rect::new(0, 96, 81, 10), &limits, &mut index).unwrap();
    assert_eq!(index.last_use().skipped_rows, 5, "the chroma of row 5 is blended into line 96");
}

#[test]
fn damage_beside_a_region_is_found_with_an_index_as_without() {
    let limits = Limits { damaged: Damaged::Refuse, ..Limits::default() };
    let (mut dice, mut decoder) = (Dice(Noise(9)), Decoder::new());
    let sound = encode(SamplingFactor::F_1_1, ColorType::Rgb, 0, (530, 75));
    let (mut found, mut unseen) = (0, 0);
    for round in 0..200 {
        let mut bytes = sound.clone();
        bytes[700 + dice.below(sound.len() as u32 - 702) as usize] ^= 1 << dice.below(8);
        // The left part of the picture: damage is mostly to the right of it.
        let part = Rect::new(0, 0, 100, 75);
        let expected = plain(&mut decoder, &bytes, part, &limits);
        let mut index = Index::default();
        for height in [9, 30, 75, 75] {
            let part = Rect { height, ..part };
            let plain = plain(&mut decoder, &bytes, part, &limits);
            assert_eq!(indexed(&mut decoder, &bytes, part, &limits, &mut index), plain, "round {round}");
        }
        found += u32::from(expected.is_err());
        unseen += u32::from(expected.is_ok());
    }
    assert!(found > 10 && unseen > 10, "{found} errors, {unseen} pictures");
}

#[test]
fn an_index_of_another_file_is_replaced_and_changes_nothing() {
    let (mut dice, mut decoder, limits) = (Dice(Noise(8)), Decoder::new(), Limits::default());
    let sound = encode(SamplingFactor::F_2_2, ColorType::Rgb, 0, (301, 103));
    let mut old = Index::default();
    indexed(&mut decoder, &sound, Rect::new(0, 102, 1, 1), &limits, &mut old).unwrap();
    for round in 0..300 {
        let mut bytes = sound.clone();
        match round % 3 {
            0 => bytes.truncate(2 + dice.below(sound.len() as u32 - 2) as usize),
            1 => bytes = encode(SamplingFactor::F_2_2, ColorType::Rgb, 7, (301, 103)),
            _ => bytes[200 + dice.below(sound.len() as u32 - 200) as usize] ^= 1 << dice.below(8),
        }
        let Ok(header) = parse_header(&bytes) else { continue };
        let (region, mut index) = (dice.region(&header), old.clone());
        let damaged = [Damaged::Refuse, Damaged::Torchvision, Damaged::Libjpeg][round % 3];
        let limits = Limits { damaged, ..Limits::default() };
        let expected = plain(&mut decoder, &bytes, region, &limits);
        assert_eq!(indexed(&mut decoder, &bytes, region, &limits, &mut index), expected, "round {round}");
        // What was noted on the way is as good.
        assert_eq!(indexed(&mut decoder, &bytes, region, &limits, &mut index), expected, "round {round}");
    }
}

#[test]
fn a_damaged_record_is_refused_or_harmless() {
    let bytes = encode(SamplingFactor::F_2_2, ColorType::Rgb, 0, (301, 103));
    let (mut decoder, limits, mut index) = (Decoder::new(), Limits::default(), Index::default());
    let region = Rect::new(140, 50, 70, 40);
    let expected = plain(&mut decoder, &bytes, region, &limits).unwrap();
    indexed(&mut decoder, &bytes, Rect::new(0, 102, 1, 1), &limits, &mut index).unwrap();
    let mut record = Vec::new();
    index.write(&mut record);
    for at in 0..record.len() {
        for bit in 0..8 {
            let mut damaged = record.clone();
            damaged[at] ^= 1 << bit;
            index.read(&damaged);
            // The points have no checksum of their own (stores have): they may give wrong pixels, but no panic.
            let found = indexed(&mut decoder, &bytes, region, &limits, &mut index);
            assert!(at >= 10 || found.as_ref() == Ok(&expected), "byte {at}, bit {bit}");
        }
    }
    let mut whole = 0;
    for end in 0..record.len() {
        let kept = index.read(&record[..end]);
        whole += usize::from(kept);
        assert!(!kept || end > 10, "cut at {end}");
        assert_eq!(indexed(&mut decoder, &bytes, region, &limits, &mut index).as_ref(), Ok(&expected));
    }
    // Seven rows with five places each; the first place is not kept, and the last one was not cut off.
    assert_eq!(whole, 7 * 5 - 2);
}

#[test]
fn a_place_that_is_too_far_on_is_not_followed_by_one_before_it() {
    let bytes = encode(SamplingFactor::F_2_2, ColorType::Rgb, 0, (301, 103));
    let (mut decoder, limits, mut index) = (Decoder::new(), Limits::default(), Index::default());
    indexed(&mut decoder, &bytes, Rect::new(0, 0, 301, 30), &limits, &mut index).unwrap();
    let (mut record, rows) = (Vec::new(), index.rows());
    index.write(&mut record);
    // One more place, in the middle of the next row and 20,000 bits on.
    record.extend([0xA0, 0x9C, 0x01, 0, 0, 0]);
    assert!(index.read(&record) && index.rows() == rows);
    let last = Rect::new(300, 102, 1, 1);
    let expected = plain(&mut decoder, &bytes, last, &limits);
    assert_eq!(indexed(&mut decoder, &bytes, last, &limits, &mut index), expected);
    stored(&index);
}

#[test]
fn progressive_files_have_no_index() {
    let bytes = Jpeg { progressive: true, ..Jpeg::default() }.file(&[9; 64 * 64 * 3], 64, 64);
    let (mut decoder, limits, mut index) = (Decoder::new(), Limits::default(), Index::default());
    let region = Rect::new(0, 40, 10, 10);
    let found = indexed(&mut decoder, &bytes, region, &limits, &mut index);
    assert_eq!(found, plain(&mut decoder, &bytes, region, &limits));
    assert_eq!((index.rows(), index.last_use().changed), (0, false));
}
