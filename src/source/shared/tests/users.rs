//! Who uses a file: it is there as long as somebody does, and is removed by the last one, or by the next one after a death.

use super::*;
use crate::source::shared::found::{shared_caches, sweep};
use crate::source::shared::places::memory_head;
use std::fs::{self, File};
use std::sync::Barrier;
use std::time::{Duration, SystemTime};

fn in_memory(path: &Path) -> CacheFile {
    open_at(path, of(1), Some(1 << 20), false).unwrap()
}

#[test]
fn the_last_user_removes_a_file_in_memory_and_none_removes_one_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let [memory, disk] = ["memory", "disk"].map(|name| folder.path().join(name));
    let users = [0, 1, 2].map(|_| in_memory(&memory));
    for user in users {
        assert!(memory.exists());
        drop(user);
    }
    assert!(!memory.exists());
    drop(staying(&disk));
    assert!(disk.exists());
}

/// All come and go at once, many times: each finds a sound file, and in the end none is left.
#[test]
fn users_that_come_and_go_at_the_same_moment_share_one_file_and_leave_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let barrier = Barrier::new(4);
    for round in 0..100 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    barrier.wait();
                    let cache = in_memory(&path);
                    store(&cache, round % RECORDS);
                    assert_eq!(read(&cache, round % RECORDS), Some(content(round % RECORDS)));
                    drop(cache);
                    barrier.wait();
                });
            }
        });
        assert!(!path.exists(), "round {round}");
    }
}

#[test]
fn a_file_that_has_taken_the_name_of_a_removed_one_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let first = in_memory(&path);
    fs::remove_file(&path).unwrap();
    let second = in_memory(&path);
    drop(first);
    assert!(path.exists());
    store(&second, 1);
    assert_eq!(read(&second, 1), Some(content(1)));
}

/// What is left of a process that was killed: a file in memory that nobody uses.
fn left_behind(name: &str) -> std::path::PathBuf {
    let path = Path::new("/dev/shm").join(format!("{}{name}.cache", memory_head()));
    let cache = open_at(&path, of(1), Some(1 << 20), true).unwrap();
    store(&cache, 1);
    path
}

#[test]
fn what_a_killed_process_left_in_memory_is_swept_and_what_is_used_or_foreign_stays() {
    let own = std::process::id();
    let stale = left_behind(&format!("stale-{own}"));
    let wanted = left_behind(&format!("wanted-{own}"));
    let used = left_behind(&format!("used-{own}"));
    let foreign = Path::new("/dev/shm").join(format!("{}foreign-{own}.cache", memory_head()));
    fs::write(&foreign, "somebody's file").unwrap();
    let user = open_at(&used, of(1), None, false).unwrap();
    let listed = shared_caches();
    let is_used = |path: &Path| listed.iter().find(|found| found.path == path).map(|found| found.is_used);
    assert_eq!((is_used(&used), is_used(&foreign)), (Some(true), None));
    let place = |path: &Path| Place { path: path.to_owned(), is_chosen: true, stays: false };
    sweep(&place(&wanted), Name { group: 1, own: 1 });
    assert_eq!([&stale, &wanted, &used, &foreign].map(|path| path.exists()), [false, true, true, true]);
    // The wanted one goes on as it was.
    let again = open_at(&wanted, of(1), None, false).unwrap();
    assert_eq!(read(&again, 1), Some(content(1)));
    drop((again, user));
    assert_eq!([&wanted, &used].map(|path| path.exists()), [false, false]);
    fs::remove_file(foreign).unwrap();
}

#[test]
fn a_superseded_file_on_disk_goes_and_one_that_is_used_in_every_run_stays() {
    let folder = tempfile::tempdir().unwrap();
    let ago = |days: u64| SystemTime::now() - Duration::from_secs(days * 24 * 3600 + 60);
    let place = |own: u64| {
        let name = Name { group: 0xAB, own };
        let path = folder.path().join(format!("{}{own:016x}.cache", name.head()));
        Place { path, is_chosen: true, stays: true }
    };
    let make = |own: u64, days: u64| {
        let Place { path, .. } = place(own);
        drop(staying(&path));
        File::options().write(true).open(&path).unwrap().set_modified(ago(days)).unwrap();
        path
    };
    let name = |own: u64| Name { group: 0xAB, own };
    let (own, beside, old, used) = (make(1, 10), make(2, 10), make(3, 12), make(4, 12));
    let other_group = folder.path().join("000000cd-0000000000000001.cache");
    fs::rename(make(5, 100), &other_group).unwrap();
    let user = staying(&used);
    File::options().write(true).open(&used).unwrap().set_modified(ago(12)).unwrap();
    sweep(&place(1), name(1));
    let there = || [&own, &beside, &old, &used, &other_group].map(|path| path.exists());
    assert_eq!(there(), [true, true, false, true, true]);
    drop(user);
    // A new one, of other data or other settings: what was used within a day stays.
    File::options().write(true).open(&beside).unwrap().set_modified(ago(0)).unwrap();
    sweep(&place(9), name(9));
    assert_eq!(there(), [false, true, false, true, true]);
}
