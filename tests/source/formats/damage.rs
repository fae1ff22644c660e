//! Files with any byte changed, or cut anywhere: an error or a bad sample, never a panic, and never for long.

use crate::write::{Feature, Table, example, lmdb, parquet, tfrecord};
use feedline::source::{Lmdb, Parquet, Source, TfRecord};
use heed::{DatabaseFlags, EnvFlags};
use std::path::Path;

/// Opens and reads whatever is at `path` while bytes of it change, one or a few at a time.
fn survives(path: &Path, rounds: u32, read: impl Fn(&Path)) {
    let whole = std::fs::read(path).unwrap();
    let mut state = 1u32;
    let mut dice = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for round in 0..rounds {
        let mut bytes = whole.clone();
        for _ in 0..=round % 4 {
            // Sizes, counts and places lie at both ends more than between.
            let near = dice(4096.min(bytes.len()));
            let at = [near, bytes.len() - 1 - near, dice(bytes.len())][dice(3)];
            bytes[at] = [bytes[at] ^ 1 << dice(8), 0, 0xFF, dice(256) as u8][dice(4)];
        }
        if round % 16 == 0 {
            bytes.truncate(dice(whole.len()));
        }
        std::fs::write(path, bytes).unwrap();
        read(path);
    }
}

/// Reads every record; what cannot be read is not of interest here.
fn read_all(source: &dyn Source) {
    let mut bytes = Vec::new();
    for index in 0..source.len() {
        let _ = source.read(index, &mut bytes);
        let _ = (source.key(index), source.label(index));
    }
}

fn values() -> Vec<(String, Vec<u8>)> {
    (0..40usize).map(|i| (format!("{}/{i}.jpg", i % 3), vec![i as u8; i * 211 % 6000])).collect()
}

#[test]
fn of_tfrecord() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfrecord");
    let record = |(key, value): &(String, Vec<u8>)| {
        let class = Feature::Bytes(&key.as_bytes()[..1]);
        example(&[
            ("image/class/text", class),
            ("image/encoded", Feature::Bytes(&value[..value.len().min(300)])),
        ])
    };
    tfrecord(&path, &values().iter().map(record).collect::<Vec<_>>());
    survives(&path, 600, |path| _ = TfRecord::open(path).map(|source| read_all(&source)));
}

#[test]
fn of_lmdb() {
    let folder = tempfile::tempdir().unwrap();
    let values = values();
    let entries: Vec<_> = values.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    lmdb(folder.path(), EnvFlags::empty(), (None, DatabaseFlags::empty()), &entries);
    let path = folder.path().join("data.mdb");
    survives(&path, 600, |path| _ = Lmdb::open(path).map(|source| read_all(&source)));
}

#[test]
fn of_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let values = values();
    let rows: Vec<_> = values.iter().map(|(key, value)| (key.as_str(), Some(&value[..]))).collect();
    let table = Table { rows_per_group: 15, rows_per_page: 4, ..Table::default() };
    parquet(&path, &table, &rows, None);
    survives(&path, 600, |path| _ = Parquet::open(path).map(|source| read_all(&source)));
}
