//! Footers of Parquet files that are odd or large, and what becomes of them.

use super::refused;
use crate::hostile::{many_columns, with_columns};
use crate::write::{Table, parquet};
use feedline::source::{Parquet, Source};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Ten images in pages of two, with paths; leaf 0 is the images.
fn written(folder: &Path) -> PathBuf {
    let path = folder.join("a.parquet");
    let images: Vec<_> = (0..10u8).map(|number| (format!("{number}.jpg"), vec![number; 5])).collect();
    let rows: Vec<_> = images.iter().map(|(path, bytes)| (&path[..], Some(&bytes[..]))).collect();
    parquet(&path, &Table::default(), &rows, None);
    path
}

fn assert_reads(path: &Path) {
    let (source, mut bytes) = (Parquet::open(path).unwrap(), Vec::new());
    for index in 0..10 {
        source.read(index, &mut bytes).unwrap();
        assert_eq!(bytes, [index as u8; 5]);
        assert_eq!(source.key(index), format!("a.parquet/{index}/{index}.jpg"));
    }
}

#[test]
fn an_index_of_pages_that_has_no_place_or_no_length_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for (start, length) in [(Some(0), Some(0)), (Some(4), Some(0)), (Some(-1), Some(9)), (Some(4), Some(-9))]
    {
        let path = written(folder.path());
        with_columns(&path, |_, _, column| {
            column.set_offset_index_offset(start).set_offset_index_length(length)
        });
        assert_reads(&path);
    }
}

#[test]
fn only_the_index_of_the_pages_of_images_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    with_columns(&path, |_, leaf, column| match leaf {
        0 => column,
        _ => column.set_offset_index_offset(Some(i64::MAX - 9)).set_offset_index_length(Some(9)),
    });
    assert_reads(&path);
    with_columns(&path, |_, _, column| column.set_offset_index_offset(Some(i64::MAX - 9)));
    assert!(Parquet::open(&path).unwrap_err().to_string().contains("lies outside of it"));
}

#[test]
fn tens_of_thousands_of_columns_are_looked_at_in_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let path = many_columns(folder.path(), 1 << 16);
    let start = Instant::now();
    refused(Parquet::open(&path), &["65536 columns could hold images", "00018, 00019 and 65516 more"]);
    // It takes a fraction of a second; a look at all others for each column took half a minute.
    assert!(start.elapsed() < Duration::from_secs(10));
    refused(Parquet::open(many_columns(folder.path(), (1 << 16) + 1)), &["more than 65536 columns"]);
}
