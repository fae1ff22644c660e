//! What every source promises, of any source and of the records that it must hand out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::error::Error;
use feedline::label::Label;
use feedline::source::{Destination, Source, Version};
use std::collections::HashSet;
use std::error::Error as _;
use std::path::Path;

/// Path, bytes and class of a record.
pub(crate) type Record = (&'static str, Vec<u8>, i64);

fn hands_out_the_records(source: &dyn Source, records: &[Record]) {
    assert_eq!(source.len(), records.len());
    assert_eq!(source.is_empty(), records.is_empty());
    let mut bytes = Vec::new();
    // Backwards too, so that a short record follows a long one: the buffer is replaced and not appended to.
    for index in (0..source.len()).chain((0..source.len()).rev()) {
        source.read(index, &mut bytes).unwrap();
        assert!(bytes == records[index].1, "bytes of record {index}");
    }
}

/// Memory that is no `Vec`, and full of what was there before.
#[derive(Default)]
pub(crate) struct Elsewhere(Box<[u8]>);

impl Destination for Elsewhere {
    fn room(&mut self, len: usize) -> &mut [u8] {
        self.0 = vec![0xA5; len].into();
        &mut self.0
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn reads_into_other_memory_what_it_reads(source: &dyn Source, records: &[Record]) {
    let (mut bytes, mut elsewhere) = (Vec::new(), Elsewhere::default());
    for index in (0..source.len()).chain((0..source.len()).rev()) {
        source.read_into(index, &mut elsewhere).unwrap();
        source.read_into(index, &mut bytes).unwrap();
        assert!(elsewhere.bytes() == records[index].1, "bytes of record {index}");
        assert!(bytes == records[index].1, "bytes of record {index} in a Vec");
    }
}

/// Either way of reading fails with the same words.
fn fails_alike(source: &dyn Source, index: usize) -> Error {
    let mut bytes = vec![1, 2, 3];
    let error = source.read(index, &mut bytes).unwrap_err();
    assert!(bytes.is_empty());
    let other = source.read_into(index, &mut Elsewhere::default()).unwrap_err();
    let told = |error: &Error| (error.to_string(), error.source().map(ToString::to_string));
    assert_eq!(told(&other), told(&error));
    error
}

fn names_each_record_once_and_always_the_same(source: &dyn Source, records: &[Record]) {
    let keys = || (0..source.len()).map(|index| source.key(index).into_owned()).collect::<Vec<_>>();
    assert_eq!(keys(), keys());
    assert_eq!(keys().into_iter().collect::<HashSet<_>>().len(), source.len());
    for (index, (path, _, _)) in records.iter().enumerate() {
        assert!(source.key(index).ends_with(path), "{}", source.key(index));
    }
}

fn has_sorted_classes_and_labels_among_them(source: &dyn Source, records: &[Record]) {
    let classes = source.classes();
    assert!(classes.is_sorted());
    for (index, (_, _, class)) in records.iter().enumerate() {
        assert_eq!(class_of(&source.label(index)), *class);
        assert!(classes.is_empty() || (*class as usize) < classes.len());
    }
}

/// The class of the image, or of the one object that a record has where images hold objects.
fn class_of(label: &Label) -> i64 {
    match label {
        Label::Objects(objects) => objects.list[0].class,
        other => other.class(),
    }
}

fn refuses_indices_behind_the_end(source: &dyn Source) {
    for index in [source.len(), source.len() + 1, usize::MAX] {
        let error = fails_alike(source, index);
        assert!(matches!(&error, Error::Sample { index: named, .. } if *named == index as u64), "{error}");
        assert_eq!(source.key(index), "");
        assert_eq!(source.label(index), Label::Unlabelled);
    }
}

/// A record has a version where, and only where, a file holds it; so has none behind the end.
fn tells_versions_of_records_in_files(source: &dyn Source) {
    for index in 0..source.len() {
        let (file, version) = (source.file(index), source.version(index));
        assert_eq!(file.is_none(), version == Version::Unknown, "{file:?} {version:?}");
        assert!(source.path(index).is_none_or(|path| file.as_deref() == Some(path)));
    }
    for index in [source.len(), usize::MAX] {
        assert_eq!((source.file(index), source.version(index)), (None, Version::Unknown));
    }
}

fn can_be_read_from_eight_threads_at_once(source: &dyn Source, records: &[Record]) {
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let mut bytes = Vec::new();
                for turn in 0..40 {
                    let index = (turn * 7 + thread) % source.len();
                    source.read(index, &mut bytes).unwrap();
                    assert!(bytes == records[index].1, "record {index} on thread {thread}");
                }
            });
        }
    });
}

fn keeps_the_buffer_from_read_to_read(source: &dyn Source) {
    let mut bytes = Vec::new();
    let read_all =
        |bytes: &mut Vec<u8>| (0..source.len()).for_each(|index| source.read(index, bytes).unwrap());
    read_all(&mut bytes);
    let (place, capacity) = (bytes.as_ptr(), bytes.capacity());
    read_all(&mut bytes);
    assert_eq!((bytes.as_ptr(), bytes.capacity()), (place, capacity));
}

pub(crate) fn names_a_file_that_vanished(source: &dyn Source, records: &[Record], folder: &Path) {
    let lost = records[3].0;
    std::fs::remove_file(folder.join(lost)).unwrap();
    let error = fails_alike(source, 3);
    assert!(matches!(&error, Error::Sample { key, index: 3, .. } if key.ends_with(lost)), "{error}");
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("No such file") && cause.contains("restore the file"), "{cause}");
    // The others are still there.
    let mut bytes = Vec::new();
    source.read(4, &mut bytes).unwrap();
    assert!(bytes == records[4].1);
}

pub(crate) fn keeps_every_promise(source: &dyn Source, records: &[Record]) {
    hands_out_the_records(source, records);
    reads_into_other_memory_what_it_reads(source, records);
    names_each_record_once_and_always_the_same(source, records);
    has_sorted_classes_and_labels_among_them(source, records);
    refuses_indices_behind_the_end(source);
    tells_versions_of_records_in_files(source);
    can_be_read_from_eight_threads_at_once(source, records);
    keeps_the_buffer_from_read_to_read(source);
}
