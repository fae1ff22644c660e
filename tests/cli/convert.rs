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
fn what_cannot_be_converted_is_named_with_its_cause_and_a_remedy_and_written_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [cut, file, out] = ["cut.jpg", "a.fjc", "out.fjc"].map(path);
    let bytes = fs::read(photo()).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let mut extraneous = bytes.clone();
    extraneous.splice(bytes.len() - 2..bytes.len() - 2, [0x12; 50]);
    fs::write(path("extraneous.jpg"), extraneous).unwrap();
    fs::write(path("flat.png"), feedline_test_support::png::flat([9, 90, 200], 7, 5)).unwrap();
    fs::write(path("text.jpg"), "no image").unwrap();
    let arithmetic = include_bytes!("../decode/arithmetic/progressive.jpg");
    fs::write(path("arithmetic.jpg"), arithmetic).unwrap();
    succeed(&["convert", word(&photo()), word(&file)]);
    for (input, cause, remedy) in [
        ("cut.jpg", "truncated", "copy it again, or use it as it is"),
        ("extraneous.jpg", "is damaged", "copy it again, or use it as it is"),
        ("flat.png", "not a JPEG", "give a JPEG"),
        ("text.jpg", "not a JPEG", "give a JPEG"),
        ("arithmetic.jpg", "arithmetic coding", "use the JPEG as it is"),
        ("a.fjc", "a file of coefficients already", "use it as it is"),
        ("none.jpg", "cannot be read", "check the path"),
    ] {
        let said = fail(&["convert", word(&path(input)), word(&out)]);
        assert!(said.contains(input) && said.contains(cause) && said.contains(remedy), "{said}");
        assert!(!said.contains("damaged =") && !said.contains("--"), "{said}");
    }
    let said = fail(&["convert", word(&photos()), word(&out)]);
    assert!(said.contains("is a folder") && said.contains("pack --format coefficients"), "{said}");
    let said = fail(&["convert", word(&photo()), word(folder.path())]);
    assert!(said.contains("is a folder: name the file to write"), "{said}");
    let said = fail(&["convert", word(&cut), word(&cut)]);
    assert!(said.contains("would overwrite") && !said.contains("--out"), "{said}");
    let said = fail(&["convert", word(&photo()), word(&path("text.jpg/out.fjc"))]);
    assert!(said.contains("text.jpg cannot be made: choose another place"), "{said}");
    assert!(!out.exists());
}
