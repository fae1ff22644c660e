//! The cache of labels: it gives the very same labels, and is never believed when it should not be.

use super::{says, write};
use feedline::options::Options;
use feedline::source::{Coco, OnBadLabel, Source, Yolo, YoloOptions, open};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

struct Set {
    folder: TempDir,
}

impl Set {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                ("data.yaml", "train: images\nnames: [cat, dog]\nkpt_shape: [1, 3]\nflip_idx: [0]\n"),
                ("images/a.jpg", ""),
                ("images/b.jpg", ""),
                ("images/c.jpg", ""),
                ("labels/a.txt", "0 0.5 0.5 0.5 0.5 0.25 0.25 2\n1 0.5 0.5 0.25 0.25 0.5 0.5 1"),
                ("labels/b.txt", "1 0.5 0.5 0.125 0.25 0 0 0"),
            ],
        );
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self) -> YoloOptions {
        Yolo::options().cache(self.path("kept"))
    }

    /// Opens with a cache, and says how that served.
    fn told(&self, options: YoloOptions) -> String {
        let (cached, plain) = (options.open(self.folder.path()).unwrap(), Yolo::open(self.folder.path()));
        if let Ok(plain) = plain {
            same(&cached, &plain);
            assert_eq!(cached.skeleton(), plain.skeleton());
        }
        cached.report().cache.clone().unwrap()
    }
}

fn same(a: &dyn Source, b: &dyn Source) {
    assert_eq!((a.len(), a.classes()), (b.len(), b.classes()));
    for index in 0..a.len() {
        assert_eq!((a.key(index), a.label(index)), (b.key(index), b.label(index)));
    }
}

#[test]
fn the_second_opening_takes_the_labels_from_the_cache() {
    let set = Set::new();
    says(&set.told(set.options()), &["kept was not there yet and has been written"]);
    says(&set.told(set.options()), &["kept gave the labels"]);
    let report = set.options().open(set.folder.path()).unwrap().report().clone();
    assert_eq!((report.objects, report.images, report.backgrounds), (3, 3, 1));
}

#[test]
fn nothing_is_written_unless_a_cache_is_asked_for() {
    let set = Set::new();
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(set.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    };
    let before = names();
    Yolo::open(set.folder.path()).unwrap();
    assert_eq!(names(), before);
    set.told(set.options());
    assert_eq!(names().len(), before.len() + 1);
}

#[test]
fn what_has_changed_is_read_again_and_named() {
    let set = Set::new();
    set.told(set.options());
    write(set.folder.path(), &[("labels/b.txt", "0 0.5 0.5 0.125 0.25 0 0 0\n\n")]);
    says(&set.told(set.options()), &["ignored and written anew", "labels/b.txt has changed"]);
    says(&set.told(set.options()), &["gave the labels"]);
    write(set.folder.path(), &[("labels/c.txt", "0 0.5 0.5 0.125 0.25 0 0 0")]);
    says(&set.told(set.options()), &["labels/c.txt has changed"]);
    fs::remove_file(set.path("labels/a.txt")).unwrap();
    says(&set.told(set.options()), &["labels/a.txt has changed"]);
    write(set.folder.path(), &[("images/d.jpg", "")]);
    says(&set.told(set.options()), &["another list of files"]);
    let file = fs::File::options().append(true).open(set.path("labels/b.txt")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    says(&set.told(set.options()), &["labels/b.txt has changed"]);
}

#[test]
fn other_options_are_another_cache() {
    let set = Set::new();
    set.told(set.options());
    let skipping = set.options().on_bad_label(OnBadLabel::SkipObject);
    says(&set.told(skipping.clone()), &["other options"]);
    let yaml = "train: images\nnames: [cat]\nkpt_shape: [1, 3]\n";
    write(set.folder.path(), &[("data.yaml", yaml)]);
    says(&set.told(skipping), &["other options"]);
    says(&set.options().open(set.folder.path()).unwrap_err(), &["the class 1 is not below the 1 classes"]);
}

#[test]
fn skipped_images_stay_skipped() {
    let set = Set::new();
    write(set.folder.path(), &[("labels/a.txt", "x")]);
    let options = set.options().on_bad_label(OnBadLabel::SkipImage);
    let read = options.clone().open(set.folder.path()).unwrap();
    let cached = options.open(set.folder.path()).unwrap();
    same(&read, &cached);
    assert_eq!((read.report().bad.clone(), read.len()), (cached.report().bad.clone(), 2));
    assert_eq!(cached.report().skipped_images, 1);
}

#[test]
fn a_cache_with_any_byte_changed_or_missing_is_written_anew() {
    let set = Set::new();
    set.told(set.options());
    let sound = fs::read(set.path("kept")).unwrap();
    let is_refused = |bytes: &[u8]| {
        fs::write(set.path("kept"), bytes).unwrap();
        let read = set.options().open(set.folder.path()).unwrap();
        says(&read.report().cache.clone().unwrap(), &["was ignored and written anew: it "]);
    };
    for at in (16..sound.len()).step_by(3) {
        let mut damaged = sound.clone();
        damaged[at] ^= 1 << (at % 8);
        is_refused(&damaged);
    }
    (16..sound.len()).step_by(19).for_each(|at| is_refused(&sound[..at]));
    is_refused(&[&sound[..], b"x"].concat());
    assert_eq!(fs::read(set.path("kept")).unwrap(), sound);
    says(&set.told(set.options()), &["gave the labels"]);
}

#[test]
fn a_file_of_the_users_own_is_not_written_over() {
    let set = Set::new();
    for text in ["my notes, which are longer than a magic number", "short"] {
        fs::write(set.path("kept"), text).unwrap();
        says(
            &set.options().open(set.folder.path()).unwrap_err(),
            &["kept is no cache of labels", "another path"],
        );
        assert_eq!(fs::read_to_string(set.path("kept")).unwrap(), text);
    }
    let nowhere = Yolo::options().cache(set.path("no/such/folder/kept"));
    says(
        &nowhere.open(set.folder.path()).unwrap_err(),
        &["no/such/folder/kept", "another path for the cache"],
    );
}

#[test]
fn coco_annotations_are_kept_too() {
    let folder = tempfile::tempdir().unwrap();
    let json = r#"{"images": [{"id": 1, "file_name": "a.jpg", "width": 8, "height": 8}, {"id": 2, "file_name": "b.jpg"}],
        "categories": [{"id": 1, "name": "a", "keypoints": ["left_eye", "right_eye"]}], "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "keypoints": [1, 1, 2, 2, 2, 2],
         "segmentation": [[1, 1, 3, 1, 3, 3]]}]}"#;
    write(folder.path(), &[("a.json", json), ("a.jpg", ""), ("b.jpg", "")]);
    let path = |name: &str| folder.path().join(name);
    let open = || Coco::options().cache(path("kept")).open(path("a.json"), folder.path()).unwrap();
    let plain = Coco::open(path("a.json"), folder.path()).unwrap();
    for told in ["was not there yet", "gave the labels"] {
        let cached = open();
        same(&cached, &plain);
        assert_eq!((cached.skeleton(), cached.category_ids()), (plain.skeleton(), plain.category_ids()));
        assert_eq!((cached.image_id(1), cached.image_size(0)), (Some(2), Some([8, 8])));
        says(&cached.report().cache.clone().unwrap(), &[told]);
    }
    write(folder.path(), &[("a.json", &json.replace("[1, 1, 2, 2]", "[1, 1, 2, 2.0]"))]);
    says(&open().report().cache.clone().unwrap(), &["a.json has changed"]);
}

#[test]
fn options_say_where_images_and_the_cache_are() {
    let folder = tempfile::tempdir().unwrap();
    let json = r#"{"images": [{"id": 1, "file_name": "a.jpg", "width": 8, "height": 8}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}]}"#;
    fs::create_dir(folder.path().join("pictures")).unwrap();
    write(folder.path(), &[("a.json", json), ("pictures/a.jpg", "")]);
    let path = |name: &str| folder.path().join(name);
    let mut options = Options::default();
    options.set_path("data", path("a.json")).unwrap();
    assert!(open(&options.data).is_err());
    options.set_path("image_dir", path("pictures")).unwrap();
    options.set_path("label_cache", path("kept")).unwrap();
    for told in ["was not there yet", "gave the labels"] {
        let opened = open(&options.data).unwrap();
        assert_eq!(opened.source.len(), 1);
        says(&opened.labels.unwrap().cache.unwrap(), &[told]);
    }
}
