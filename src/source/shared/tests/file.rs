//! The file: what is stored in it, its limit, and damage to it.

use super::*;
use crate::source::shared::file::{Counts, Known};
use crate::source::shared::found::is_cache;
use crate::source::shared::layout::{
    END_AT, END_BYTES, ENTRY_BYTES, HEAD_BYTES, Head, end_to_bytes, entry_at,
};
use crate::source::shared::lock::{Byte, Hold, try_lock};
use crate::source::shared::opening::{Attempt, begin};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Another opening, as another process would have it.
fn beside(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

/// Changes a byte, or changes it back.
fn turn(file: &File, at: u64) {
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
}

/// What a file at `path` is known by that has such a table as those of these tests.
fn known(file: File, path: &Path) -> Known {
    let (process, start, limit) = (std::process::id(), 8192, 1 << 24);
    Known { file, path: path.to_owned(), stays: true, process, records: RECORDS, start, limit, end: start }
}

#[test]
fn a_record_comes_back_from_its_own_entry_in_every_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let first = staying(&path);
    (0..RECORDS).for_each(|record| store(&first, record));
    let second = staying(&path);
    drop(first);
    for cache in [second, staying(&path)] {
        for record in 0..RECORDS {
            assert_eq!(read(&cache, record).unwrap(), content(record));
        }
        assert_eq!((cache.entry(RECORDS), cache.entry(u64::MAX)), (None, None));
        cache.store(RECORDS, None, about(b"behind the end"), b"behind the end");
        let stored: u64 = (0..RECORDS).map(|record| content(record).len() as u64).sum();
        let sound = Counts { bytes: 8192 + stored, ..Counts::default() };
        assert_eq!(cache.counts(), sound);
    }
    // The entry of one record in the place of another's.
    let (file, cache) = (beside(&path), staying(&path));
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
        if cut {
            beside(&path).set_len(at).unwrap();
        } else {
            turn(&beside(&path), at);
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
        turn(&beside(&path), at);
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
    let stopped = beside(&path);
    assert!(try_lock(&stopped, Byte::End, Hold::Alone).unwrap());
    let begun = Instant::now();
    (0..900).for_each(|_| store(&cache, 1));
    assert!(begun.elapsed() < Duration::from_secs(5), "they do not wait one by one");
    let Counts { busy, failures, .. } = cache.counts();
    assert_eq!((read(&cache, 1), busy, failures), (None, 900, 0));
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
    let unwritable = CacheFile::of(known(File::open(&path).unwrap(), &path));
    store(&unwritable, 2);
    assert_eq!((read(&unwritable, 1), read(&unwritable, 2)), (Some(content(1)), None));
    let Counts { busy, failures, .. } = unwritable.counts();
    assert_eq!((busy, failures), (0, 1));
}

/// A process is known by its number, and none has 0.
#[test]
fn a_child_that_was_forked_reads_what_is_stored_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = staying(&path);
    store(&cache, 1);
    let child = CacheFile::of(Known { process: 0, ..known(beside(&path), &path) });
    let entry = child.entry(1).unwrap();
    child.renew(1, Entry { nanoseconds: 77, ..entry });
    store(&child, 2);
    assert_eq!((read(&child, 1), cache.entry(1), cache.entry(2)), (Some(content(1)), Some(entry), None));
    assert_eq!(child.counts(), cache.counts());
}

#[test]
fn a_damaged_entry_counts_once_although_it_is_looked_at_again_to_store_its_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = staying(&path);
    store(&cache, 1);
    turn(&beside(&path), entry_at(1) + 9);
    store(&cache, 1);
    assert_eq!((read(&cache, 1), cache.counts().damaged), (Some(content(1)), 1));
}

#[test]
fn an_entry_that_is_signed_and_names_more_than_the_file_holds_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = open_at(&path, of(1), Some(1 << 41), true).unwrap();
    let terabyte = Entry { offset: 8192, length: 1 << 40, ..about(b"") };
    beside(&path).write_all_at(&terabyte.to_bytes(2), entry_at(2)).unwrap();
    assert_eq!(cache.entry(2), None);
    store(&cache, 2);
    assert_eq!(read(&cache, 2), Some(content(2)));
}

/// So has who was killed left it while he made it, at some of these lengths.
#[test]
fn a_named_file_that_ends_in_its_head_or_its_table_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = staying(&path);
    store(&cache, 1);
    drop(cache);
    let whole = fs::read(&path).unwrap();
    for length in (16..100).chain((100..8192).step_by(61)).chain([0, 8192]) {
        fs::write(&path, &whole[..length]).unwrap();
        let cache = open_at(&path, of(1), Some(1 << 24), false).unwrap();
        assert_eq!((read(&cache, 1), cache.counts().bytes), (None, 8192), "{length}");
        store(&cache, 1);
        assert_eq!(read(&cache, 1), Some(content(1)), "{length}");
    }
    // Too short to be told from a file of a user's own.
    for length in 1..16 {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(open_at(&path, of(1), None, false).is_err());
        assert_eq!(fs::read(&path).unwrap(), whole[..length]);
    }
}

/// What is written to a file that is only appended to stands there in the order in which it came.
#[test]
fn a_file_is_known_for_a_cache_before_it_has_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let file = File::options().read(true).append(true).create(true).open(path).unwrap();
    begin(&file, Head { of: of(1), limit: 1 << 20 }, 8192, false).unwrap();
    assert!(is_cache(&file));
}

#[test]
fn room_that_the_dead_took_and_never_used_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = staying(&path);
    store(&cache, 1);
    let bytes = cache.counts().bytes;
    drop(cache);
    beside(&path).write_all_at(&end_to_bytes(bytes + 100), END_AT).unwrap();
    let next = staying(&path);
    assert_eq!((read(&next, 1), next.counts().bytes), (Some(content(1)), bytes));
}

#[test]
fn a_head_or_an_end_that_is_read_in_half_is_read_again_before_it_is_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let (_user, file) = (staying(&path), beside(&path));
    let place = Place::of(true, Some(&path), Name { group: 1, own: 2 }).unwrap();
    let wanted = Wanted { place, of: of(1), limit: None };
    for at in [20, 70] {
        turn(&file, at);
        assert!(matches!(wanted.join(&file, 8192).unwrap(), Attempt::Torn));
        let told = wanted.open().unwrap_err().to_string();
        assert!(told.contains("was damaged while other processes use it: end them"), "{told}");
        turn(&file, at);
        assert!(matches!(wanted.join(&file, 8192).unwrap(), Attempt::Joined(_)));
    }
}

#[test]
fn more_records_than_a_cache_may_have_are_refused_with_both_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let many = Of { records: (1 << 40) + 1, ..of(1) };
    let told = open_at(&folder.path().join("cache"), many, None, true).unwrap_err().to_string();
    assert!(told.contains("at most 1099511627776 records, and the data have 1099511627777: "), "{told}");
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
