//! LMDB environments: every shape of tree that LMDB writes, and what is refused.

use super::{all, cause, labels, refused};
use crate::hostile;
use crate::write::lmdb;
use feedline::source::{Lmdb, Source};
use heed::{DatabaseFlags, EnvFlags};
use std::path::Path;

const PLAIN: (Option<&str>, DatabaseFlags) = (None, DatabaseFlags::empty());

/// Values of all sizes around those at which LMDB gives a value pages of its own.
fn entries(count: usize) -> Vec<(String, Vec<u8>)> {
    let entry = |i: usize| {
        let bytes = (i * 37) % 5000;
        (format!("class {}/{i:05}.jpg", i % 3), (0..bytes).map(|j| (i + j) as u8).collect())
    };
    (0..count).map(entry).collect()
}

fn write(path: &Path, flags: EnvFlags, entries: &[(String, Vec<u8>)]) {
    let entries: Vec<_> = entries.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    lmdb(path, flags, PLAIN, &entries);
}

#[test]
fn every_value_of_a_deep_tree_is_found_in_the_order_of_keys() {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = entries(5000);
    write(folder.path(), EnvFlags::empty(), &entries);
    let source = Lmdb::open(folder.path()).unwrap();
    entries.sort();
    let got: Vec<_> = all(&source).into_iter().map(|(key, bytes, _)| (key, bytes)).collect();
    assert!(got == entries);
    assert_eq!(source.classes(), ["class 0", "class 1", "class 2"]);
    assert_eq!([&labels(&source)[..1], &labels(&source)[4999..]], [[0], [2]]);
}

#[test]
fn the_newest_state_counts_and_what_was_replaced_does_not() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5u8 {
        let entries: Vec<_> = entries(300).into_iter().map(|(key, _)| (key, vec![round; 3000])).collect();
        write(folder.path(), EnvFlags::empty(), &entries);
        let source = Lmdb::open(folder.path()).unwrap();
        assert!(source.len() == 300 && all(&source).iter().all(|(_, bytes, _)| *bytes == [round; 3000]));
    }
}

#[test]
fn opening_writes_nothing_and_needs_no_right_to_write() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("images.mdb");
    write(&file, EnvFlags::NO_SUB_DIR, &entries(10));
    std::fs::remove_file(folder.path().join("images.mdb-lock")).unwrap();
    let before = std::fs::read(&file).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    // Twice at once, which LMDB itself does not allow in a process.
    let sources = [Lmdb::open(&file).unwrap(), Lmdb::open(&file).unwrap()];
    sources.iter().for_each(|source| assert_eq!(all(source).len(), 10));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(std::fs::read(&file).unwrap() == before && Lmdb::is_at(&file));
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn keys_without_a_directory_have_no_class_and_notes_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let value = || b"an image".to_vec();
    let entries =
        [("__len__", b"\x80\x04K\x03.".to_vec()), ("0001", value()), ("cat/1", value()), ("/2", value())];
    lmdb(folder.path(), EnvFlags::empty(), PLAIN, &entries);
    let source = Lmdb::open(folder.path()).unwrap();
    let keys: Vec<_> = all(&source).into_iter().map(|(key, ..)| key).collect();
    assert_eq!((keys.join(" "), labels(&source)), ("/2 0001 cat/1".to_owned(), vec![-1, -1, 0]));
}

#[test]
fn a_named_database_is_opened_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let named = (Some("train"), DatabaseFlags::empty());
    lmdb(folder.path(), EnvFlags::empty(), named, &[("cat/1", b"one".to_vec())]);
    let source = Lmdb::options().database("train").open(folder.path()).unwrap();
    assert_eq!(all(&source)[0].1, b"one");
    refused(Lmdb::open(folder.path()), &["data.mdb", "holds no record, but databases", "train"]);
    refused(Lmdb::options().database("val").open(folder.path()), &["no database `val`", "train"]);
    let many = (Some("many"), DatabaseFlags::DUP_SORT);
    lmdb(folder.path(), EnvFlags::empty(), many, &[("a", b"1".to_vec()), ("a", b"2".to_vec())]);
    refused(Lmdb::options().database("many").open(folder.path()), &["many values", "one value for each key"]);
}

#[test]
fn values_that_are_no_image_files_are_refused_by_name() {
    let cases: [(&[u8], &str); 4] = [
        (b"\x80\x04\x95\x10\0\0\0\0\0\0\0K\x01.", "a Python pickle"),
        (b"\x93NUMPY\x01\0v\0", "a NumPy array"),
        (b"\x08\x03\x10\x20\x18\x20\x22\x03abc", "a Caffe Datum"),
        (b"\x1f\x8b\x08", "compressed with gzip"),
    ];
    for (value, words) in cases {
        let folder = tempfile::tempdir().unwrap();
        lmdb(folder.path(), EnvFlags::empty(), PLAIN, &[("cat/1", value.to_vec())]);
        refused(Lmdb::open(folder.path()), &["`cat/1`", words, "write the bytes of the image files"]);
    }
}

#[test]
fn what_is_no_environment_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(Lmdb::open(folder.path().join("none")), &["No such file", "name an LMDB environment"]);
    let path = folder.path().join("data.mdb");
    std::fs::write(&path, vec![7; 8192]).unwrap();
    refused(Lmdb::open(folder.path()), &["data.mdb", "no LMDB file"]);
    assert!(!Lmdb::is_at(folder.path()));
    std::fs::write(&path, b"").unwrap();
    refused(Lmdb::open(folder.path()), &["cut short at 0 bytes"]);
    std::fs::remove_file(&path).unwrap();
    write(folder.path(), EnvFlags::empty(), &[]);
    refused(Lmdb::open(folder.path()), &["holds no record"]);
}

#[test]
fn a_file_that_is_cut_short_is_refused_or_its_samples_are_bad() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), EnvFlags::empty(), &entries(2000));
    let path = folder.path().join("data.mdb");
    let source = Lmdb::open(folder.path()).unwrap();
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    refused(Lmdb::open(folder.path()), &["cut short", "copy it again"]);
    let bad = (0..source.len()).filter(|&index| source.read(index, &mut Vec::new()).is_err());
    let bad: Vec<usize> = bad.collect();
    assert!(bad.len() > 100 && bad.len() < 1900, "{} are bad", bad.len());
    assert!(cause(&source, bad[0]).contains("restore the environment"));
}

#[test]
fn a_tree_that_leads_back_to_itself_ends() {
    let folder = tempfile::tempdir().unwrap();
    refused(Lmdb::open(hostile::a_tree_that_leads_back(folder.path())), &["page", "is damaged"]);
}

#[test]
fn a_page_holds_no_more_keys_than_it_has_bytes() {
    const HEAD: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let entry = |i: usize| (format!("{i}{}", "k".repeat(400)), vec![7; 4]);
    write(folder.path(), EnvFlags::empty(), &(0..3).map(entry).collect::<Vec<_>>());
    let path = folder.path().join("data.mdb");
    hostile::edited(&path, |bytes, root, databases| {
        let node = [bytes[root + HEAD], bytes[root + HEAD + 1]];
        let lower = 2000u16;
        bytes[root + 12..root + 14].copy_from_slice(&lower.to_le_bytes());
        for pointer in (HEAD..lower.into()).step_by(2) {
            bytes[root + pointer..root + pointer + 2].copy_from_slice(&node);
        }
        let entries = (u64::from(lower) - HEAD as u64) / 2;
        databases.iter().for_each(|at| bytes[at + 32..at + 40].copy_from_slice(&entries.to_le_bytes()));
    });
    refused(Lmdb::open(path), &["page", "is damaged"]);
}
