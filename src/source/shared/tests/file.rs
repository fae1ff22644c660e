//! The file: what is stored in it, its limit, and damage to it.

use super::*;
use crate::source::shared::file::{Counts, Known};
use crate::source::shared::layout::{END_BYTES, ENTRY_BYTES, HEAD_BYTES, entry_at};
use crate::source::shared::lock::{Byte, Hold, try_lock};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

#[test]
fn a_record_comes_back_from_its_own_entry_in_every_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let first = staying(&path);
    (0..RECORDS).for_each(|record| store(&first, record));
    let beside = staying(&path);
    drop(first);
    for cache in [beside, staying(&path)] {
        for record in 0..RECORDS {
            assert_eq!(read(&cache, record).unwrap(), content(record));
        }
        assert_eq!((cache.entry(RECORDS), cache.entry(u64::MAX)), (None, None));
        cache.store(RECORDS, None, about(b"behind the end"), b"behind the end");
        let stored: u64 = (0..RECORDS).map(|record| content(record).len() as u64).sum();
        let Counts { bytes, full, failures, damaged } = cache.counts();
        assert_eq!((bytes - 8192, full, failures, damaged), (stored, 0, 0, 0));
    }
    // The entry of one record in the place of another's.
    let (file, cache) = (File::options().read(true).write(true).open(&path).unwrap(), staying(&path));
    let mut entry = [0; ENTRY_BYTES];
    file.read_exact_at(&mut entry, entry_at(3)).unwrap();
    file.write_all_at(&entry, entry_at(4)).unwrap();
    assert_eq!((read(&cache, 3).unwrap(), read(&cache, 4)), (content(3), None));
    assert_eq!(cache.counts().damaged, 1);
}

/// Every byte that belongs to a record is turned, and the file is cut at each; then the record is stored anew.
#[test]
fn a_record_that_is_damaged_anywhere_or_cut_off_is_not_believed_and_can_be_stored_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let bytes = b"thirty bytes of some image file".to_vec();
    let made = || {
        drop(fs::remove_file(&path));
        let cache = staying(&path);
        cache.store(2, None, about(&bytes), &bytes);
        let entry = cache.entry(2).unwrap();
        (cache, entry)
    };
    let (_, entry) = made();
    let places = (entry_at(2)..entry_at(3)).chain(entry.offset..entry.offset + entry.length);
    for (at, cut) in places.flat_map(|at| [(at, false), (at, true)]) {
        let (cache, _) = made();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        if cut {
            file.set_len(at).unwrap();
        } else {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
        }
        assert_eq!(read(&cache, 2), None, "at {at}");
        cache.store(2, cache.entry(2), about(&bytes), &bytes);
        // Where the end was cut off as well, nothing is stored any more, and nobody fails.
        let again = read(&cache, 2);
        assert!(again.as_ref() == Some(&bytes) || cut && again.is_none(), "at {at}");
        drop(cache);
        let next = staying(&path);
        assert!(read(&next, 2).is_none_or(|read| read == bytes), "at {at}");
        next.store(2, next.entry(2), about(&bytes), &bytes);
        assert_eq!(read(&next, 2).as_ref(), Some(&bytes), "at {at}");
    }
}

#[test]
fn a_damaged_head_begins_the_file_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let bytes = b"an image".to_vec();
    // The magic is what tells a file of a user's own apart.
    for at in 16..(HEAD_BYTES + END_BYTES) as u64 {
        let cache = staying(&path);
        cache.store(2, None, about(&bytes), &bytes);
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
        // Who uses the file already stores no more at worst.
        cache.store(3, None, about(&bytes), &bytes);
        drop(cache);
        let next = staying(&path);
        assert_eq!((read(&next, 2), read(&next, 3)), (None, None), "at {at}");
        assert_eq!(next.counts().bytes, 8192, "at {at}");
    }
}

#[test]
fn a_file_of_another_kind_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thesis.txt");
    fs::write(&path, "a user's only copy").unwrap();
    let told = open_at(&path, of(1), None, true).unwrap_err().to_string();
    assert!(told.contains("is no cache of feedline's") && told.contains("name another file"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), b"a user's only copy");
    let told = open_at(folder.path(), of(1), None, true).unwrap_err().to_string();
    assert!(told.contains("it is a folder") && told.contains("cache_file"), "{told}");
    let told = open_at(&folder.path().join("none/cache"), of(1), None, true).unwrap_err().to_string();
    assert!(told.contains("No such file") && told.contains("cache_file"), "{told}");
    let told = open_at(&folder.path().join("cache"), of(1), Some(5000), true).unwrap_err().to_string();
    assert!(told.contains("needs 8192 bytes for their table") && told.contains("cache_limit"), "{told}");
}

#[test]
fn other_settings_begin_a_file_anew_that_nobody_uses_and_are_refused_where_somebody_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let first = staying(&path);
    store(&first, 1);
    let told = open_at(&path, of(2), Some(1 << 24), true).unwrap_err().to_string();
    assert!(told.contains("in use by another process") && told.contains("cache_file"), "{told}");
    drop(first);
    let other = open_at(&path, of(2), Some(1 << 24), true).unwrap();
    assert_eq!((read(&other, 1), other.counts().bytes), (None, 8192));
}

#[test]
fn what_comes_first_stays_and_the_file_never_passes_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = open_at(&path, of(1), Some(8192 + 1000), true).unwrap();
    let put = |record: u64, length: usize| {
        let bytes = vec![record as u8; length];
        cache.store(record, None, about(&bytes), &bytes);
        read(&cache, record).is_some()
    };
    assert_eq!(
        [(0, 400), (1, 601), (2, 500), (3, 101), (4, 100)].map(|(record, length)| put(record, length)),
        [true, false, true, false, true]
    );
    assert_eq!((cache.counts().full, cache.room()), (2, 0));
    assert_eq!(fs::metadata(&path).unwrap().len(), 8192 + 1000);
    // A user who comes later has the limit of the first.
    let later = open_at(&path, of(1), Some(1 << 24), true).unwrap();
    store(&later, 5);
    assert_eq!((read(&later, 5), later.counts().full), (None, 1));
    drop((cache, later));
    let larger = open_at(&path, of(1), Some(1 << 24), true).unwrap();
    store(&larger, 5);
    assert_eq!((read(&larger, 0), read(&larger, 5)), (Some(vec![0; 400]), Some(content(5))));
    drop(larger);
    let smaller = open_at(&path, of(1), Some(9000), true).unwrap();
    assert_eq!((read(&smaller, 0), fs::metadata(&path).unwrap().len()), (None, 8192));
}

#[test]
fn four_writers_at_once_keep_within_the_limit_and_store_no_record_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let limit = 8192 + (0..RECORDS).map(|record| content(record).len() as u64).sum::<u64>() / 2;
    let users: Vec<CacheFile> = (0..4).map(|_| open_at(&path, of(1), Some(limit), true).unwrap()).collect();
    std::thread::scope(|scope| {
        for (number, cache) in users.iter().enumerate() {
            let path = &path;
            scope.spawn(move || {
                for turn in 0..10 * RECORDS {
                    let record = (turn * (2 * number as u64 + 1) + number as u64) % RECORDS;
                    store(cache, record);
                    assert!(read(cache, record).is_none_or(|bytes| bytes == content(record)));
                    assert!(fs::metadata(path).unwrap().len() <= limit);
                }
            });
        }
    });
    let found: Vec<u64> = (0..RECORDS).filter(|&record| read(&users[0], record).is_some()).collect();
    assert!(found.len() > 10, "{found:?}");
    assert!(found.iter().all(|&record| read(&users[3], record).unwrap() == content(record)));
    assert!(users.iter().all(|cache| (cache.counts().failures, cache.counts().damaged) == (0, 0)));
    assert!(users.iter().map(|cache| cache.counts().full).sum::<u64>() > 0);
}

/// Another opening in this process is another holder, as another process would be.
#[test]
fn a_holder_of_the_end_that_was_stopped_costs_a_record_and_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = staying(&path);
    let stopped = File::options().read(true).write(true).open(&path).unwrap();
    assert!(try_lock(&stopped, Byte::End, Hold::Alone).unwrap());
    let begun = Instant::now();
    (0..900).for_each(|_| store(&cache, 1));
    assert!(begun.elapsed() < Duration::from_secs(5), "they do not wait one by one");
    assert_eq!((read(&cache, 1), cache.counts().failures), (None, 900));
    drop(stopped);
    (0..200).for_each(|_| store(&cache, 1));
    assert_eq!(read(&cache, 1), Some(content(1)));
}

#[test]
fn a_place_that_cannot_be_written_to_costs_no_record_but_those_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = staying(&path);
    store(&cache, 1);
    let known = |file: File| Known {
        file,
        path: path.clone(),
        stays: true,
        records: RECORDS,
        start: 8192,
        limit: 1 << 24,
        end: 8192,
    };
    let unwritable = CacheFile::of(known(File::open(&path).unwrap()));
    store(&unwritable, 2);
    assert_eq!((read(&unwritable, 1), read(&unwritable, 2)), (Some(content(1)), None));
    assert_eq!(unwritable.counts().failures, 1);
}

#[test]
fn what_is_of_no_use_any_more_is_thrown_away_once_it_is_the_larger_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let put = |cache: &CacheFile, bytes: &[u8]| cache.store(1, cache.entry(1), about(bytes), bytes);
    let cache = staying(&path);
    put(&cache, &[1; 500]);
    put(&cache, &[2; 500]);
    drop(cache);
    let cache = staying(&path);
    assert_eq!((read(&cache, 1), cache.counts().bytes), (Some(vec![2; 500]), 8192 + 1000));
    put(&cache, &[3; 400]);
    drop(cache);
    assert_eq!((read(&staying(&path), 1), staying(&path).counts().bytes), (None, 8192));
}
