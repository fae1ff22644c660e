//! Files that other writers made: `tests/python/write_formats.py` writes one set of images in each format.

use super::refused;
use feedline::source::{Folder, List, Lmdb, Parquet, Shards, Source, TfRecord};
use std::path::PathBuf;

/// The folder that the script wrote.
fn written() -> PathBuf {
    let folder = std::env::var_os("FEEDLINE_WRITTEN");
    PathBuf::from(folder.expect("FEEDLINE_WRITTEN names the folder that tests/python/write_formats.py wrote"))
}

/// The same bytes, classes and names of classes as the folder's, in the same order. Formats that count classes without
/// naming them have no names.
fn same_as_the_folder(what: &str, source: &dyn Source, has_names: bool) {
    let folder = Folder::open(written().join("folder")).unwrap();
    assert_eq!((folder.len(), folder.classes().len()), (20, 3));
    assert_eq!(source.len(), 20, "{what}");
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    for index in 0..20 {
        source.read(index, &mut bytes).unwrap();
        folder.read(index, &mut expected).unwrap();
        assert!(!expected.is_empty() && bytes == expected, "{what}: bytes of {}", folder.key(index));
        assert_eq!(source.label(index), folder.label(index), "{what}: label of {}", folder.key(index));
    }
    assert_eq!(source.classes(), if has_names { folder.classes() } else { &[] }, "{what}");
}

#[test]
#[ignore = "other writers: FEEDLINE_WRITTEN must name what tests/python/write_formats.py wrote"]
fn other_writers_files_hold_what_the_folder_holds() {
    let at = |name: &str| written().join(name);
    same_as_the_folder("webdataset", &Shards::folder(at("webdataset")).unwrap(), false);
    same_as_the_folder("tensorflow", &TfRecord::open(at("tensorflow")).unwrap(), true);
    let text = TfRecord::options().label_feature("none").open(at("tensorflow")).unwrap();
    same_as_the_folder("tensorflow, text", &text, true);
    same_as_the_folder("lmdb", &Lmdb::open(at("lmdb")).unwrap(), true);
    same_as_the_folder("lmdb, one file", &Lmdb::open(at("images.lmdb")).unwrap(), true);
    for name in ["snappy", "zstd", "gzip", "lz4", "none"] {
        let path = at("pyarrow").join(format!("{name}.parquet"));
        same_as_the_folder(name, &Parquet::open(path).unwrap(), true);
    }
    refused(
        Parquet::open(at("pyarrow").join("brotli.parquet")),
        &["compressed with BROTLI", "write it with snappy"],
    );
    same_as_the_folder("datasets", &Parquet::options().split("train").open(at("hub")).unwrap(), true);
    for name in ["list.csv", "list.tsv", "list.jsonl", "pandas.csv"] {
        let list = List::options().root(at("folder")).open(at("lists").join(name)).unwrap();
        same_as_the_folder(name, &list, true);
    }
}
