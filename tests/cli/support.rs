//! Running the binary, reading what it wrote, and small data sets.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the command in the crate's root.
pub(crate) fn feedline(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_feedline"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the binary was built for this test")
}

/// Standard output of a run that must succeed.
pub(crate) fn succeed(arguments: &[&str]) -> String {
    let output = feedline(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    assert!(error.is_empty(), "{arguments:?} wrote to standard error, which is no terminal: {error}");
    String::from_utf8(output.stdout).expect("reports are UTF-8")
}

/// The error line of a run that must exit with 1.
pub(crate) fn fail(arguments: &[&str]) -> String {
    let output = feedline(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let error = String::from_utf8(output.stderr).expect("errors are UTF-8");
    assert!(error.starts_with("error: ") && error.lines().count() == 1, "{error}");
    error
}

/// The one JSON object that a run prints.
pub(crate) fn report(arguments: &[&str]) -> serde_json::Value {
    let text = succeed(arguments);
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).expect("one JSON object")
}

/// Asserts that a report has these keys.
pub(crate) fn has_keys(report: &serde_json::Value, keys: &[&str]) {
    for key in keys {
        assert!(report.get(key).is_some(), "`{key}` is missing in {report}");
    }
}

/// A path as an argument.
pub(crate) fn word(path: &Path) -> &str {
    path.to_str().expect("test paths are UTF-8")
}

pub(crate) fn photos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/photos")
}

/// A bundled photograph that is stored upright.
pub(crate) fn photo() -> PathBuf {
    photos().join("rocket/0000.jpg")
}

/// A NumPy array as it lies in its file.
#[derive(Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) descr: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Array {
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("the command wrote the array");
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let head = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let text = std::str::from_utf8(&bytes[10..head]).expect("the header is ASCII");
        let between = |start: &str, end: &str| {
            let rest = text.split_once(start).expect(start).1;
            rest.split_once(end).expect(end).0.to_owned()
        };
        let lengths = between("'shape': (", ")");
        let lengths = lengths.split(',').map(str::trim).filter(|length| !length.is_empty());
        let shape = lengths.map(|length| length.parse().expect("a length")).collect();
        Self { descr: between("'descr': '", "'"), shape, data: bytes[head..].to_vec() }
    }

    pub(crate) fn floats(&self) -> Vec<f32> {
        assert_eq!(self.descr, "<f4");
        self.data.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect()
    }
}

/// A flat data set of `good` copies of a photograph and one truncated file that sorts behind them.
pub(crate) fn folder_with_a_bad_file(good: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let bytes = std::fs::read(photo()).expect("the bundled photograph");
    for number in 0..good {
        std::fs::write(folder.path().join(format!("a{number}.jpg")), &bytes).expect("a copy");
    }
    std::fs::write(folder.path().join("z_bad.jpg"), &bytes[..bytes.len() / 2]).expect("half a copy");
    folder
}
