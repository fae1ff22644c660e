//! Records of a source in a shared cache: what is read from where, and what becomes of files that change.

use super::*;
use crate::label::Label;
use crate::source::{IoStats, List, Memory, SharedCache, Source, Version};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Files, and a list of them.
struct Data {
    folder: tempfile::TempDir,
}

impl Data {
    fn of(contents: &[&[u8]]) -> Self {
        let data = Self { folder: tempfile::tempdir().unwrap() };
        for (number, bytes) in contents.iter().enumerate() {
            data.write(number, bytes);
        }
        let list: String = (0..contents.len()).map(|number| format!("{number}.jpg\t{number}\n")).collect();
        fs::write(data.path("list.txt"), list).unwrap();
        data
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file whose date is long ago, the same each time.
    fn write(&self, number: usize, bytes: &[u8]) {
        let path = self.path(&format!("{number}.jpg"));
        fs::write(&path, bytes).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        while Version::of_file(&path) == Version::Changing {
            std::hint::spin_loop();
        }
    }

    fn open(&self) -> SharedCache<List> {
        let list = List::open(self.path("list.txt")).unwrap();
        SharedCache::on_disk().file(self.path("cache")).limit(1 << 20).open(list).unwrap()
    }
}

/// Reads a record, and tells how many were found and how many were not.
fn read(source: &impl Source, index: usize) -> (Vec<u8>, [u64; 2]) {
    let mut bytes = Vec::new();
    source.read(index, &mut bytes).unwrap();
    let IoStats { shared_hits, shared_misses, .. } = source.io_stats();
    (bytes, [shared_hits, shared_misses])
}

#[test]
fn a_record_is_read_from_its_source_once_over_all_who_share_the_cache() {
    let data = Data::of(&[b"one", b"", b"three"]);
    let (first, second) = (data.open(), data.open());
    assert_eq!(read(&first, 0), (b"one".to_vec(), [0, 1]));
    assert_eq!(read(&second, 1), (b"".to_vec(), [0, 1]));
    assert_eq!(read(&second, 0), (b"one".to_vec(), [1, 1]));
    assert_eq!(read(&first, 1), (b"".to_vec(), [1, 1]));
    drop((first, second));
    let next = data.open();
    assert_eq!((read(&next, 0).1, read(&next, 1).1, read(&next, 2).1), ([1, 0], [2, 0], [2, 1]));
    assert_eq!(next.io_stats().shared_bytes, 8192 + 8);
}

#[test]
fn a_file_that_changes_is_noticed_at_the_next_read_although_size_and_date_are_the_same() {
    let data = Data::of(&[b"before", b"other"]);
    let (first, second) = (data.open(), data.open());
    assert_eq!((read(&first, 0).1, read(&second, 0).1), ([0, 1], [1, 0]));
    data.write(0, b"behind");
    assert_eq!(read(&second, 0), (b"behind".to_vec(), [1, 1]));
    assert_eq!(read(&first, 0), (b"behind".to_vec(), [1, 1]));
    assert_eq!(first.io_stats().shared_bytes, 8192 + 12, "both versions were stored");
}

#[test]
fn a_file_with_other_dates_and_the_same_bytes_is_not_stored_again() {
    let data = Data::of(&[b"content"]);
    let source = data.open();
    assert_eq!(read(&source, 0).1, [0, 1]);
    data.write(0, b"content");
    assert_eq!(read(&source, 0), (b"content".to_vec(), [0, 2]));
    assert_eq!(read(&source, 0), (b"content".to_vec(), [1, 2]));
    assert_eq!(source.io_stats().shared_bytes, 8192 + 7);
}

/// Files that were all written a moment ago, however long that takes.
struct Young(List);

impl Source for Young {
    pass_on!([.0] len read key path label);

    fn version(&self, _: usize) -> Version {
        Version::Changing
    }
}

#[test]
fn a_file_that_was_written_a_moment_ago_is_compared_at_every_read() {
    let data = Data::of(&[b"content"]);
    let cache = SharedCache::on_disk().file(data.path("cache")).limit(1 << 20);
    let source = cache.open(Young(List::open(data.path("list.txt")).unwrap())).unwrap();
    for turn in 1..4 {
        assert_eq!(read(&source, 0), (b"content".to_vec(), [0, turn]));
    }
    data.write(0, b"younger");
    assert_eq!(read(&source, 0), (b"younger".to_vec(), [0, 4]));
    assert_eq!(source.io_stats().shared_bytes, 8192 + 14);
}

#[test]
fn a_file_that_is_gone_is_an_error_although_its_bytes_are_stored() {
    let data = Data::of(&[b"content"]);
    let source = data.open();
    read(&source, 0);
    fs::remove_file(data.path("0.jpg")).unwrap();
    let mut bytes = vec![1];
    let told = source.read(0, &mut bytes).unwrap_err();
    assert!(matches!(told, crate::error::Error::Sample { index: 0, .. }) && bytes.is_empty(), "{told}");
}

#[test]
fn damage_in_the_cache_is_read_over_and_mended() {
    let data = Data::of(&[b"content"]);
    let source = data.open();
    read(&source, 0);
    let file = File::options().write(true).open(source.path()).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"CONTENT", 8192).unwrap();
    assert_eq!(read(&source, 0), (b"content".to_vec(), [0, 2]));
    assert_eq!(read(&source, 0), (b"content".to_vec(), [1, 2]));
    assert_eq!(source.io_stats().shared_damaged, 1);
}

#[test]
fn other_files_under_the_same_keys_have_a_cache_of_their_own() {
    let (one, other) = (Data::of(&[b"content"]), Data::of(&[b"content"]));
    let open = |data: &Data| {
        let list = List::open(data.path("list.txt")).unwrap();
        SharedCache::on_disk().file(one.path("cache")).limit(1 << 20).open(list)
    };
    let source = open(&one).unwrap();
    let told = open(&other).err().unwrap().to_string();
    assert!(told.contains("in use by another process for other data"), "{told}");
    drop(source);
    assert_eq!(read(&open(&other).unwrap(), 0).1, [0, 1]);
}

#[test]
fn records_that_lie_in_no_file_are_refused_with_the_remedy() {
    let memory = Memory::new(vec![("a.jpg".to_owned(), vec![1], Label::Unlabelled)]);
    let told = SharedCache::in_memory().open(memory).err().unwrap().to_string();
    assert!(told.contains("record 0 (a.jpg) lies in no file") && told.contains("use byte_cache"), "{told}");
}

#[test]
fn what_was_spared_is_what_the_records_cost_when_they_were_stored() {
    let data = Data::of(&[b"content"]);
    let source = data.open();
    read(&source, 0);
    let entry = source.file.entry(0).unwrap();
    assert!(entry.nanoseconds > 0);
    let slow = Entry { nanoseconds: 70_000_000, ..entry };
    source.file.renew(0, slow);
    read(&source, 0);
    assert!((60..=70).contains(&source.io_stats().shared_saved_ms), "{:?}", source.io_stats());
}
