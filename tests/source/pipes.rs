//! A pipe at a path that is opened is refused by name, and not waited for.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::index::{DataSet, IndexStore, load};
use feedline::options::{DataOptions, Listed};
use feedline::pack::{Manifest, Pack};
use feedline::recipe::Recipe;
use feedline::source::{self, Kind, Memory, Shards};
use feedline_test_support::pipe;
use std::fs;
use std::path::{Path, PathBuf};

/// The error of opening what `options` name.
fn refusal(options: &DataOptions) -> String {
    let wanted = options.clone();
    let opened = pipe::ends(&format!("opening {options:?}"), move || source::open(&wanted).err());
    opened.expect("a pipe is no data").to_string()
}

fn of_kind(kind: Kind, path: &Path) -> DataOptions {
    DataOptions { kind: Some(kind), path: Some(path.to_owned()), ..DataOptions::default() }
}

/// Asserts that the pipe is named, with what it is.
#[track_caller]
fn names(text: &str, path: &Path) {
    assert!(text.contains(path.to_str().unwrap()) && text.contains("a pipe or a device"), "{text}");
}

#[test]
fn a_pipe_in_the_place_of_data_is_refused_whatever_they_should_be() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, name) in [
        (Kind::List, "images.txt"),
        (Kind::List, "images.csv"),
        (Kind::Tar, "images.tar"),
        (Kind::TfRecord, "images.tfrecord"),
        (Kind::Lmdb, "data.mdb"),
        (Kind::Parquet, "images.parquet"),
        (Kind::Yolo, "data.yaml"),
        (Kind::Coco, "instances.json"),
        (Kind::Idx, "train-images-idx3-ubyte"),
        (Kind::Cifar, "data_batch_1.bin"),
    ] {
        let path = folder.path().join(name);
        pipe::make(&path);
        names(&refusal(&of_kind(kind, &path)), &path);
    }
    // What a pipe is taken for is found out by looking, and looking does not wait either.
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        refusal(&DataOptions { kind: None, ..of_kind(Kind::List, &path) });
    }
}

#[test]
fn a_pipe_that_other_data_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("images")).unwrap();
    fs::create_dir_all(at("labels")).unwrap();
    fs::write(at("images/a.jpg"), b"\xFF\xD8").unwrap();
    for name in ["train.txt", "labels/a.txt", "cache"] {
        pipe::make(&at(name));
    }
    let yaml = |train: &str| {
        let path = at("data.yaml");
        fs::write(&path, format!("path: {}\ntrain: {train}\nnames: [a]\n", folder.path().display())).unwrap();
        of_kind(Kind::Yolo, &path)
    };
    names(&refusal(&yaml("train.txt")), &at("train.txt"));
    names(&refusal(&yaml("images")), &at("labels/a.txt"));
    fs::remove_file(at("labels/a.txt")).unwrap();
    fs::write(at("labels/a.txt"), "").unwrap();
    names(&refusal(&DataOptions { label_cache: Some(at("cache")), ..yaml("images") }), &at("cache"));
}

#[test]
fn a_pipe_in_the_place_of_settings_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf {
        let path = folder.path().join(name);
        pipe::make(&path);
        path
    };
    let recipe = at("recipe.toml");
    let named = recipe.to_str().unwrap().to_owned();
    names(&pipe::ends("a recipe", move || Recipe::load(&named).err()).unwrap().to_string(), &recipe);
    let subset = at("subset.txt");
    let listed = Listed::<u64>::File(subset.clone());
    names(&pipe::ends("a subset", move || listed.read().err()).unwrap().to_string(), &subset);
    let index = at("index");
    let loaded = pipe::ends("a sidecar", move || {
        let set = DataSet::of(["a.jpg"].iter());
        load(&IndexStore::new(1 << 20), &index, set)
    });
    assert!(loaded.unwrap_err().contains("a pipe or a device"));
    let manifest = at("manifest.json");
    let shards = folder.path().to_owned();
    names(&pipe::ends("a manifest", move || Manifest::read(&shards).err()).unwrap().to_string(), &manifest);
}

#[test]
fn a_pipe_beside_shards_is_refused_or_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let jpeg = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos/rocket/0000.jpg")).unwrap();
    let photo = Memory::new(vec![("a.jpg".to_owned(), jpeg, feedline::label::Label::Unlabelled)]);
    let path = folder.path().to_owned();
    Pack::to(&path).run(&photo, &mut |_| {}).unwrap();
    let table = folder.path().join("shard-000000.tar.index");
    pipe::make(&table);
    let opened = path.clone();
    let shards =
        pipe::ends("a table", move || Shards::folder(&opened).map(|shards| source::Source::len(&shards)));
    assert_eq!(shards.unwrap(), 1);
    fs::remove_file(path.join("manifest.json")).unwrap();
    pipe::make(&path.join("manifest.json"));
    let opened = path.clone();
    let refused = pipe::ends("a manifest", move || Shards::folder(&opened).err()).unwrap().to_string();
    names(&refused, &path.join("manifest.json"));
}
