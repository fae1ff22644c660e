//! What every source promises, checked on the same records for each of them.
//!
//! A new source is one line at the end: its name, whether its files can vanish one by one, and how it is made from the
//! records. What is opened by a path has a kind, which is recognised in the last test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[cfg(target_os = "linux")]
use crate::promises::Elsewhere;
use crate::promises::{Record, keeps_every_promise, names_a_file_that_vanished};
#[cfg(feature = "remote")]
use crate::server;
use crate::write;
use feedline::label::Label;
#[cfg(feature = "formats")]
use feedline::options::{ValueKind, catalogue};
#[cfg(feature = "formats")]
use feedline::source::Kind;
#[cfg(feature = "parquet")]
use feedline::source::Parquet;
#[cfg(feature = "tfrecord")]
use feedline::source::TfRecord;
use feedline::source::{
    Cached, Cifar, Coco, Folder, Idx, List, Lmdb, Memory, Mixture, Shards, Source, WithClasses, WithMasks,
    Yolo,
};
#[cfg(target_os = "linux")]
use feedline::source::{Destination, SharedCache};
use heed::{DatabaseFlags, EnvFlags};
use std::path::Path;
#[cfg(feature = "formats")]
use std::path::PathBuf;

/// The records, in the order in which every source must hand them out that takes any bytes for a record.
fn records() -> Vec<Record> {
    let pattern =
        |seed: u32, len: u32| (0..len).map(|i| (i.wrapping_mul(2_654_435_761) ^ seed) as u8).collect();
    vec![
        ("cat/1.jpg", pattern(1, 3000), 0),
        ("cat/2.JPEG", Vec::new(), 0),
        ("cat/young/3.png", pattern(3, 100_000), 0),
        ("dog/1.jpg", pattern(4, 1), 1),
        ("dog/name with spaces, and a comma é.webp", pattern(5, 777), 1),
    ]
}

fn write_files(folder: &Path) {
    for (path, bytes, _) in records() {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn class_names() -> Vec<String> {
    vec!["cat".to_owned(), "dog".to_owned()]
}

macro_rules! contract {
    ($source:ident, of $records:ident, $build:expr) => {
        #[test]
        fn $source() {
            let folder = tempfile::tempdir().unwrap();
            let build: fn(&Path) -> Box<dyn Source> = $build;
            keeps_every_promise(&build(folder.path()), &$records());
        }
    };
    ($source:ident, $vanishing:expr, $build:expr) => {
        #[test]
        fn $source() {
            let folder = tempfile::tempdir().unwrap();
            write_files(folder.path());
            let build: fn(&Path) -> Box<dyn Source> = $build;
            let source = build(folder.path());
            keeps_every_promise(&source, &records());
            if $vanishing {
                names_a_file_that_vanished(&source, &records(), folder.path());
            }
        }
    };
}

/// A list whose label column is made by `label`.
fn list(folder: &Path, separator: &str, label: impl Fn(i64) -> String) -> Box<dyn Source> {
    let line = |(path, _, class): (&str, Vec<u8>, i64)| format!("{path}{separator}{}\r\n", label(class));
    let file = folder.join("list.txt");
    std::fs::write(&file, records().into_iter().map(line).collect::<String>()).unwrap();
    Box::new(List::open(file).unwrap())
}

fn memory() -> Memory {
    let record = |(path, bytes, class): (&str, Vec<u8>, i64)| (path.to_owned(), bytes, Label::Class(class));
    Memory::new(records().into_iter().map(record).collect()).with_classes(class_names())
}

/// The records in two tar files, as WebDataset names them: the class of `a.jpg` is the text of `a.cls`.
fn shards(folder: &Path) -> Box<dyn Source> {
    for (shard, part) in [("train-0.tar", &records()[..2]), ("train-1.tar", &records()[2..])] {
        write::tar_with_classes(
            &folder.join(shard),
            part.iter().map(|(path, bytes, class)| (*path, &bytes[..], *class)),
        );
    }
    Box::new(Shards::folder(folder).unwrap())
}

/// The records as images with one object each, whose class is theirs.
fn yolo(folder: &Path) -> Box<dyn Source> {
    let records = records();
    for (path, _, class) in &records {
        let label = folder.join(path).with_extension("txt");
        std::fs::write(label, format!("{class} 0.5 0.5 0.5 0.5")).unwrap();
    }
    let list = records.iter().map(|(path, _, _)| format!("{path}\n")).collect::<String>();
    std::fs::write(folder.join("list.txt"), list).unwrap();
    std::fs::write(folder.join("data.yaml"), "train: list.txt\nnames: [cat, dog]").unwrap();
    Box::new(Yolo::open(folder).unwrap())
}

/// The same, as COCO annotations.
fn coco(folder: &Path) -> Box<dyn Source> {
    let images = records().into_iter().enumerate();
    let images = images.map(|(id, (path, ..))| serde_json::json!({"id": id, "file_name": path}));
    let objects = records().into_iter().enumerate();
    let objects = objects.map(|(id, (_, _, class))| {
        serde_json::json!({"id": id, "image_id": id, "category_id": 5 + class, "bbox": [1, 1, 2, 2]})
    });
    let categories = [(6, "dog"), (5, "cat")].map(|(id, name)| serde_json::json!({"id": id, "name": name}));
    let json = serde_json::json!({
        "images": images.collect::<Vec<_>>(), "annotations": objects.collect::<Vec<_>>(), "categories": categories,
    });
    std::fs::write(folder.join("coco.json"), json.to_string()).unwrap();
    Box::new(Coco::open(folder.join("coco.json"), folder).unwrap())
}

/// The records as the rows of a table, or as lines of JSON.
fn table(folder: &Path, name: &str, head: &str, line: impl Fn(&str, i64) -> String) -> Box<dyn Source> {
    let lines: String = records().iter().map(|(path, _, class)| line(path, *class)).collect();
    std::fs::write(folder.join(name), format!("{head}{lines}")).unwrap();
    Box::new(List::open(folder.join(name)).unwrap())
}

fn csv(folder: &Path) -> Box<dyn Source> {
    table(folder, "list.csv", "label,note,path\n", |path, class| format!("{class},x,\"{path}\"\r\n"))
}

fn tsv(folder: &Path) -> Box<dyn Source> {
    table(folder, "list.tsv", "", |path, class| format!("{path}\t{}\n", class_names()[class as usize]))
}

fn json_lines(folder: &Path) -> Box<dyn Source> {
    let line = |path: &str, class: i64| serde_json::json!({"file_name": path, "label": class});
    table(folder, "list.jsonl", "", |path, class| format!("{}\n", line(path, class)))
}

/// The records in two TFRecord files, the labels as indices or as names.
#[cfg(feature = "tfrecord")]
fn tfrecord(folder: &Path, by_name: bool) -> Box<dyn Source> {
    use write::Feature;
    let example = |(path, bytes, class): &(&str, Vec<u8>, i64)| {
        let label = match by_name {
            true => {
                ("image/class/text", Feature::Bytes(class_names()[*class as usize].clone().leak().as_bytes()))
            }
            false => ("image/class/label", Feature::Number(*class)),
        };
        let path = Feature::Bytes(path.as_bytes());
        write::example(&[("image/filename", path), ("image/encoded", Feature::Bytes(bytes)), label])
    };
    let examples: Vec<Vec<u8>> = records().iter().map(example).collect();
    write::tfrecord(&folder.join("train-00000-of-00002"), &examples[..2]);
    write::tfrecord(&folder.join("train-00001-of-00002"), &examples[2..]);
    Box::new(TfRecord::open(folder).unwrap())
}

/// The records in two Parquet files, as the Hugging Face hub has them, or as plain columns of bytes and text.
#[cfg(feature = "parquet")]
fn parquet(folder: &Path, as_hub: bool) -> Box<dyn Source> {
    use crate::write::Labels;
    let records = records();
    for (number, part) in [&records[..3], &records[3..]].into_iter().enumerate() {
        let names = if as_hub { &["cat", "dog"][..] } else { &[] };
        let table = write::Table { names, rows_per_group: 2, page_index: as_hub, ..Default::default() };
        let rows: Vec<_> = part.iter().map(|(path, bytes, _)| (*path, Some(&bytes[..]))).collect();
        let classes = part.iter().map(|(.., class)| *class);
        let labels = match as_hub {
            true => Labels::Int64(classes.map(Some).collect()),
            false => Labels::Text(classes.map(|class| Some(["cat", "dog"][class as usize])).collect()),
        };
        let file = folder.join(format!("train-0000{number}-of-00002.parquet"));
        write::parquet(&file, &table, &rows, Some(("label", labels)));
    }
    Box::new(Parquet::open(folder).unwrap())
}

/// The records as the values of an LMDB environment, which LMDB wrote.
fn lmdb(folder: &Path) -> Box<dyn Source> {
    let entries: Vec<_> = records().into_iter().map(|(path, bytes, _)| (path, bytes)).collect();
    write::lmdb(&folder.join("lmdb"), EnvFlags::empty(), (None, DatabaseFlags::empty()), &entries);
    Box::new(Lmdb::open(folder.join("lmdb")).unwrap())
}

/// Images of one size, which are handed out as PNM with this head: three, by these keys.
fn rasters(keys: [&'static str; 3], head: &str, levels: usize) -> Vec<Record> {
    let levels_of = |seed: usize| (0..levels).map(move |at| (at * 7 + seed * 31) as u8);
    let record = |(number, key)| (key, head.bytes().chain(levels_of(number)).collect(), number as i64 % 2);
    keys.into_iter().enumerate().map(record).collect()
}

fn of_idx() -> Vec<Record> {
    let keys = ["train-images-idx3-ubyte/0", "train-images-idx3-ubyte/1", "train-images-idx3-ubyte/2"];
    rasters(keys, "P5\n4 3\n255\n", 12)
}

fn idx(folder: &Path, packed: bool) -> Box<dyn Source> {
    let images: Vec<u8> =
        of_idx().iter().flat_map(|(_, bytes, _)| bytes[bytes.len() - 12..].to_vec()).collect();
    let labels: Vec<u8> = of_idx().iter().map(|(.., class)| *class as u8).collect();
    let ending = if packed { ".gz" } else { "" };
    let at = |name: &str| folder.join(format!("train-{name}-ubyte{ending}"));
    write::idx(&at("images-idx3"), 8, &[3, 3, 4], &images);
    write::idx(&at("labels-idx1"), 8, &[3], &labels);
    Box::new(Idx::open(folder).unwrap())
}

fn of_cifar() -> Vec<Record> {
    rasters(["data_batch_1.bin/0", "data_batch_1.bin/1", "data_batch_2.bin/0"], "P6\n32 32\n255\n", 3072)
}

fn cifar(folder: &Path) -> Box<dyn Source> {
    let images: Vec<_> = of_cifar()
        .into_iter()
        .map(|(_, bytes, class)| (vec![class as u8], bytes[bytes.len() - 3072..].to_vec()))
        .collect();
    write::cifar(&folder.join("data_batch_1.bin"), &images[..2]);
    write::cifar(&folder.join("data_batch_2.bin"), &images[2..]);
    Box::new(Cifar::open(folder).unwrap())
}

/// The records as objects of a store.
#[cfg(feature = "remote")]
fn remote(objects: std::collections::BTreeMap<String, Vec<u8>>) -> Box<dyn Source> {
    // It serves until the tests end.
    let server = Box::leak(Box::new(server::Server::start(objects, false)));
    let options = feedline::source::Remote::options().endpoint(server.url()).anonymous(true);
    Box::new(options.open("s3://bucket").unwrap())
}

#[cfg(feature = "remote")]
fn remote_objects(_: &Path) -> Box<dyn Source> {
    let object = |(path, bytes, _): (&str, Vec<u8>, i64)| (format!("bucket/{path}"), bytes);
    remote(records().into_iter().map(object).collect())
}

#[cfg(feature = "remote")]
fn remote_archives(folder: &Path) -> Box<dyn Source> {
    drop(shards(folder));
    let object = |name: &str| (format!("bucket/{name}"), std::fs::read(folder.join(name)).unwrap());
    remote(["train-0.tar", "train-1.tar"].map(object).into())
}

contract!(folder, true, |path| Box::new(Folder::open(path).unwrap()));
contract!(any_folder, true, |path| Box::new(Folder::open_any(path).unwrap()));
contract!(list_of_indices, true, |path| list(path, "\t", |class| class.to_string()));
contract!(list_of_names, true, |path| list(path, ",", |class| class_names()[class as usize].clone()));
contract!(list_with_spaces, true, |path| list(path, " ", |class| class.to_string()));
contract!(csv_table, true, csv);
contract!(tsv_table, true, tsv);
contract!(json_lines_list, true, json_lines);
contract!(tar_shards, false, shards);
#[cfg(feature = "tfrecord")]
contract!(tfrecord_of_indices, false, |folder| tfrecord(folder, false));
#[cfg(feature = "tfrecord")]
contract!(tfrecord_of_names, false, |folder| tfrecord(folder, true));
#[cfg(feature = "parquet")]
contract!(parquet_of_the_hub, false, |folder| parquet(folder, true));
#[cfg(feature = "parquet")]
contract!(parquet_of_names, false, |folder| parquet(folder, false));
contract!(lmdb_environment, false, lmdb);
contract!(idx_files, of of_idx, |folder| idx(folder, false));
contract!(packed_idx_files, of of_idx, |folder| idx(folder, true));
contract!(cifar_files, of of_cifar, cifar);
contract!(yolo_files, true, yolo);
contract!(coco_json, true, coco);
contract!(files_with_masks, true, |path| {
    std::fs::create_dir(path.join("masks")).unwrap();
    std::fs::create_dir(path.join("masks/dog")).unwrap();
    std::fs::write(path.join("masks/dog/1.png"), b"a mask").unwrap();
    let images = list(path, "\t", |class| class.to_string());
    Box::new(WithMasks::options().allow_missing(true).open(images, path.join("masks")).unwrap())
});
contract!(several_data_sets, true, |path| {
    let mut mixture = Mixture::options();
    for class in class_names() {
        let of_class = records().into_iter().filter(|(path, ..)| path.starts_with(&class));
        let lines = of_class.map(|(path, ..)| format!("{path}\t{class}\n")).collect::<String>();
        let file = path.join(format!("{class}.txt"));
        std::fs::write(&file, lines).unwrap();
        mixture = mixture.set(class, List::open(file).unwrap());
    }
    Box::new(mixture.chain().open().unwrap())
});
contract!(renamed_classes, true, |path| {
    let list = list(path, ",", |class| ["kitten", "hound"][class as usize].to_owned());
    let named = WithClasses::options().rename("kitten", "cat").rename("hound", "dog");
    Box::new(named.classes(class_names()).open(list).unwrap())
});
#[cfg(feature = "remote")]
contract!(objects_of_a_store, false, remote_objects);
#[cfg(feature = "remote")]
contract!(archives_of_a_store, false, remote_archives);
contract!(memory_records, false, |_| Box::new(memory()));
contract!(kept_in_memory, false, |_| Box::new(Cached::new(memory(), 50_000)));
#[cfg(target_os = "linux")]
contract!(kept_for_other_processes, true, |path| {
    let source = Folder::open(path).unwrap();
    // The dates of files that were written a moment ago do not tell.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    for index in 0..source.len() {
        let file = std::fs::File::options().write(true).open(source.path(index).unwrap()).unwrap();
        file.set_modified(old).unwrap();
    }
    Box::new(SharedCache::on_disk().file(path.join("records.cache")).limit(1 << 20).open(source).unwrap())
});
contract!(shared, false, |_| Box::new(std::sync::Arc::new(memory())));

/// Data of the kind that `word` stands for, below `folder`.
#[cfg(feature = "formats")]
fn data_of(word: &str, folder: &Path) -> PathBuf {
    let make: fn(&Path) -> Box<dyn Source> = match word {
        "folder" => |folder| Box::new(Folder::open(folder).unwrap()),
        "list" => csv,
        "tar" => shards,
        "tfrecord" => |folder| tfrecord(folder, true),
        "lmdb" => lmdb,
        "parquet" => |folder| parquet(folder, true),
        "yolo" => yolo,
        "coco" => coco,
        "idx" => |folder| idx(folder, true),
        "cifar" => cifar,
        "remote" => return "s3://bucket/folder".into(),
        other => {
            panic!("no data of the kind `{other}`: give them here, and hold its source to the promises above")
        }
    };
    make(folder);
    let below = match word {
        "list" => "list.csv",
        "lmdb" => "lmdb",
        "coco" => "coco.json",
        _ => "",
    };
    folder.join(below)
}

/// The system says of such a file that it is empty.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_has_another_size_than_it_says_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("list.txt"), "/proc/version\t0\n").unwrap();
    let source = List::open(folder.path().join("list.txt")).unwrap();
    let mut elsewhere = Elsewhere::default();
    source.read_into(0, &mut elsewhere).unwrap();
    assert!(elsewhere.bytes().starts_with(b"Linux version"), "{:?}", elsewhere.bytes());
    assert_eq!(elsewhere.bytes(), std::fs::read("/proc/version").unwrap());
}

#[test]
#[cfg(feature = "formats")]
fn every_kind_is_recognised_by_its_looks_and_documented() {
    let page = include_str!("../../docs/sources.md");
    let kinds = catalogue().iter().find(|entry| entry.name == "kind").unwrap();
    let ValueKind::Words(words) = kinds.value else { panic!("{kinds:?}") };
    for word in words {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path());
        let data = data_of(word, folder.path());
        assert_eq!(
            Kind::of(&data).word(),
            *word,
            "src/source/open.rs: Kind::of takes {} for that",
            data.display()
        );
        assert!(page.contains(&format!("`{word}`")), "docs/sources.md says nothing of the kind `{word}`");
    }
}
