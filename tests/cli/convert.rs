//! `feedline convert`, and what other commands make of what it writes.

use crate::support::{Array, fail, photo, photos, report, succeed, word};
use std::fs;

#[test]
fn a_converted_photograph_is_a_photograph_to_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let [file, fast] = ["new/a.fjc", "new/fast.fjc"].map(|name| folder.path().join(name));
    let said = succeed(&["convert", word(&photo()), word(&file)]);
    assert!(said.contains("a.fjc: ") && said.contains(" times the "), "{said}");
    succeed(&["convert", word(&photo()), word(&fast), "--profile", "fast"]);
    let pixels = |image: &std::path::Path| {
        let out = folder.path().join("out.npy");
        succeed(&["decode", word(image), "--out", word(&out)]);
        Array::read(&out)
    };
    let wanted = pixels(&photo());
    assert_eq!(pixels(&file), wanted);
    assert_eq!(pixels(&fast), wanted);
    let bytes = [photo(), file.clone(), fast.clone()].map(|path| fs::metadata(path).unwrap().len());
    assert!(bytes[0] < bytes[1] && bytes[1] < bytes[2], "{bytes:?}");
    let found = succeed(&["verify", word(&file)]);
    assert!(found.contains("ok") && found.contains("(coefficients, "), "{found}");
    let found = report(&["inspect", "--json", "--data", word(folder.path())]);
    assert_eq!(found["formats"]["coefficients"], 2, "{found}");
    let mut damaged = fs::read(&file).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&file, damaged).unwrap();
    let found = fail(&["decode", word(&file), "--out", "never.npy"]);
    assert!(
        found.contains("a.fjc") && found.contains("checksum") && found.contains("copy the file again"),
        "{found}"
    );
}

#[test]
fn what_cannot_be_converted_is_named_with_its_cause_and_written_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let [cut, out] = ["cut.jpg", "out.fjc"].map(|name| folder.path().join(name));
    let bytes = fs::read(photo()).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let said = fail(&["convert", word(&cut), word(&out)]);
    assert!(said.contains("cut.jpg") && said.contains("truncated"), "{said}");
    let said = fail(&["convert", word(&photos()), word(&out)]);
    assert!(said.contains("is a folder") && said.contains("pack --format coefficients"), "{said}");
    let said = fail(&["convert", word(&cut), word(&cut)]);
    assert!(said.contains("would overwrite"), "{said}");
    assert!(!out.exists());
}
