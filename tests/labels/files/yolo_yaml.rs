//! Where a YOLO data set says that its images and labels lie.

use super::{objects, says, write};
use feedline::source::{Source, Yolo};
use tempfile::TempDir;

const BOX: &str = "0 0.5 0.5 0.5 0.5";

fn data_set(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    folder
}

fn keys(source: &dyn Source) -> Vec<String> {
    (0..source.len()).map(|index| source.key(index).into_owned()).collect()
}

#[test]
fn a_split_is_a_folder_a_list_or_several_of_them() {
    let yaml = "path: set\ntrain: [images/one, two.txt]\nval: images/one\ntest: two.txt # some\nnames:\n  0: a\n  1: b\n";
    let folder = data_set(&[
        ("sub/my.yaml", yaml),
        ("sub/set/images/one/deep/1.jpg", ""),
        ("sub/set/labels/one/deep/1.txt", BOX),
        ("sub/set/two.txt", "\u{FEFF}./images/2.jpg\r\n# a comment\n\nimages/3.png\n"),
        ("sub/set/images/2.jpg", ""),
        ("sub/set/labels/2.txt", BOX),
        ("sub/set/labels/3.txt", BOX),
    ]);
    let file = folder.path().join("sub/my.yaml");
    let train = Yolo::open(&file).unwrap();
    assert_eq!(keys(&train), ["images/one/deep/1.jpg", "images/2.jpg", "images/3.png"]);
    assert_eq!((0..3).map(|index| objects(&train, index).list.len()).sum::<usize>(), 3);
    assert_eq!(train.classes(), ["a", "b"]);
    assert_eq!(keys(&Yolo::options().split("val").open(&file).unwrap()), ["images/one/deep/1.jpg"]);
    assert_eq!(keys(&Yolo::options().split("test").open(&file).unwrap()), ["images/2.jpg", "images/3.png"]);
}

#[test]
fn the_last_folder_named_images_becomes_labels() {
    let folder = data_set(&[
        ("images/data.yaml", "train: set/images/images\nval: my_images\nnc: 1"),
        ("images/set/images/images/a.b.jpg", ""),
        ("images/set/images/labels/a.b.txt", BOX),
        ("labels/my_images/c.jpg", ""),
        ("images/my_images/c.jpg", ""),
        ("labels/my_images/c.txt", BOX),
    ]);
    let source = Yolo::open(folder.path().join("images")).unwrap();
    assert_eq!((objects(&source, 0).list.len(), source.report().backgrounds), (1, 0));
    let source = Yolo::options().split("val").open(folder.path().join("images")).unwrap();
    assert_eq!(objects(&source, 0).list.len(), 1);
}

#[test]
fn labels_lie_beside_images_where_no_folder_is_named_images() {
    let folder =
        data_set(&[("data.yml", "train: pictures\nnc: 1"), ("pictures/a.jpg", ""), ("pictures/a.txt", BOX)]);
    assert_eq!(objects(&Yolo::open(folder.path()).unwrap(), 0).list.len(), 1);
}

#[test]
fn exports_that_lead_one_folder_too_far_up_are_found() {
    let folder = data_set(&[
        ("set/data.yaml", "train: ../train/images\nnc: 1"),
        ("set/train/images/a.jpg", ""),
        ("set/train/labels/a.txt", BOX),
    ]);
    assert_eq!(keys(&Yolo::open(folder.path().join("set/data.yaml")).unwrap()), ["train/images/a.jpg"]);
}

#[test]
fn the_root_can_be_given_in_the_place_of_the_path() {
    let folder = data_set(&[
        ("yaml/data.yaml", "path: /nowhere/at/all\ntrain: images\nnc: 1"),
        ("set/images/a.jpg", ""),
        ("set/labels/a.txt", BOX),
    ]);
    let file = folder.path().join("yaml/data.yaml");
    says(&Yolo::open(&file).unwrap_err(), &["`images` is not at /nowhere/at/all/images", "(root)"]);
    assert_eq!(Yolo::options().root(folder.path().join("set")).open(&file).unwrap().len(), 1);
}

#[test]
fn a_folder_with_images_and_labels_needs_no_yaml() {
    let folder = data_set(&[
        ("images/train/a.jpg", ""),
        ("images/val/b.jpg", ""),
        ("labels/train/a.txt", "70 0.5 0.5 0.5 0.5"),
        ("labels/val/b.txt", BOX),
    ]);
    let all = Yolo::open(folder.path()).unwrap();
    assert_eq!(keys(&all), ["images/train/a.jpg", "images/val/b.jpg"]);
    assert_eq!((objects(&all, 0).list[0].class, all.classes().len()), (70, 0));
    assert_eq!(keys(&Yolo::options().split("val").open(folder.path()).unwrap()), ["images/val/b.jpg"]);
    assert!(Yolo::is_at(folder.path()) && !Yolo::is_at(&folder.path().join("images")));
}

#[test]
fn a_yaml_that_contradicts_itself_is_refused_with_the_remedy() {
    for (yaml, words) in [
        ("train: images\nnames: [a, b]\nnc: 3", &["nc = 3", "2 names", "drop nc"][..]),
        ("train: images\nnames: {0: a, 2: b}", &["the class 2 where 1 must be"]),
        ("train: images\nnames: {1: a}", &["the class 1 where 0 must be"]),
        ("train: images\nkpt_shape: [17, 4]", &["kpt_shape = [17, 4]"]),
        ("train: images\nkpt_shape: [17]", &["kpt_shape = [17]"]),
        ("train: images\nkpt_shape: [2, 3]\nflip_idx: [1]", &["flip_idx must have 2 entries"]),
        ("train: images\nkpt_shape: [3, 3]\nflip_idx: [1, 2, 0]", &["lead back"]),
        ("val: images\nnames: [a]", &["no split `train`", "there are: val"]),
        ("train: elsewhere", &["`elsewhere` is not at", "correct `path`"]),
        ("train: images\nnames: 7", &["a list of class names"]),
        ("train: [images", &["data.yaml: line 1 column ", "; mend the YAML"]),
        ("- train", &["mend the YAML"]),
        ("train: []", &["names no folder of images"]),
        ("train: nothing", &["nothing holds no image", ".webp"]),
        ("train: empty.txt", &["lists no image"]),
    ] {
        let folder =
            data_set(&[("data.yaml", yaml), ("images/a.jpg", ""), ("labels/a.txt", ""), ("empty.txt", "\n")]);
        std::fs::create_dir(folder.path().join("nothing")).unwrap();
        says(&Yolo::open(folder.path()).unwrap_err(), words);
    }
    says(&Yolo::open("no/such/folder").unwrap_err(), &["no/such/folder is not there", "data.yaml"]);
}

#[test]
fn class_names_may_look_like_other_things() {
    let folder = data_set(&[
        (
            "data.yaml",
            "\u{FEFF}train: images\nnames: [0, yes, 1.5, 'a b', person]\ndownload: |\n  print('no')\n",
        ),
        ("images/a.jpg", ""),
        ("labels/a.txt", BOX),
    ]);
    assert_eq!(Yolo::open(folder.path()).unwrap().classes(), ["0", "yes", "1.5", "a b", "person"]);
}

#[test]
fn the_names_of_many_classes_are_read() {
    let names: String = (0..30_000).map(|class| format!("  {class}: a class called {class}\n")).collect();
    let yaml = format!("train: images\nnames:\n{names}");
    let folder = data_set(&[("data.yaml", &yaml), ("images/a.jpg", ""), ("labels/a.txt", BOX)]);
    let source = Yolo::open(folder.path()).unwrap();
    assert_eq!((source.classes().len(), source.classes()[29_999].as_str()), (30_000, "a class called 29999"));
}
