//! Which files a path, a folder or a pattern names.

use super::refused;
use crate::write::{Feature, example, tfrecord};
use feedline::source::{Shards, Source, TfRecord};
use std::path::Path;

fn files(folder: &Path, names: &[&str]) {
    for name in names {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        tfrecord(&path, &[example(&[("image/encoded", Feature::Bytes(name.as_bytes()))])]);
    }
}

fn keys(source: feedline::error::Result<TfRecord>) -> Vec<String> {
    let source = source.unwrap();
    (0..source.len()).map(|index| source.key(index).into_owned()).collect()
}

#[test]
fn a_folder_gives_its_files_by_name_and_leaves_others_out() {
    let folder = tempfile::tempdir().unwrap();
    files(
        folder.path(),
        &["b.tfrecord", "a.tfrec", "c.tfrecords", "mnist.tfrecord-00000-of-00001", "x-00001-of-00002"],
    );
    files(folder.path(), &["README", "x-1-of-2", "deeper/d.tfrecord"]);
    assert!(TfRecord::is_at(folder.path()));
    let expected = [
        "a.tfrec/0",
        "b.tfrecord/0",
        "c.tfrecords/0",
        "mnist.tfrecord-00000-of-00001/0",
        "x-00001-of-00002/0",
    ];
    assert_eq!(keys(TfRecord::open(folder.path())), expected);
}

#[test]
fn a_pattern_gives_what_it_matches_and_keys_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path(), &["one/0.tfrecord", "two/0.tfrecord", "two/1.tfrecord"]);
    let pattern = folder.path().join("*/0.tfrecord");
    assert!(TfRecord::is_at(&pattern) && !Shards::is_at(&pattern));
    assert_eq!(keys(TfRecord::open(&pattern)), ["one/0.tfrecord/0", "two/0.tfrecord/0"]);
    refused(
        TfRecord::open(folder.path().join("*.nothing")),
        &["no file matches", "*.nothing", "check the pattern"],
    );
    refused(TfRecord::open(folder.path().join("[a")), &["is no pattern", "mend it"]);
    assert!(!TfRecord::is_at(&folder.path().join("*.nothing")));
}

#[test]
fn splits_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["data/train-00000-of-00002", "data/train-00001-of-00002", "data/val-00000-of-00001"];
    files(folder.path(), &names);
    refused(TfRecord::open(folder.path()), &["holds the splits train, validation", "--split"]);
    let split = |split: &str| TfRecord::options().split(split).open(folder.path());
    assert_eq!(keys(split("train")), ["train-00000-of-00002/0", "train-00001-of-00002/0"]);
    assert_eq!(keys(split("validation")), ["val-00000-of-00001/0"]);
    assert_eq!(keys(split("val")), ["val-00000-of-00001/0"]);
    refused(
        split("test"),
        &["none of 3 TFRecord files (.tfrecord) says `test`", "there are train, validation"],
    );
    assert_eq!(keys(TfRecord::open(folder.path().join("data/val*"))), ["val-00000-of-00001/0"]);
}

#[test]
fn a_path_that_is_not_there_and_a_folder_of_other_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    refused(TfRecord::open(folder.path()), &["holds no TFRecord files (.tfrecord)"]);
    refused(TfRecord::open(folder.path().join("none")), &["No such file", "check the path"]);
    assert!(!TfRecord::is_at(folder.path()));
}
