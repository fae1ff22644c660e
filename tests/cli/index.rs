//! `feedline index`: what it writes, and where.

use crate::support::{fail, succeed};
use std::fs;
use std::path::Path;

#[test]
fn an_index_is_written_beside_the_data_and_never_into_it() {
    let place = tempfile::tempdir().expect("a directory");
    let data = place.path().join("photos");
    fs::create_dir(&data).expect("a directory");
    let photos = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/photos/cat");
    for name in ["0000.jpg", "0001.jpg"] {
        fs::copy(photos.join(name), data.join(name)).expect("a photograph");
    }
    let said = succeed(&["index", &data.display().to_string()]);
    assert!(said.starts_with("2 files: 2 indexed, 0 bad; "), "{said}");
    let sidecar = place.path().join("photos.feedline-index");
    assert!(sidecar.is_file() && said.contains("photos.feedline-index"));
    assert_eq!(fs::read_dir(&data).expect("the data").count(), 2);
    assert_eq!(fs::read_dir(place.path()).expect("the place").count(), 2);

    let notes = place.path().join("notes.txt");
    fs::write(&notes, "mine").expect("a file");
    let error = fail(&["index", &data.display().to_string(), "--out", &notes.display().to_string()]);
    assert!(error.contains("is no decode index"), "{error}");
    assert_eq!(fs::read(&notes).expect("the notes"), b"mine");
}
