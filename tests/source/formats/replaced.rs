//! Files that others take the places of, after the source was opened and before it is read.

use crate::write::{Feature, Table, example, lmdb, parquet, tar, tfrecord};
use feedline::source::{Lmdb, Parquet, Shards, Source, TfRecord};
use heed::{DatabaseFlags, EnvFlags};
use std::path::{Path, PathBuf};

type Records = Vec<(String, Vec<u8>)>;

/// Records of one byte over and over, which tells the file that they are of; the shortest has `first` of them.
fn records(byte: u8, first: usize) -> Records {
    (0..9usize).map(|at| (format!("a/{at}.jpg"), vec![byte; first + at * 700])).collect()
}

/// Writes one file of records and returns it, opens another one, puts the first into its place, and reads.
fn gives_no_bytes_of_another_file(
    write: impl Fn(&Path, &Records) -> PathBuf,
    open: impl Fn(&Path) -> Box<dyn Source>,
) {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
    let file = write(&old, &records(1, 2000));
    let other = write(&new, &records(2, 300));
    let source = open(&old);
    std::fs::rename(other, &file).unwrap();
    let mut bytes = Vec::new();
    for index in 0..source.len() {
        // A file that opening has left open is the old one still.
        let Err(error) = source.read(index, &mut bytes) else {
            assert!(bytes == records(1, 2000)[index].1, "record {index} has bytes of another file");
            continue;
        };
        let error = error.to_string();
        assert!(error.contains("it was changed since the source was opened"), "{error}");
        assert!(
            error.contains(&*file.to_string_lossy()) && error.contains("open the source again"),
            "{error}"
        );
    }
}

/// The folder and the name of its only file.
fn within(folder: &Path, name: &str) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    folder.join(name)
}

#[test]
fn of_tar() {
    let write = |folder: &Path, records: &Records| {
        let path = within(folder, "a.tar");
        let members: Vec<_> = records.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
        tar(&path, &members);
        path
    };
    gives_no_bytes_of_another_file(write, |folder| Box::new(Shards::folder(folder).unwrap()));
}

#[test]
fn of_tfrecord() {
    let write = |folder: &Path, records: &Records| {
        let path = within(folder, "a.tfrecord");
        let example = |(_, bytes): &(String, Vec<u8>)| example(&[("image/encoded", Feature::Bytes(bytes))]);
        tfrecord(&path, &records.iter().map(example).collect::<Vec<_>>());
        path
    };
    gives_no_bytes_of_another_file(write, |folder| Box::new(TfRecord::open(folder).unwrap()));
}

#[test]
fn of_lmdb() {
    let write = |folder: &Path, records: &Records| {
        let entries: Vec<_> = records.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        lmdb(folder, EnvFlags::empty(), (None, DatabaseFlags::empty()), &entries);
        folder.join("data.mdb")
    };
    gives_no_bytes_of_another_file(write, |folder| Box::new(Lmdb::open(folder).unwrap()));
}

#[test]
fn of_parquet() {
    let write = |folder: &Path, records: &Records| {
        let path = within(folder, "a.parquet");
        let rows: Vec<_> = records.iter().map(|(name, bytes)| (name.as_str(), Some(&bytes[..]))).collect();
        parquet(&path, &Table::default(), &rows, None);
        path
    };
    gives_no_bytes_of_another_file(write, |folder| Box::new(Parquet::open(folder).unwrap()));
}
