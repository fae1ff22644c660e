//! MNIST's and CIFAR's files: which of a folder are taken, what their images and classes are, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::write;
use feedline::image::{Decoder, Image, Limits, parse_header};
use feedline::label::Label;
use feedline::options::DataOptions;
use feedline::source::{self, Cifar, Idx, Kind, Source};
use std::fs;
use std::path::Path;

/// Writes images of 2x2 pixels and their labels, which begin with `first`.
fn write_idx(folder: &Path, name: &str, ending: &str, first: u8) {
    let labels = [first, first + 1];
    write::idx(&folder.join(format!("{name}-images-idx3-ubyte{ending}")), 8, &[2, 2, 2], &[first; 8]);
    write::idx(&folder.join(format!("{name}-labels-idx1-ubyte{ending}")), 8, &[2], &labels);
}

/// Two images of one colour, with these labels each.
fn write_cifar(path: &Path, labels: [&[u8]; 2]) {
    write::cifar(path, &labels.map(|labels| (labels.to_vec(), [10, 20, 30].repeat(1024))));
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|index| source.label(index).class()).collect()
}

/// Asserts that opening fails with all of these words.
#[track_caller]
fn refused<S>(opened: feedline::error::Result<S>, words: &[&str]) {
    let text = opened.err().expect("it is to be refused").to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
}

fn at(path: &Path) -> DataOptions {
    DataOptions { path: Some(path.to_owned()), ..DataOptions::default() }
}

#[test]
fn a_split_of_mnist_is_chosen_by_the_names_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let raw = folder.path().join("raw");
    fs::create_dir(&raw).unwrap();
    write_idx(&raw, "train", "", 0);
    write_idx(&raw, "t10k", ".gz", 5);
    // As torchvision leaves it, and other bytes in it to see which is read.
    write_idx(&raw, "train", ".gz", 8);
    fs::write(raw.join("train-images-idx3-ubyte.gz.part"), b"what a download left").unwrap();
    assert_eq!(Kind::of(folder.path()), Kind::Idx);
    for place in [folder.path(), &raw] {
        refused(Idx::open(place), &["holds the splits test, train", "choose one (split, --split)"]);
        let open = |split: &str| source::open(&DataOptions { split: Some(split.into()), ..at(place) });
        let [train, test] = ["train", "test"].map(|split| open(split).unwrap());
        assert_eq!((labels(&train.source), labels(&test.source)), (vec![0, 1], vec![5, 6]));
        assert_eq!(
            (train.source.key(1), test.source.key(0)),
            ("train-images-idx3-ubyte/1".into(), "t10k-images-idx3-ubyte/0".into())
        );
        assert!(train.notes[0].to_string().contains("taken for idx files of 2 images and 0 named classes"));
        assert_eq!(labels(&open("t10k").unwrap().source), [5, 6]);
        refused(open("validation"), &["none of 3 idx files", "there are test, train"]);
    }
    assert_eq!(labels(&Idx::open(raw.join("train-images-idx3-ubyte.gz")).unwrap()), [8, 9]);
    let one = raw.join("t10k-images-idx3-ubyte.gz");
    assert_eq!(Kind::of(&one), Kind::Idx);
    assert_eq!(labels(&Idx::open(one).unwrap()), [5, 6]);
}

#[test]
fn of_several_data_sets_of_a_folder_one_is_to_be_named() {
    let folder = tempfile::tempdir().unwrap();
    write_idx(folder.path(), "emnist-letters-train", ".gz", 1);
    write_idx(folder.path(), "emnist-digits-train", ".gz", 3);
    refused(
        Idx::open(folder.path()),
        &["2 data sets (emnist-digits-train-images-idx3-ubyte.gz, emnist-letters-", "name one of the files"],
    );
    let letters = Idx::open(folder.path().join("emnist-letters-train-images-idx3-ubyte.gz")).unwrap();
    assert_eq!(labels(&letters), [1, 2]);
}

#[test]
fn idx_files_of_other_numbers_or_sizes_are_refused_with_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("a-images-idx3-ubyte");
    let beside = folder.path().join("a-labels-idx1-ubyte");
    write::idx(&beside, 8, &[2], &[0, 1]);
    let refuse = |kind: u8, shape: &[u32], bytes: usize, words: &[&str]| {
        write::idx(&images, kind, shape, &vec![1; bytes]);
        refused(Idx::open(&images), words);
        assert_eq!(Kind::of(folder.path()), Kind::Idx);
        // What is refused is refused when it is packed as well.
        let packed = images.with_extension("gz");
        write::idx(&packed, kind, shape, &vec![1; bytes]);
        fs::rename(&packed, images.with_file_name("b-images-idx3-ubyte.gz")).unwrap();
        fs::copy(&beside, beside.with_file_name("b-labels-idx1-ubyte")).unwrap();
        refused(Idx::open(images.with_file_name("b-images-idx3-ubyte.gz")), words);
    };
    refuse(0x0B, &[2, 2, 2], 16, &["holds integers of 16 bits", "write levels and labels as bytes"]);
    refuse(0x0D, &[2, 2, 2], 32, &["holds floating-point numbers of 32 bits"]);
    refuse(8, &[2], 2, &["an array of 1 dimensions", "name the file of the images"]);
    refuse(8, &[2, 2, 2, 3], 24, &["an array of 4 dimensions", "name another file"]);
    refuse(8, &[2, 2, 2], 7, &["is cut short: its head promises 24 bytes", "copy it again"]);
    refuse(8, &[2, 2, 2], 9, &["is longer than its head says, which is 24 bytes"]);
    refuse(8, &[2, 0, 2], 0, &["2 images of 2x0 pixels"]);
    refuse(8, &[3, 2, 2], 12, &["holds 2 labels", "3 images"]);
    refuse(8, &[u32::MAX, u32::MAX, u32::MAX], 9, &["copy it again"]);
    refuse(0x0A, &[2, 2, 2], 8, &["is no idx file"]);
    write::idx(&images, 8, &[2, 2, 2], &[1; 8]);
    fs::remove_file(&beside).unwrap();
    refused(
        Idx::open(&images),
        &["labels are not there", "put a-labels-idx1-ubyte or a-labels-idx1-ubyte.gz beside"],
    );
    fs::write(&images, [0, 0]).unwrap();
    refused(Idx::open(&images), &["is cut short"]);
    let other = folder.path().join("pictures");
    write::idx(&other, 8, &[2, 2, 2], &[1; 8]);
    refused(Idx::open(&other), &["`images` becomes `labels`"]);
}

#[test]
fn a_packed_file_takes_no_more_memory_than_it_can_fill() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("a-images-idx3-ubyte.gz");
    write::idx(&images, 8, &[60_000, 1 << 14, 2], &[1; 8]);
    refused(Idx::open(&images), &["is cut short: its head promises 1966080016 bytes"]);
    write::idx(&images, 8, &[1 << 20, 1 << 14, 2], &[1; 8]);
    refused(Idx::open(&images), &["it would be unpacked to 34359738384 bytes", "unpack it (gunzip)"]);
    let mut cut = fs::read(&images).unwrap();
    cut.truncate(20);
    fs::write(&images, cut).unwrap();
    assert!(Idx::open(&images).is_err());
}

#[test]
fn the_classes_of_cifar_have_the_names_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    write_cifar(&folder.path().join("data_batch_1.bin"), [&[3], &[9]]);
    write_cifar(&folder.path().join("data_batch_2.bin"), [&[0], &[1]]);
    write_cifar(&folder.path().join("test_batch.bin"), [&[5], &[6]]);
    assert!(Cifar::options().split("test").open(folder.path()).unwrap().classes().is_empty());
    let names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];
    fs::write(folder.path().join("batches.meta.txt"), names.join("\n") + "\n\n").unwrap();
    refused(Cifar::open(folder.path()), &["holds the splits test, train"]);
    let open =
        |split: &str| source::open(&DataOptions { split: Some(split.into()), ..at(folder.path()) }).unwrap();
    let (train, test) = (open("train"), open("test"));
    assert_eq!((train.kind, train.source.classes()), (Kind::Cifar, &names.map(String::from)[..]));
    assert_eq!((labels(&train.source), labels(&test.source)), (vec![3, 9, 0, 1], vec![5, 6]));
    assert_eq!(train.source.key(2), "data_batch_2.bin/0");
    let pattern = folder.path().join("data_batch_*.bin");
    assert_eq!(
        (Kind::of(&pattern), labels(&Cifar::open(&pattern).unwrap())),
        (Kind::Cifar, vec![3, 9, 0, 1])
    );
    let one = folder.path().join("data_batch_2.bin");
    assert_eq!((Kind::of(&one), labels(&Cifar::open(&one).unwrap())), (Kind::Cifar, vec![0, 1]));
    fs::write(folder.path().join("batches.meta.txt"), "cat\ndog\n").unwrap();
    refused(Cifar::open(&one), &["it names 2 classes, and there are 10"]);
}

#[test]
fn images_of_files_of_one_name_in_several_folders_have_keys_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        write_cifar(&folder.path().join(name).join("data_batch_1.bin"), [&[3], &[9]]);
    }
    let source = Cifar::open(folder.path().join("*/data_batch_1.bin")).unwrap();
    let keys: Vec<_> = (0..source.len()).map(|index| source.key(index)).collect();
    let of = |name: &str| [0, 1].map(|number| format!("{name}/data_batch_1.bin/{number}"));
    assert_eq!(keys, [of("a"), of("b")].concat());
}

#[test]
fn cifar_100_has_fine_and_coarse_classes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["train.bin", "test.bin"] {
        write_cifar(&folder.path().join(name), [&[4, 72], &[19, 99]]);
    }
    let names: Vec<String> = (0..20).map(|class| format!("class {class}")).collect();
    fs::write(folder.path().join("coarse_label_names.txt"), names.join("\r\n")).unwrap();
    assert_eq!(Kind::of(folder.path()), Kind::Cifar);
    let open = |column: Option<&str>| {
        let label_column = column.map(String::from);
        source::open(&DataOptions { split: Some("test".into()), label_column, ..at(folder.path()) })
    };
    assert_eq!(labels(&open(None).unwrap().source), [72, 99]);
    assert_eq!(labels(&open(Some("fine")).unwrap().source), [72, 99]);
    let coarse = open(Some("coarse")).unwrap().source;
    assert_eq!((labels(&coarse), coarse.classes()), (vec![4, 19], &names[..]));
    refused(open(Some("label")), &["no labels `label`", "fine or coarse"]);
}

#[test]
fn an_image_of_cifar_has_its_planes_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let levels: Vec<u8> = (0..3072).map(|at| (at * 7 % 251) as u8).collect();
    write::cifar(
        &folder.path().join("test_batch.bin"),
        &[(vec![0], vec![0; 3072]), (vec![7], levels.clone())],
    );
    let (source, mut bytes, mut image) = (Cifar::open(folder.path()).unwrap(), Vec::new(), Image::default());
    source.read(1, &mut bytes).unwrap();
    let header = parse_header(&bytes).unwrap();
    Decoder::new(Limits::default()).decode(&bytes, &header, header.size.rect(), &mut image).unwrap();
    assert_eq!((image.stride, &image.data[..3072]), (96, &levels[..]));
    assert_eq!(source.label(1), Label::Class(7));
    let small = source.max_file_bytes(3000);
    let error = small.read(1, &mut bytes).unwrap_err();
    assert!(error.to_string().contains("test_batch.bin/1") && bytes.is_empty(), "{error}");
}

#[test]
fn what_is_not_the_binary_version_of_cifar_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::write(place("data_batch_1"), b"\x80\x02}q").unwrap();
    fs::write(place("batches.meta"), b"\x80\x02}q").unwrap();
    for path in [folder.path(), &place("data_batch_1")] {
        assert_eq!(Kind::of(path), Kind::Cifar);
        refused(source::open(&at(path)), &["the Python version of CIFAR", "cifar-10-binary.tar.gz"]);
    }
    fs::remove_file(place("batches.meta")).unwrap();
    fs::write(place("test_batch.bin"), [0; 3072]).unwrap();
    refused(Cifar::open(folder.path()), &["it has 3072 bytes, and images of CIFAR-10 take 3073 each"]);
    write_cifar(&place("test_batch.bin"), [&[1], &[10]]);
    refused(Cifar::open(folder.path()), &["image 1 has the class 10, and CIFAR-10 has 10"]);
    refused(
        Cifar::options().labels("coarse").open(folder.path()),
        &["CIFAR-10 has one label", "leave label_column out"],
    );
    write_cifar(&place("test.bin"), [&[1, 1], &[1, 2]]);
    refused(Cifar::open(folder.path()), &["not all of one data set"]);
    // A file of any name is told by its size.
    write_cifar(&place("mine"), [&[1, 1], &[1, 2]]);
    assert_eq!(labels(&Cifar::open(place("mine")).unwrap()), [1, 2]);
    fs::write(place("mine"), [0; 100]).unwrap();
    refused(Cifar::open(place("mine")), &["neither its name nor its 100 bytes say"]);
}
