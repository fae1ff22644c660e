//! A cache that processes share around records that lie in shards.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::write;
use feedline::source::{Shards, SharedCache, Source, Version};
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Writes two records into the archive at `path`, in its place, with a date of long ago.
fn write(path: &Path, records: [&[u8]; 2]) {
    let beside = path.with_extension("new");
    write::tar_with_classes(
        &beside,
        ["a.jpg", "b.jpg"].into_iter().zip(records).map(|(name, bytes)| (name, bytes, 0)),
    );
    // The file stays the same one, which may be open.
    fs::write(path, fs::read(&beside).unwrap()).unwrap();
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(SystemTime::now() - Duration::from_secs(1000))
        .unwrap();
    while Version::of_file(path) == Version::Changing {
        std::hint::spin_loop();
    }
}

fn open(folder: &Path) -> SharedCache<Shards> {
    let shards = Shards::open(&[folder.join("a.tar")]).unwrap();
    SharedCache::on_disk().file(folder.join("cache")).limit(1 << 20).open(shards).unwrap()
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
    let io = late.io_stats();
    assert_eq!((io.shared_hits, io.shared_misses, io.shared_damaged), (2, 2, 0));
}
