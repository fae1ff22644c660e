//! Other formats on the command line: each is recognised, said, and checked.

use crate::support::{fail, feedline, photo, word};
use crate::write::{Feature, Labels, Table, example, lmdb, parquet, tfrecord};
use heed::{DatabaseFlags, EnvFlags};
use std::fs;
use std::path::{Path, PathBuf};

/// A photograph twice in each format: what is named, what it is taken for, and its word.
fn data_sets(folder: &Path) -> Vec<(PathBuf, &'static str, &'static str)> {
    let photo = fs::read(photo()).expect("a photograph");
    let record = |class: &'static str| {
        example(&[
            ("image/encoded", Feature::Bytes(&photo)),
            ("image/class/text", Feature::Bytes(class.as_bytes())),
        ])
    };
    let at = |name: &str| folder.join(name);
    ["tfrecord", "lmdb", "parquet"].iter().for_each(|name| fs::create_dir(at(name)).expect("a folder"));
    tfrecord(&at("tfrecord/train-00000-of-00002"), &[record("cat")]);
    tfrecord(&at("tfrecord/train-00001-of-00002"), &[record("dog")]);
    let entries = [("cat/1.jpg", photo.clone()), ("dog/1.jpg", photo.clone())];
    lmdb(&at("lmdb"), EnvFlags::empty(), (None, DatabaseFlags::empty()), &entries);
    let rows = [("1.jpg", Some(&photo[..])), ("2.jpg", Some(&photo[..]))];
    let labels = Labels::Text(vec![Some("cat"), Some("dog")]);
    parquet(&at("parquet/train.parquet"), &Table::default(), &rows, Some(("label", labels)));
    let tfrecord = "TFRecord files of 2 images and 2 named classes";
    let parquet = "Parquet files of 2 images and 2 named classes";
    vec![
        (at("tfrecord"), tfrecord, "tfrecord"),
        (at("tfrecord/train-*"), tfrecord, "tfrecord"),
        (at("lmdb"), "an LMDB environment of 2 images and 2 named classes", "lmdb"),
        (at("lmdb/data.mdb"), "an LMDB environment of 2 images and 2 named classes", "lmdb"),
        (at("parquet"), parquet, "parquet"),
        (at("parquet/train.parquet"), parquet, "parquet"),
    ]
}

#[test]
fn what_a_format_is_taken_for_is_said_unless_the_user_says_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for (data, words, kind) in data_sets(folder.path()) {
        let found = feedline(&["plan", "--data", word(&data)]);
        let notes = String::from_utf8_lossy(&found.stderr);
        assert!(
            found.status.success() && notes.contains(&format!("is taken for {words}; the option kind")),
            "{notes}"
        );
        let said = feedline(&["plan", "--data", word(&data), "--source", kind]);
        assert!(said.status.success() && said.stderr.is_empty() && said.stdout == found.stdout);
    }
}

#[test]
fn verify_looks_at_every_image_of_a_format() {
    let folder = tempfile::tempdir().expect("a folder");
    for (data, ..) in data_sets(folder.path()) {
        let sound = feedline(&["verify", word(&data), "--json"]);
        assert!(sound.status.success(), "{}", String::from_utf8_lossy(&sound.stderr));
        assert_eq!(String::from_utf8_lossy(&sound.stdout).matches("\"status\":\"ok\"").count(), 2);
    }
    let broken = folder.path().join("broken.tfrecord");
    tfrecord(&broken, &[example(&[("image/encoded", Feature::Bytes(b"no image"))])]);
    let found = feedline(&["verify", word(&broken)]);
    assert!(!found.status.success());
    assert!(String::from_utf8_lossy(&found.stdout).contains("broken.tfrecord/0"), "{found:?}");
}

#[test]
fn columns_roots_and_splits_reach_the_source_that_they_are_for() {
    let folder = tempfile::tempdir().expect("a folder");
    data_sets(folder.path());
    let at = |name: &str| folder.path().join(name);
    let list = at("list.csv");
    let (photo, root) = (photo(), at(""));
    fs::copy(&photo, at("1.jpg")).expect("a copy");
    fs::create_dir(at("lists")).expect("a folder");
    fs::write(&list, "where,label,breed\n1.jpg,0,tabby\n").expect("a list");
    fs::rename(&list, at("lists/list.csv")).expect("a list elsewhere");
    let list = at("lists/list.csv");
    let names = ["--root", word(&root), "--image-column", "where", "--label-column", "breed"];
    let found = feedline(&[&["verify", word(&list)], &names[..]].concat());
    assert!(found.status.success(), "{found:?}");
    let (parquet, tfrecord) = (at("parquet"), at("tfrecord"));
    let wrong = fail(&["plan", "--data", word(&parquet), "--image-column", "img"]);
    assert!(wrong.contains("no column `img` holds bytes"), "{wrong}");
    let wrong = fail(&["plan", "--data", word(&tfrecord), "--split", "val"]);
    assert!(wrong.contains("says `val` in its name"), "{wrong}");
    let wrong = fail(&["plan", "--data", word(&parquet), "--root", word(&root)]);
    assert!(
        wrong.contains("root is for data of the kind list or yolo") && wrong.contains("read as `parquet`"),
        "{wrong}"
    );
}
