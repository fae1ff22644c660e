//! Data sets of labelled objects, as they lie in files: what is read, and what becomes of what is wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cache;
mod coco;
mod masks;
mod yolo;
mod yolo_yaml;

use feedline::label::{Label, Objects};
use feedline::source::Source;
use std::path::Path;
use std::sync::Arc;

/// Writes files, and the folders above them.
pub(crate) fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// The objects of an image.
pub(crate) fn objects(source: &dyn Source, index: usize) -> Arc<Objects> {
    match source.label(index) {
        Label::Objects(objects) => objects,
        other => panic!("{other:?}"),
    }
}

/// The text of an error, which must say all of this.
#[track_caller]
pub(crate) fn says(error: &impl ToString, words: &[&str]) {
    let error = error.to_string();
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}
