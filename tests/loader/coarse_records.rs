//! Sidecars with fewer places in a row than this build keeps: what fits its file serves, the rest is found anew. And
//! sidecars of other versions, which do not serve.

use feedline::augment::RandomResizedCrop;
use feedline::index::IndexMode;
use feedline::label::Label;
use feedline::loader::{Loader, build_index};
use feedline::output::{DType, Layout};
use feedline::source::Memory;
use feedline_test_support::jpeg::Jpeg;
use std::fs;
use std::hash::Hasher;
use std::path::Path;
use twox_hash::XxHash3_64;

/// Bytes of a sidecar ahead of its records: magic, version, samples, hash of their keys.
const HEAD: usize = 16 + 4 + 8 + 8;
/// Samples of the wide image, 32 places in a row, where there were 16, and of the narrow one.
const WIDE: usize = 0;
const NARROW: usize = 1;

fn data_set() -> Memory {
    let jpeg = Jpeg::default();
    let files = [("wide.jpg", jpeg.picture(2048, 600, 1)), ("narrow.jpg", jpeg.picture(300, 200, 2))];
    Memory::new(files.map(|(key, bytes)| (key.to_owned(), bytes, Label::Class(0))).to_vec())
}

fn loader(mode: IndexMode, seed: u64) -> Loader {
    let builder = Loader::builder(data_set()).seed(seed).batch_size(2).workers(1).decode_index(mode);
    // So small that many read nothing of the lower half, where the coarse places end too soon.
    let crop = RandomResizedCrop { scale: [0.002, 0.05], ..RandomResizedCrop::new(24) };
    builder.output(DType::U8, Layout::Nhwc).augment(crop).build().unwrap()
}

fn pixels(loader: &Loader, epochs: u64) -> Vec<u8> {
    (0..epochs).flat_map(|at| loader.epoch(at)).flat_map(|batch| batch.unwrap().images().to_vec()).collect()
}

/// Integers of seven bits a byte, the lowest first; the top bit is set if more follow.
fn varints(bytes: &[u8]) -> Vec<u32> {
    let (mut values, mut value, mut shift) = (Vec::new(), 0, 0);
    for byte in bytes {
        value |= u32::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            values.push(value);
            (value, shift) = (0, 0);
        }
    }
    values
}

fn put_varint(record: &mut Vec<u8>, mut value: u32) {
    while value > 0x7F {
        record.push(value as u8 | 0x80);
        value >>= 7;
    }
    record.push(value as u8);
}

/// The record with every second place of a row.
fn coarse_record(record: &[u8]) -> Vec<u8> {
    let (head, points) = record.split_at(10);
    let (components, per_row) = (usize::from(head[8]), usize::from(head[9]));
    assert_eq!((components, per_row), (3, 32));
    let mut coarse = [&head[..9], &[16]].concat();
    let (mut now, mut last) = (vec![0u32; 4], vec![0u32; 4]);
    for (before, point) in varints(points).chunks_exact(4).enumerate() {
        // A bit, and predictions with their sign in the lowest bit.
        now[0] += point[0];
        for (dc, folded) in now[1..].iter_mut().zip(&point[1..]) {
            *dc = dc.wrapping_add((folded >> 1) ^ (folded & 1).wrapping_neg());
        }
        if (before + 1) % per_row % 2 == 0 {
            put_varint(&mut coarse, now[0] - last[0]);
            for (dc, last) in now[1..].iter().zip(&last[1..]) {
                let difference = dc.wrapping_sub(*last) as i16;
                put_varint(&mut coarse, u32::from(((difference << 1) ^ (difference >> 15)) as u16));
            }
            last.clone_from(&now);
        }
    }
    coarse
}

/// The records of a sidecar, by sample.
fn records(sidecar: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let (mut records, mut rest) = (Vec::new(), &sidecar[HEAD..]);
    loop {
        let (sample, length) =
            (u64::from_le_bytes(rest[..8].try_into().unwrap()), rest[8..12].try_into().unwrap());
        if sample == u64::MAX {
            return records;
        }
        let (record, left) = rest[12..].split_at(u32::from_le_bytes(length) as usize);
        records.push((sample, record.to_vec()));
        rest = left;
    }
}

/// The sidecar with the wide image's record made coarser.
fn coarse_sidecar(sidecar: &[u8]) -> Vec<u8> {
    let mut coarse = sidecar[..HEAD].to_vec();
    let records = records(sidecar);
    for (sample, record) in &records {
        let record = if *sample == WIDE as u64 { coarse_record(record) } else { record.clone() };
        coarse.extend(sample.to_le_bytes());
        coarse.extend((record.len() as u32).to_le_bytes());
        coarse.extend(record);
    }
    coarse.extend(u64::MAX.to_le_bytes());
    coarse.extend((records.len() as u32).to_le_bytes());
    let mut hasher = XxHash3_64::new();
    hasher.write(&coarse);
    coarse.extend(hasher.finish().to_le_bytes());
    coarse
}

/// The sidecar as it is built ahead, and the coarser one, which is left at `path`.
fn fine_and_coarse(path: &Path) -> (Vec<u8>, Vec<u8>) {
    build_index(data_set(), path, Some(1), &mut |_| ()).unwrap();
    let fine = fs::read(path).unwrap();
    let coarse = coarse_sidecar(&fine);
    fs::write(path, &coarse).unwrap();
    (fine, coarse)
}

#[test]
fn a_wide_image_is_indexed_again_and_a_narrow_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.index");
    let (fine, coarse) = fine_and_coarse(&path);
    let sizes = [&fine, &coarse]
        .map(|sidecar| records(sidecar).iter().map(|record| record.1.len()).collect::<Vec<_>>());
    assert!(sizes[1][WIDE] < sizes[0][WIDE] * 2 / 3, "{sizes:?}");
    assert_eq!(sizes[1][NARROW], sizes[0][NARROW]);

    let expected = pixels(&loader(IndexMode::Off, 0), 4);
    let run = loader(IndexMode::File(path.clone()), 0);
    assert!(run.stats().index.sidecar.unwrap().contains("gave the indexes of 2 images"));
    assert!(pixels(&run, 4) == expected);
    let stats = run.stats().index;
    assert_eq!((stats.stale, stats.refused, stats.images), (1, 0, 2), "{stats:?}");
    assert!(stats.hits >= 4, "the narrow one serves from the first epoch on: {stats:?}");
    drop(run);
    let (written, fine) = (fs::read(&path).unwrap(), records(&fine));
    assert_eq!(written[16..20], 5u32.to_le_bytes());
    let written = records(&written);
    assert_eq!(written[NARROW], fine[NARROW]);
    assert!(fine[WIDE].1.starts_with(&written[WIDE].1) && written[WIDE].1[9] == 32);

    let next = loader(IndexMode::File(path), 0);
    assert!(pixels(&next, 4) == expected);
    assert_eq!(next.stats().index.stale, 0);
}

#[test]
fn no_crop_shows_a_place_of_the_coarse_grid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.index");
    let (_, coarse) = fine_and_coarse(&path);
    for seed in 0..30 {
        fs::write(&path, &coarse).unwrap();
        let run = loader(IndexMode::File(path.clone()), seed);
        assert!(pixels(&run, 1) == pixels(&loader(IndexMode::Off, seed), 1), "seed {seed}");
        assert_eq!(run.stats().index.stale, 1, "seed {seed}");
    }
}

#[test]
fn building_ahead_over_a_coarse_sidecar_gives_the_fine_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.index");
    let (fine, coarse) = fine_and_coarse(&path);
    assert!(fine.len() > coarse.len());
    build_index(data_set(), &path, Some(1), &mut |_| ()).unwrap();
    assert!(fs::read(&path).unwrap() == fine);
}

#[test]
fn a_sidecar_of_any_other_version_is_left_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.index");
    let (_, coarse) = fine_and_coarse(&path);
    for version in [0, 1, 2, 3, 4, 6, u32::MAX] {
        let mut other = coarse.clone();
        other[16..20].copy_from_slice(&u32::to_le_bytes(version));
        fs::write(&path, other).unwrap();
        let told = loader(IndexMode::File(path.clone()), 0).stats().index.sidecar.unwrap();
        assert!(told.contains("another version"), "{version}: {told}");
    }
}
