//! Names of files that would command a terminal or forge lines.

use crate::support::{feedline, photo, word};
use feedline::pack::Manifest;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const NAME: &str = "a\nok      b\r\u{1b}[2J\u{9b}2J\u{7f}.jpg";

/// A data set of a sound image and two bad ones: one is no image, and the cause of the other names its path.
fn data_set(folder: &Path) -> PathBuf {
    let data = folder.join("data");
    fs::create_dir_all(data.join("class")).expect("a data set");
    fs::copy(photo(), data.join("class/z.jpg")).expect("a data set");
    symlink("nowhere", data.join("class").join(NAME)).expect("a data set");
    fs::write(data.join("class").join(format!("b{NAME}")), "none").expect("a data set");
    data
}

/// What a command shows, on standard output and as its error, which has the lines that it means to have.
fn shown(arguments: &[&str]) -> String {
    let output = feedline(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("ok      b")), "{text:?}");
    text
}

#[test]
fn no_command_prints_a_control_character_of_a_name_or_of_a_cause() {
    let folder = tempfile::tempdir().unwrap();
    let data = data_set(folder.path());
    let (data, out, index) = (word(&data), folder.path().join("out"), folder.path().join("index"));
    let escaped = "a\\nok      b\\r\\u{1b}[2J\\u{9b}2J\\u{7f}.jpg";
    for command in [
        &["verify", data][..],
        &["pack", "--data", data, "--out", word(&out), "--skip-bad"],
        &["inspect", "--data", data],
        &["index", data, "--out", word(&index)],
    ] {
        let text = shown(command);
        // The name, and the name again in the cause of the one that cannot be read.
        assert!(text.matches(escaped).count() >= 3, "{command:?}: {text}");
    }
    shown(&["bench", "--data", data, "--images", "4"]);
    shown(&["plan", "--data", data]);
    let manifest = Manifest::read(&out).unwrap().unwrap();
    assert!(manifest.skipped.iter().all(|skipped| skipped.key.ends_with(NAME)), "the record keeps the name");
}

#[test]
fn json_keeps_the_name_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let data = data_set(folder.path());
    let output = feedline(&["verify", word(&data), "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text:?}");
    let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let path = found[0]["path"].as_str().unwrap();
    assert!(path.ends_with(NAME), "{path:?}");
    assert!(found[0]["cause"].as_str().unwrap().contains(path), "{text}");
    let output = feedline(&["inspect", "--data", word(&data), "--json"]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(summary["first_bad"].to_string().contains("\\u001b[2J"), "{summary}");
}
