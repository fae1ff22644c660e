//! What hostile containers, and what lies beside them, cost: a process of its own opens and reads each, and says how much
//! memory it had at most.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::hostile;
use crate::write::{Feature, Table, example, lmdb, parquet, tar, tfrecord};
use feedline::error::Result;
use feedline::index::{DataSet, IndexStore, load};
use feedline::machine;
use feedline::options::DataOptions;
use feedline::source::{self, Source};
use feedline_test_support::memory;
use heed::{DatabaseFlags, EnvFlags};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;

#[test]
fn a_file_is_looked_at_by_itself() {
    let Some(path) = memory::wanted() else { return };
    let found = match path.extension().and_then(|ending| ending.to_str()) {
        Some("sidecar") => load(&IndexStore::new(1 << 30), &path, index_set()).unwrap_err(),
        _ => read(&path).unwrap_or_else(|error| error.to_string()),
    };
    memory::tell(machine::bytes_in("/proc/self/status", "VmHWM:").unwrap(), &found);
}

fn index_set() -> DataSet {
    DataSet::of(["a.jpg"].iter())
}

/// Opens the data at `path`, with the cache beside a data.yaml, and reads the first, the middle and the last record.
fn read(path: &Path) -> Result<String> {
    let label_cache = path.ends_with("data.yaml").then(|| path.with_file_name("cache"));
    let options = DataOptions { path: Some(path.to_owned()), label_cache, ..DataOptions::default() };
    let source = source::open(&options)?.source;
    let (count, mut bytes) = (source.len(), Vec::new());
    for index in [0, count / 2, count - 1] {
        source.read(index, &mut bytes)?;
    }
    Ok(format!("{count} records, the last one of {} bytes", bytes.len()))
}

/// What a file is called, its place, a word of what is found in it, and how many MiB that may take.
type Case = (&'static str, PathBuf, &'static str, u64);

/// Asserts that looking at each file takes no more above the `sound` one of its kind than it may, and prints how much it takes.
fn measure(sound: &Path, cases: &[Case]) {
    let cost_of = |path: &Path| memory::cost_of("memory::a_file_is_looked_at_by_itself", path);
    let base = cost_of(sound).unwrap();
    assert!(base.found.starts_with("1 records"), "{}", base.found);
    let mut wrong = Vec::new();
    for (name, path, says, most) in cases {
        // What lies beside the data is what claims much.
        let beside = [path.with_file_name("cache"), path.with_extension("tar.index")];
        let hostile = beside.iter().find(|path| path.is_file()).unwrap_or(path);
        let bytes = std::fs::metadata(hostile).unwrap().len();
        let told = match cost_of(path) {
            Ok(cost) => {
                let peak = cost.peak.saturating_sub(base.peak);
                let told = format!("{:.1} MiB at most: {}", peak as f64 / MIB as f64, cost.found);
                if peak <= most * MIB && cost.found.contains(says) { Ok(told) } else { Err(told) }
            }
            told => told.map(|cost| cost.found),
        };
        println!("{name}: {bytes} bytes cost {}", told.as_ref().unwrap_or_else(|told| told));
        wrong.extend(told.err().map(|told| format!("{name}: {most} MiB are allowed, and `{says}`: {told}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Empty folders, one for each file.
fn folders<const N: usize>(folder: &Path) -> [PathBuf; N] {
    std::array::from_fn(|number| {
        let path = folder.join(number.to_string());
        std::fs::create_dir(&path).unwrap();
        path
    })
}

#[test]
fn lmdb_files_cost_no_more_than_their_pages() {
    let folder = tempfile::tempdir().unwrap();
    let [sound, a, b, c] = folders(folder.path());
    lmdb(&sound, EnvFlags::empty(), (None, DatabaseFlags::empty()), &[("a.jpg", b"an image".to_vec())]);
    let cases = [
        ("LMDB, a tree that leads back to itself", hostile::a_tree_that_leads_back(&a), "is damaged", 2),
        ("LMDB, a tree of 7^30 ways", hostile::a_tree_of_countless_ways(&b), "is damaged", 2),
        ("LMDB, one page a thousand times", hostile::one_page_many_times(&c), "is damaged", 2),
    ];
    measure(&sound, &cases);
}

#[test]
fn parquet_files_cost_a_stretch_of_images_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let [sound, a, b, c] = folders(folder.path());
    parquet(&sound.join("a.parquet"), &Table::default(), &[("a.jpg", Some(b"an image"))], None);
    let last = "the last one of 4194304 bytes";
    let cases = [
        ("Parquet, 450 rows of one image", hostile::one_image_many_times(&a, 450), last, 32),
        ("Parquet, 20,000 rows of one image", hostile::one_image_many_times(&b, 20_000), last, 32),
        (
            "Parquet, rows that are as the one before",
            hostile::copies_of_the_one_before(&c),
            "67108864 bytes",
            160,
        ),
    ];
    measure(&sound, &cases);
}

#[test]
fn parquet_files_that_claim_more_than_they_have_cost_what_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let [sound, a, b, c, d, e, f, g, h, i, j] = folders(folder.path());
    parquet(&sound.join("a.parquet"), &Table::default(), &[("a.jpg", Some(b"an image"))], None);
    let says = "contradicts itself";
    let cases = [
        ("Parquet, a size that is said twice", hostile::size_said_twice(&a), says, 2),
        ("Parquet, a footer of 2^31 booleans", hostile::footer_of_booleans(&b), says, 2),
        ("Parquet, an index of 2^31 pages", hostile::index_of_too_many_pages(&c), says, 2),
        ("Parquet, a schema 100,000 groups deep", hostile::schema_of_any_depth(&d), says, 4),
        ("Parquet, 20,000 groups behind a type of none", hostile::schema_behind_variants(&e, 19), says, 4),
        (
            "Parquet, a long name above 71,428 columns",
            hostile::long_name_above_many_columns(&f),
            "take more than 67108864 bytes",
            16,
        ),
        (
            "Parquet, a page larger than its place",
            hostile::page_larger_than_its_place(&g),
            "where the index of pages leaves",
            8,
        ),
        (
            "Parquet, 65,536 columns that could hold images",
            hostile::many_columns(&h, 1 << 16),
            "65536 columns could hold images (there are 00000, 00001",
            96,
        ),
        ("Parquet, indexes of pages 64 GiB apart", hostile::indexes_far_apart(&i), "2 records", 4),
        (
            "Parquet, a list over 1000 pages of 2^24 values",
            hostile::list_over_pages(&j, 1000),
            "goes on over pages",
            400,
        ),
    ];
    measure(&sound, &cases);
}

#[test]
fn tar_files_cost_what_may_describe_a_member() {
    use ::tar::EntryType::{GNULongName, XHeader};
    let folder = tempfile::tempdir().unwrap();
    let [sound, a, b] = folders(folder.path());
    tar(&sound.join("a.tar"), &[("a.jpg", b"an image")]);
    let says = "the headers of a member have more than 1048576 bytes";
    let cases = [
        ("tar, a name of a gigabyte", hostile::long_name(&a, GNULongName), says, 4),
        ("tar, a pax header of a gigabyte", hostile::long_name(&b, XHeader), says, 4),
    ];
    measure(&sound, &cases);
}

#[test]
fn tfrecord_files_cost_no_more_than_one_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let [sound, a, b, c, d] = folders(folder.path());
    let record = example(&[("image/encoded", Feature::Bytes(b"an image"))]);
    tfrecord(&sound.join("a.tfrecord"), &[record]);
    let cases = [
        ("TFRecord, a record of 2^62 bytes", hostile::long_record(&a), "in the middle of the record", 2),
        ("TFRecord, a field of 2^56 bytes", hostile::long_feature(&b), "no tf.train.Example", 2),
        ("TFRecord, four million features", hostile::many_features(&c), "there is no feature", 2),
        ("TFRecord, four million images", hostile::feature_of_many_values(&d), "holds 4194304 values", 2),
    ];
    measure(&sound, &cases);
}

#[test]
fn what_lies_beside_data_costs_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = folders(folder.path());
    let [sound, long, other] = ["sound", "long", "other"].map(|name| labelled(&folder.path().join(name)));
    read(&long).unwrap();
    hostile::labels_of_too_many_bytes(&long.with_file_name("cache"));
    let hole = std::fs::File::create(other.with_file_name("cache")).unwrap();
    hole.set_len(1 << 30).unwrap();
    let one = "1 records";
    let cases = [
        (
            "decode index, a record of 4 GiB",
            hostile::index_of_a_long_record(&a, index_set()),
            "it is damaged",
            2,
        ),
        ("cache of labels, a part of 2^64 bytes", long, one, 2),
        ("cache of labels, another file of a gigabyte", other, "is no cache of labels", 2),
        ("table of a tar file, 2^60 images", hostile::table_of_too_many_images(&b, false), one, 2),
        ("table of a tar file, a gigabyte", hostile::table_of_too_many_images(&c, true), one, 2),
    ];
    measure(&sound, &cases);
}

/// A data.yaml of one image.
fn labelled(folder: &Path) -> PathBuf {
    for (name, content) in [
        ("images/a.jpg", &b"\xFF\xD8"[..]),
        ("labels/a.txt", b"0 0.5 0.5 0.1 0.1\n"),
        ("data.yaml", b"train: images\nnames: [a]\n"),
    ] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder.join("data.yaml")
}
