//! Who uses a file: it is there as long as somebody does, and is removed by the last one, or by the next one after a death.

use super::*;
use crate::source::shared::found::{caches_in, sweep, sweep_memory};
use crate::source::shared::places::memory_head;
use std::fs::{self, File};
use std::os::unix::fs::{chown, symlink};
use std::path::PathBuf;
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

#[test]
fn of_a_file_in_memory_that_a_link_leads_to_the_link_alone_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let [link, target] = ["link", "target"].map(|name| folder.path().join(name));
    symlink(&target, &link).unwrap();
    for _ in 0..2 {
        let cache = in_memory(&link);
        assert_eq!(cache.path(), fs::canonicalize(&target).unwrap());
        drop(cache);
        assert!(!target.exists() && link.is_symlink());
    }
}

/// Only the superuser can make a file somebody else's.
#[test]
fn a_file_of_another_user_is_refused_also_where_it_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    drop(staying(&path));
    if let Err(error) = chown(&path, Some(12345), None) {
        println!("not run, since this user cannot give a file away: {error}");
        return;
    }
    let told = open_at(&path, of(1), None, true).unwrap_err().to_string();
    assert!(
        told.contains("belongs to user 12345, and this process to") && told.contains("cache_file"),
        "{told}"
    );
}

/// Sets when a file was written to last.
fn date(path: &Path, when: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(when).unwrap();
}

#[test]
fn a_file_on_disk_is_dated_when_it_is_opened_and_in_each_hour_in_which_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    store(&staying(&path), 1);
    // Whether it was dated since this was asked last.
    let is_dated = || {
        let is_new = fs::metadata(&path).unwrap().modified().unwrap() > old;
        date(&path, old);
        is_new
    };
    date(&path, old);
    let cache = staying(&path);
    assert!(is_dated());
    assert_eq!(read(&cache, 1), Some(content(1)));
    let hours = [0, 1, 1, 3, 2, 3, 4].map(|hour| {
        cache.note_use(hour);
        is_dated()
    });
    assert_eq!(hours, [false, true, false, true, false, false, true]);
    drop(cache);
    assert!(is_dated());
}

/// What is left of a process that was killed: a file in memory that nobody uses.
fn left_behind(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(format!("{}{name}.cache", memory_head()));
    let cache = open_at(&path, of(1), Some(1 << 20), true).unwrap();
    store(&cache, 1);
    path
}

#[test]
fn what_a_killed_process_left_in_memory_is_swept_and_what_is_used_or_foreign_stays() {
    let folder = tempfile::tempdir().unwrap();
    let [stale, wanted, used] = ["stale", "wanted", "used"].map(|name| left_behind(folder.path(), name));
    let foreign = folder.path().join(format!("{}foreign.cache", memory_head()));
    fs::write(&foreign, "somebody's file").unwrap();
    let user = open_at(&used, of(1), None, false).unwrap();
    let listed = caches_in(folder.path(), &memory_head());
    let is_used = |path: &Path| listed.iter().find(|found| found.path == path).map(|found| found.is_used);
    assert_eq!([&used, &stale, &foreign].map(|path| is_used(path)), [Some(true), Some(false), None]);
    sweep_memory(folder.path(), &wanted);
    assert_eq!([&stale, &wanted, &used, &foreign].map(|path| path.exists()), [false, true, true, true]);
    // The wanted one goes on as it was.
    let again = open_at(&wanted, of(1), None, false).unwrap();
    assert_eq!(read(&again, 1), Some(content(1)));
    drop((again, user));
    assert_eq!([&wanted, &used].map(|path| path.exists()), [false, false]);
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
        date(&path, ago(days));
        path
    };
    let name = |own: u64| Name { group: 0xAB, own };
    let (own, beside, old, used) = (make(1, 10), make(2, 10), make(3, 12), make(4, 12));
    let other_group = folder.path().join("000000cd-0000000000000001.cache");
    fs::rename(make(5, 100), &other_group).unwrap();
    let user = staying(&used);
    date(&used, ago(12));
    let there = || [&own, &beside, &old, &used, &other_group].map(|path| path.exists());
    // Who joins others sees a date that they have just set.
    let first = staying(&own);
    sweep(&place(1), name(1));
    assert_eq!(there(), [true; 5]);
    drop(first);
    date(&own, ago(10));
    sweep(&place(1), name(1));
    assert_eq!(there(), [true, true, false, true, true]);
    drop(user);
    // A new one, of other data or other settings: what was used within a day stays.
    date(&beside, ago(0));
    sweep(&place(9), name(9));
    assert_eq!(there(), [false, true, false, true, true]);
}
