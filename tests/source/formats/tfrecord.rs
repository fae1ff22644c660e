//! TFRecord files: which features count, and what becomes of damaged records.

use super::{all, cause, labels, refused};
use crate::write::{Feature, example, tfrecord};
use feedline::label::Label;
use feedline::options::Options;
use feedline::source::{Source, TfRecord, open};
use std::path::{Path, PathBuf};

const IMAGE: (&str, Feature<'_>) = ("image/encoded", Feature::Bytes(b"an image"));

fn file(folder: &Path, records: &[Vec<u8>]) -> PathBuf {
    let path = folder.join("a.tfrecord");
    tfrecord(&path, records);
    path
}

fn refuses(records: &[Vec<u8>], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), records);
    refused(TfRecord::open(&path), &[&[path.to_str().unwrap()], words].concat());
}

#[test]
fn image_label_text_and_name_are_found_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let long = vec![7; 10_000];
    let records = [
        example(&[
            ("image/class/label", Feature::Number(2)),
            ("image/height", Feature::Number(-5)),
            ("image/encoded", Feature::Bytes(&long)),
            ("image/class/text", Feature::Bytes(b"dog")),
            ("ratio", Feature::Fraction(0.5)),
            ("image/filename", Feature::Bytes(b"n01/7.jpg")),
        ]),
        example(&[("image/object/bbox/label", Feature::Numbers(&[1, 2])), IMAGE]),
        example(&[
            IMAGE,
            ("image/class/label", Feature::Number(0)),
            ("image/class/text", Feature::Bytes(b"cat")),
        ]),
        example(&[IMAGE, ("image/class/label", Feature::Number(-1))]),
    ];
    let source = TfRecord::open(file(folder.path(), &records)).unwrap();
    let record = |key: &str, bytes: &[u8], label| (format!("a.tfrecord/{key}"), bytes.to_vec(), label);
    assert_eq!(
        all(&source),
        [
            record("0/n01/7.jpg", &long, Label::Class(2)),
            record("1", b"an image", Label::Unlabelled),
            record("2", b"an image", Label::Class(0)),
            record("3", b"an image", Label::Unlabelled),
        ]
    );
    assert_eq!(source.classes(), ["cat", "", "dog"]);
}

#[test]
fn an_index_with_two_names_leaves_classes_without_names() {
    let folder = tempfile::tempdir().unwrap();
    let record = |text: &'static [u8]| {
        example(&[
            IMAGE,
            ("image/class/label", Feature::Number(1)),
            ("image/class/text", Feature::Bytes(text)),
        ])
    };
    let source = TfRecord::open(file(folder.path(), &[record(b"cat"), record(b"feline")])).unwrap();
    assert!(source.classes().is_empty());
    assert_eq!(labels(&source), [1, 1]);
}

#[test]
fn features_may_have_other_names_and_classes_may_be_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let record = |class: &'static [u8]| {
        example(&[("img", Feature::Bytes(b"1")), ("y", Feature::Bytes(class)), ("id", Feature::Bytes(b"x"))])
    };
    let path = file(folder.path(), &[record(b"dog"), record(b"cat"), record(b"")]);
    let options = TfRecord::options().image_feature("img").label_feature("y").file_feature("id");
    let source = options.open(path).unwrap();
    assert_eq!(
        (labels(&source), source.classes()),
        (vec![1, 0, -1], &["cat".to_owned(), "dog".to_owned()][..])
    );
    assert_eq!(source.key(1), "a.tfrecord/1/x");
}

#[test]
fn options_name_the_features_too() {
    let folder = tempfile::tempdir().unwrap();
    let record = |class: i64, text: &'static [u8]| {
        let (class, name) = (("y", Feature::Number(class)), ("id", Feature::Bytes(b"x")));
        example(&[("img", Feature::Bytes(b"1")), class, ("word", Feature::Bytes(text)), name])
    };
    let path = file(folder.path(), &[record(1, b"dog"), record(0, b"cat")]);
    let mut options = Options::default();
    options.set_path("data", path).unwrap();
    let names =
        [("image_column", "img"), ("label_column", "y"), ("class_column", "word"), ("name_column", "id")];
    names.iter().for_each(|(option, feature)| options.set_text(option, feature).unwrap());
    let source = open(&options.data).unwrap().source;
    assert_eq!((labels(&*source), source.classes()), (vec![1, 0], &["cat".to_owned(), "dog".to_owned()][..]));
    assert_eq!(source.key(1), "a.tfrecord/1/x");
}

#[test]
fn a_record_whose_data_changed_is_a_bad_sample_and_the_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let record = || example(&[IMAGE, ("image/class/label", Feature::Number(1))]);
    let path = file(folder.path(), &[record(), record(), record()]);
    let bytes = std::fs::read(&path).unwrap();
    let start = bytes.len() / 3;
    // In the image, in the name of its feature, and in the message's own tags and lengths.
    for at in [start + 40, start + 25, start + 12, start + 13] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        std::fs::write(&path, changed).unwrap();
        let source = TfRecord::open(&path).unwrap();
        let told = cause(&source, 1);
        let words = [&format!("record 1 at byte {start}:"), "a.tfrecord", "checksum", "copy the file again"];
        words.iter().for_each(|word| assert!(told.contains(word), "`{word}` is not in: {told}"));
        for (index, image) in [(0, b"an image"), (2, b"an image")] {
            let mut bytes = Vec::new();
            source.read(index, &mut bytes).unwrap();
            assert_eq!(bytes, image);
        }
    }
}

#[test]
fn a_file_whose_frames_are_broken_is_refused_with_record_and_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), &[example(&[IMAGE]), example(&[IMAGE])]);
    let bytes = std::fs::read(&path).unwrap();
    let second = bytes.len() / 2;
    let place = format!("a.tfrecord, record 1 at byte {second}:");
    for end in [second + 5, second + 12, second + 20, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..end]).unwrap();
        refused(TfRecord::open(&path), &[&place, "ends in the middle of the record", "copy it again"]);
    }
    for at in [second, second + 7, second + 8, second + 11] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&path, changed).unwrap();
        refused(
            TfRecord::open(&path),
            &[&place, "the length does not match its checksum", "copy the file again"],
        );
    }
}

#[test]
fn what_is_no_image_with_one_class_is_refused() {
    let label = |feature| example(&[IMAGE, ("image/class/label", feature)]);
    refuses(&[example(&[IMAGE]), b"no message".to_vec()], &["record 1 at byte", "no tf.train.Example"]);
    refuses(
        &[example(&[("pixels", Feature::Bytes(b"1")), ("id", Feature::Number(1))])],
        &["record 0 at byte 0", "no feature `image/encoded` (there are pixels, id)", "image_feature"],
    );
    refuses(
        &[example(&[("image/encoded", Feature::Number(1))])],
        &["holds 0 values of bytes: it must hold one"],
    );
    refuses(&[label(Feature::Numbers(&[1, 1]))], &["record 0 at byte 0", "the class `1` is there twice"]);
    refuses(&[label(Feature::Fraction(0.5))], &["`image/class/label` holds fractions"]);
    refuses(&[label(Feature::Bytes(b"\xff"))], &["`image/class/label` is not UTF-8"]);
    refuses(&[label(Feature::Number(-2))], &["the label -2 is no class"]);
    refuses(
        &[label(Feature::Number(1)), label(Feature::Bytes(b"cat"))],
        &["record 1 at byte", "the label `cat` and the label `1` of record 0 of", "two kinds"],
    );
    refuses(&[], &["no record is in them"]);
}

#[test]
fn compressed_files_are_refused_with_what_unpacks_them() {
    let folder = tempfile::tempdir().unwrap();
    for (name, head) in [
        ("a.tfrecord.gz", &b"\x1f\x8b\x08\0\0\0\0\0\0\0\0\0\0"[..]),
        ("a.tfrecord", b"\x78\x9c0123456789abc"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, head).unwrap();
        refused(TfRecord::open(&path), &[name, "compressed", "gunzip"]);
        assert!(TfRecord::is_at(&path));
    }
}

#[test]
fn a_record_above_the_bound_and_a_file_that_vanished_are_bad_samples() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), &[example(&[("image/encoded", Feature::Bytes(&[0; 3000]))])]);
    let source = TfRecord::open(&path).unwrap().max_file_bytes(3000);
    assert!(cause(&source, 0).contains("raise max_file_bytes"));
    std::fs::remove_file(&path).unwrap();
    let told = cause(&source.max_file_bytes(4000), 0);
    assert!(told.contains("No such file") && told.contains("restore the file"), "{told}");
}

#[test]
fn a_file_is_known_by_its_first_record_and_not_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.bin");
    tfrecord(&path, &[example(&[IMAGE])]);
    assert!(TfRecord::is_at(&path));
    std::fs::write(&path, b"a text that is longer than a header").unwrap();
    assert!(!TfRecord::is_at(&path));
}
