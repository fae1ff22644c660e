//! Files of other formats as sources: what is read from them, and what is refused with which words.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod damage;
mod list;
mod lmdb;
mod others;
mod parquet;
mod parquet_footers;
mod paths;
mod replaced;
mod tfrecord;

use feedline::error::{Error, Result};
use feedline::label::Label;
use feedline::source::Source;
use std::error::Error as _;

/// Key, bytes and label of each record.
fn all(source: &dyn Source) -> Vec<(String, Vec<u8>, Label)> {
    let mut bytes = Vec::new();
    let mut record = |index: usize| {
        source.read(index, &mut bytes).unwrap();
        (source.key(index).into_owned(), bytes.clone(), source.label(index))
    };
    (0..source.len()).map(&mut record).collect()
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|index| source.label(index).class()).collect()
}

/// The message of a source that cannot be opened; it holds all of the words.
fn refused<S: Source>(opened: Result<S>, words: &[&str]) {
    let error = opened.map(|_| ()).unwrap_err().to_string();
    words.iter().for_each(|word| assert!(error.contains(word), "`{word}` is not in: {error}"));
}

/// The cause of a bad sample.
fn cause(source: &dyn Source, index: usize) -> String {
    let mut bytes = vec![1];
    let error = source.read(index, &mut bytes).unwrap_err();
    assert!(bytes.is_empty());
    assert!(matches!(&error, Error::Sample { index: named, .. } if *named == index as u64), "{error}");
    error.source().unwrap().to_string()
}
