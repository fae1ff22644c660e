//! YOLO label files: good lines, and every bad one of docs/labels.md.

use super::{objects, says, write};
use feedline::label::{Keypoint, Object, Unit};
use feedline::source::{OnBadLabel, Source, Yolo};
use std::path::Path;
use tempfile::TempDir;

/// A data set of two images, of which the first has this label file, and the second one that is sound.
fn data_set(labels: impl AsRef<[u8]>, yaml: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[("images/a.jpg", "a"), ("images/b.jpg", "b"), ("data.yaml", yaml), ("labels/b.txt", "")],
    );
    std::fs::write(folder.path().join("labels/a.txt"), labels).unwrap();
    folder
}

const TWO_CLASSES: &str = "train: images\nnames: [cat, dog]\n";
const THREE_POINTS: &str = "train: images\nnames: [cat]\nkpt_shape: [3, 3]\nflip_idx: [0, 2, 1]\n";

fn open(folder: &Path) -> feedline::error::Result<Yolo> {
    Yolo::open(folder.join("data.yaml"))
}

#[test]
fn a_box_is_read_as_its_corners() {
    let folder = data_set("1 0.5 0.25 0.5 0.25\n", TWO_CLASSES);
    let source = open(folder.path()).unwrap();
    let read = objects(&source, 0);
    let object = Object { class: 1, bbox: [0.25, 0.125, 0.75, 0.375], ..Object::default() };
    assert_eq!((read.unit, &read.list, &read.skeleton), (Unit::Normalized, &vec![object], &None));
    assert_eq!(source.classes(), ["cat", "dog"]);
    assert_eq!(objects(&source, 1).list, []);
    let report = source.report();
    assert_eq!((report.images, report.backgrounds, report.objects, report.clipped), (2, 1, 1, 0));
}

#[test]
fn a_polygon_is_kept_and_its_box_encloses_it() {
    let folder = data_set("0 0.25 0.5 0.75 0.125 0.5 0.875\n1 0.5 0.5 0.5 0.5", TWO_CLASSES);
    let list = objects(&open(folder.path()).unwrap(), 0).list.clone();
    assert_eq!(list[0].polygons, [vec![[0.25, 0.5], [0.75, 0.125], [0.5, 0.875]]]);
    assert_eq!(list[0].bbox, [0.25, 0.125, 0.75, 0.875]);
    assert_eq!((list[1].bbox, list[1].polygons.len()), ([0.25, 0.25, 0.75, 0.75], 0));
}

#[test]
fn keypoints_have_their_visibility_and_know_their_mirror_image() {
    let folder = data_set("0 0.5 0.5 0.5 0.5 0.25 0.5 2 0.5 0.75 1 0.9 7 0", THREE_POINTS);
    let source = open(folder.path()).unwrap();
    let read = objects(&source, 0);
    let point = |x, y, visibility| Keypoint { x, y, visibility };
    assert_eq!(read.list[0].keypoints, [point(0.25, 0.5, 2.0), point(0.5, 0.75, 1.0), Keypoint::default()]);
    let skeleton = source.skeleton().unwrap();
    assert_eq!((skeleton.count, &skeleton.flip), (3, &vec![0, 2, 1]));
    assert_eq!(read.skeleton.as_deref(), Some(skeleton));
}

#[test]
fn keypoints_without_visibility_are_visible_unless_they_lie_at_the_origin() {
    let folder = data_set("0 0.5 0.5 0.5 0.5 0.25 0.5 0 0", "train: images\nnc: 1\nkpt_shape: [2, 2]\n");
    let keypoints = objects(&open(folder.path()).unwrap(), 0).list[0].keypoints.clone();
    assert_eq!(keypoints, [Keypoint { x: 0.25, y: 0.5, visibility: 2.0 }, Keypoint::default()]);
}

#[test]
fn what_programs_do_to_text_files_does_not_matter() {
    let plain = data_set("0 0.5 0.5 0.25 0.25\n1 0.5 0.5 0.5 0.5\n", TWO_CLASSES);
    let odd = data_set("\u{FEFF}0.0\t0.5  0.5 .25 2.5e-1\r\n \r\n\r\n1 0.5 0.5 0.5 0.5", TWO_CLASSES);
    let read = |folder: &TempDir| objects(&open(folder.path()).unwrap(), 0).list.clone();
    assert_eq!(read(&plain), read(&odd));
}

#[test]
fn every_kind_of_bad_line_is_named_with_its_place() {
    let cases: [(&[u8], &str); 25] = [
        (b"0 0.5 0.5 0.5 1.02", "1.02 is out of range"),
        (b"0 1.2 0.5 0.5 0.5", "1.2 is out of range"),
        (b"0 -0.02 0.5 0.5 0.5", "-0.02 is out of range"),
        (b"0 320 240 64 64", "320 is out of range"),
        (b"0 0.1 0.1 0.5 0.1 0.5 1.5", "1.5 is out of range"),
        (b"0 nan 0.5 0.5 0.5", "`nan` is not finite"),
        (b"0 0.5 inf 0.5 0.5", "`inf` is not finite"),
        (b"0 0.5 0.5 -0.1 0.5", "the size -0.1 x 0.5"),
        (b"0 0.5 0.5 0.5 0", "the size 0.5 x 0"),
        (b"0 0.5 0.5 1e-30 0.5", "has no size"),
        (b"0 0.5 0.1 0.5 0.5 0.5 0.9", "has no size"),
        (b"0 0.1 0.1 0.5 0.5 0.9 0.9", "no area: all its points lie on one line"),
        (b"0.5 0.5 0.5 0.5", "4 columns, expected 5"),
        (b"0.5 0.5 0.5 0.5", "is the class missing?"),
        (b"0", "1 columns"),
        (b"0 0.5 0.5 0.5 0.5 0.9", "a confidence"),
        (b"0 0.1 0.1 0.2 0.2 0.3 0.3 0.4", "8 columns"),
        (b"2 0.5 0.5 0.5 0.5", "the class 2 is not below the 2 classes"),
        (b"-1 0.5 0.5 0.5 0.5", "the class -1 is no index"),
        (b"0.5 0.5 0.5 0.5 0.5", "the class 0.5 is no index"),
        (b"1e300 0.5 0.5 0.5 0.5", "is no index"),
        (b"cat 0.5 0.5 0.5 0.5", "`cat` is no number"),
        (b"0,0.5,0.5,0.5,0.5", "is no number"),
        (b"0 0.5 0.5 0.5 0.5\xFF", "not UTF-8"),
        (b"\0\x01\x02", "`\\u{0}\\u{1}\\u{2}` is no number"),
    ];
    for (line, cause) in cases {
        let labels = [b"\n0 0.5 0.5 0.5 0.5\r\n", line].concat();
        let folder = data_set(labels, TWO_CLASSES);
        let error = open(folder.path()).unwrap_err();
        says(&error, &["1 bad label: ", "a.txt, line 3: ", cause, "on_bad_label"]);
        let skipping = Yolo::options().on_bad_label(OnBadLabel::SkipObject).open(folder.path()).unwrap();
        assert_eq!((objects(&skipping, 0).list.len(), skipping.report().bad_labels), (1, 1));
    }
}

#[test]
fn every_kind_of_bad_keypoint_is_named() {
    for (line, cause) in [
        ("0 0.5 0.5 0.5 0.5", "5 columns, expected 14 (class, box, 3 keypoints of 3)"),
        ("0 0.5 0.5 0.5 0.5 0.1 0.1 2 0.1 0.1 2 0.1 0.1", "13 columns"),
        ("0 0.5 0.5 0.5 0.5 0.1 0.1 3 0.1 0.1 2 0.1 0.1 2", "the visibility 3"),
        ("0 0.5 0.5 0.5 0.5 0.1 1.1 2 0.1 0.1 2 0.1 0.1 2", "1.1 is out of range"),
    ] {
        let folder = data_set(line, THREE_POINTS);
        says(&open(folder.path()).unwrap_err(), &["a.txt, line 1: ", cause]);
    }
}

#[test]
fn what_reaches_slightly_beyond_the_image_is_cut_off_and_counted() {
    let labels = "0 -0.01 0.5 0.5 0.5\n0 0.9 0.5 0.5 1.01\n0 0.1 0.1 1.005 0.1 0.5 0.9\n0 0.5 0.5 1.000001 1";
    let folder = data_set(labels, TWO_CLASSES);
    let source = open(folder.path()).unwrap();
    let boxes: Vec<[f32; 4]> = objects(&source, 0).list.iter().map(|object| object.bbox).collect();
    assert_eq!(
        boxes,
        [[0.0, 0.25, 0.25, 0.75], [0.65, 0.0, 1.0, 1.0], [0.1, 0.1, 1.0, 0.9], [0.0, 0.0, 1.0, 1.0]]
    );
    assert_eq!(source.report().clipped, 3);
}

#[test]
fn an_object_that_is_there_twice_is_taken_once_and_counted() {
    let labels = "0 0.5 0.5 0.5 0.5\n1 0.5 0.5 0.5 0.5\n0 0.50 0.5 0.5 0.5\n0 0.5 0.5 0.5 0.5";
    let folder = data_set(labels, TWO_CLASSES);
    let source = open(folder.path()).unwrap();
    let classes: Vec<i64> = objects(&source, 0).list.iter().map(|object| object.class).collect();
    assert_eq!((classes, source.report().duplicates, source.report().objects), (vec![0, 1], 2, 2));
}

#[test]
fn a_missing_and_an_empty_label_file_are_background() {
    let folder = data_set("0 0.5 0.5 0.5 0.5", TWO_CLASSES);
    write(folder.path(), &[("images/c.png", "c")]);
    let source = open(folder.path()).unwrap();
    assert_eq!((source.len(), source.report().backgrounds), (3, 2));
    assert!(objects(&source, 2).list.is_empty());
}

#[test]
fn images_without_a_single_label_file_are_taken_for_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("data.yaml", TWO_CLASSES), ("images/a.jpg", ""), ("labels/train/a.txt", "")]);
    says(
        &open(folder.path()).unwrap_err(),
        &["none of 1 images has a label file", "labels/a.txt", "Folder::flat"],
    );
}

#[test]
fn an_image_with_a_bad_label_can_be_left_out() {
    let folder = data_set("0 0.5 0.5 0.5 0.5\n0 7 7 7 7", TWO_CLASSES);
    let source = Yolo::options().on_bad_label(OnBadLabel::SkipImage).open(folder.path()).unwrap();
    assert_eq!((source.len(), source.key(0).as_ref()), (1, "images/b.jpg"));
    let report = source.report();
    assert_eq!((report.images, report.skipped_images, report.bad_labels, report.objects), (1, 1, 1, 0));
    assert!(report.bad[0].place.ends_with("labels/a.txt, line 2"), "{:?}", report.bad);
    std::fs::write(folder.path().join("labels/b.txt"), "x").unwrap();
    let error = Yolo::options().on_bad_label(OnBadLabel::SkipImage).open(folder.path()).unwrap_err();
    says(&error, &["every image has a bad label"]);
}

#[test]
fn many_bad_labels_are_counted_and_the_first_are_quoted() {
    let folder = data_set("0 0 0 0 0\n".repeat(50), TWO_CLASSES);
    let error = open(folder.path()).unwrap_err();
    says(&error, &["50 bad labels: ", "line 1: ", "line 2: ", "line 3: ", "; ...; mend"]);
    assert!(!error.to_string().contains("line 4"), "{error}");
    let options = Yolo::options().on_bad_label(OnBadLabel::SkipObject);
    assert_eq!(options.clone().open(folder.path()).unwrap().report().bad.len(), 20);
    assert_eq!(options.clone().bad_listed(0).open(folder.path()).unwrap().report().bad.len(), 3);
    assert_eq!(options.bad_listed(50).open(folder.path()).unwrap().report().bad.len(), 50);
}

#[test]
fn a_label_file_that_is_no_file_is_refused() {
    let folder = data_set("", TWO_CLASSES);
    std::fs::remove_file(folder.path().join("labels/b.txt")).unwrap();
    std::fs::create_dir(folder.path().join("labels/b.txt")).unwrap();
    says(&open(folder.path()).unwrap_err(), &["labels/b.txt", "a folder and not a regular file"]);
}
