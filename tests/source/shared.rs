//! A cache that processes share around records that are parts of files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::write;
use feedline::source::{Cifar, Idx, Lmdb, Shards, SharedCache, Source, Version};
use heed::{DatabaseFlags, EnvFlags};
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Gives a file a date of long ago, and waits until it is known by its dates.
fn settle(path: &Path) {
    let old = SystemTime::now() - Duration::from_secs(1000);
    File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    while Version::of_file(path) == Version::Changing {
        std::hint::spin_loop();
    }
}

/// Writes two records into the archive at `path`, in its place, with a date of long ago.
fn write(path: &Path, records: [&[u8]; 2]) {
    let beside = path.with_extension("new");
    write::tar_with_classes(
        &beside,
        ["a.jpg", "b.jpg"].into_iter().zip(records).map(|(name, bytes)| (name, bytes, 0)),
    );
    // The file stays the same one, which may be open.
    fs::write(path, fs::read(&beside).unwrap()).unwrap();
    settle(path);
}

/// The source within a cache in the folder.
fn cached<S: Source>(folder: &Path, source: S) -> SharedCache<S> {
    SharedCache::on_disk().file(folder.join("cache")).limit(1 << 20).open(source).unwrap()
}

fn open(folder: &Path) -> SharedCache<Shards> {
    cached(folder, Shards::open(&[folder.join("a.tar")]).unwrap())
}

/// How many records were found, were not found, and were damaged.
fn counts(source: &impl Source) -> [u64; 3] {
    let io = source.io_stats();
    [io.shared_hits, io.shared_misses, io.shared_damaged]
}

/// Who has it open reads where its records were, and finds something else there: nothing of that may reach those who open it anew.
#[test]
fn a_shard_that_changes_while_it_is_open_gives_others_no_wrong_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let mut bytes = Vec::new();
    write(&path, [&[1; 3000], &[2; 3000]]);
    let early = open(folder.path());
    early.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [1; 3000]);
    write(&path, [&[3; 1000], &[4; 3000]]);
    for index in [1, 0, 1] {
        drop(early.read(index, &mut bytes));
        assert_eq!(early.version(index), Version::Unknown);
    }
    let late = open(folder.path());
    for _ in 0..2 {
        late.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [3; 1000]);
        late.read(1, &mut bytes).unwrap();
        assert_eq!(bytes, [4; 3000]);
    }
    assert_eq!(counts(&late), [2, 2, 0]);
}

/// Writes a file of one image of one level to `path`; idx files have their labels in the same folder.
fn write_raster(path: &Path, level: u8) {
    if path.ends_with("test_batch.bin") {
        write::cifar(path, &[(vec![0], vec![level; 3072])]);
        return;
    }
    write::idx(path, 8, &[1, 2, 2], &[level; 4]);
    write::idx(&path.with_file_name("a-labels-idx1-ubyte"), 8, &[1], &[0]);
}

/// Their files stay open, or are unpacked into memory, and so are read as they were when others take their places.
#[test]
fn a_file_of_mnist_or_cifar_that_is_replaced_while_it_is_open_gives_others_no_old_image() {
    for name in ["a-images-idx3-ubyte", "a-images-idx3-ubyte.gz", "test_batch.bin"] {
        let (folder, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = folder.path().join(name);
        let put = |level: u8| {
            write_raster(&new.path().join(name), level);
            for entry in fs::read_dir(new.path()).unwrap() {
                let written = entry.unwrap().path();
                fs::rename(&written, folder.path().join(written.file_name().unwrap())).unwrap();
            }
            settle(&path);
        };
        let open = || {
            let source: Box<dyn Source> = match name {
                "test_batch.bin" => Box::new(Cifar::open(&path).unwrap()),
                _ => Box::new(Idx::open(&path).unwrap()),
            };
            cached(folder.path(), source)
        };
        let level = |source: &SharedCache<Box<dyn Source>>| {
            let mut bytes = Vec::new();
            source.read(0, &mut bytes).unwrap();
            *bytes.last().unwrap()
        };
        put(1);
        let early = open();
        assert_eq!(([level(&early), level(&early)], counts(&early)), ([1, 1], [1, 1, 0]), "{name}");
        put(2);
        assert_eq!((level(&early), early.version(0)), (1, Version::Unknown), "{name}");
        let late = open();
        assert_eq!(([level(&late), level(&late)], counts(&late)), ([2, 2], [1, 1, 0]), "{name}");
    }
}

/// Opens data whose only record has an image `left` and an image `right`, whose bytes are these words, in turns, with one cache.
fn gives_the_image_that_was_chosen<S: Source>(folder: &Path, file: &str, open: impl Fn(&Path, &str) -> S) {
    let path = folder.join(file);
    settle(&path);
    for side in ["left", "right", "left"] {
        let (source, mut bytes) = (cached(folder, open(&path, side)), Vec::new());
        for hits in [0, 1] {
            source.read(0, &mut bytes).unwrap();
            assert_eq!((bytes.as_slice(), counts(&source)), (side.as_bytes(), [hits, 1, 0]));
        }
    }
}

#[test]
fn of_two_databases_of_an_lmdb_environment_each_has_its_own_records() {
    let folder = tempfile::tempdir().unwrap();
    for side in ["left", "right"] {
        let (database, entry) = ((Some(side), DatabaseFlags::empty()), ("1.jpg", side.as_bytes().to_vec()));
        write::lmdb(folder.path(), EnvFlags::empty(), database, &[entry]);
    }
    let open = |path: &Path, side: &str| Lmdb::options().database(side).open(path).unwrap();
    gives_the_image_that_was_chosen(folder.path(), "data.mdb", open);
}

#[cfg(feature = "tfrecord")]
#[test]
fn of_two_features_of_a_tfrecord_file_each_has_its_own_images() {
    use feedline::source::TfRecord;
    let folder = tempfile::tempdir().unwrap();
    let image = |side: &'static str| (side, write::Feature::Bytes(side.as_bytes()));
    write::tfrecord(&folder.path().join("a.tfrecord"), &[write::example(&["left", "right"].map(image))]);
    let open = |path: &Path, side: &str| TfRecord::options().image_feature(side).open(path).unwrap();
    gives_the_image_that_was_chosen(folder.path(), "a.tfrecord", open);
}

#[cfg(feature = "parquet")]
#[test]
fn of_two_columns_of_a_parquet_file_each_has_its_own_images() {
    use feedline::source::Parquet;
    let folder = tempfile::tempdir().unwrap();
    let table = write::Table { image: "left", with_path: false, ..write::Table::default() };
    let (left, right) = (&b"left"[..], write::Labels::Bytes(vec![&b"right"[..]]));
    write::parquet(&folder.path().join("a.parquet"), &table, &[("", Some(left))], Some(("right", right)));
    let open = |path: &Path, side: &str| Parquet::options().image_column(side).open(path).unwrap();
    gives_the_image_that_was_chosen(folder.path(), "a.parquet", open);
}
