//! No path is opened before it is known to be a regular file: a pipe would wait for its other end.

use crate::scan::{mask, tokens, without_tests};
use crate::tree::File;

/// What opens a path as it is.
const CALLS: &[[&str; 3]] = &[
    ["File", "::", "create"],
    ["File", "::", "create_new"],
    ["File", "::", "open"],
    ["File", "::", "options"],
    ["OpenOptions", "::", "new"],
    ["fs", "::", "copy"],
    ["fs", "::", "read"],
    ["fs", "::", "read_to_string"],
    ["fs", "::", "write"],
];

/// Where which of them is right, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("src/regular_file.rs", "File::options", "asks, for all others"),
    ("src/color.rs", "fs::write", "writes a kernels' header, in its test"),
    ("src/color.rs", "fs::read_to_string", "and reads it"),
    ("src/machine.rs", "fs::read_to_string", "reads what the system says of itself"),
    ("src/cli/doctor/trainer.rs", "fs::read_to_string", "reads what the system says of processes"),
    ("src/pack/manifest.rs", "File::open", "opens its own folder, to sync it"),
];

pub(crate) fn check(file: &File) -> Vec<String> {
    let is_own = file.path.starts_with("src/")
        && !["tests.rs", "page.rs"].iter().any(|end| file.path.ends_with(end))
        && !file.path.contains("/tests/");
    if !file.is_rust() || !is_own {
        return Vec::new();
    }
    let masked = mask(&file.text);
    let tokens = without_tests(&tokens(&masked));
    let opens = tokens.windows(4).filter(|words| {
        CALLS.iter().any(|call| call.iter().zip(*words).all(|(word, token)| token.text == *word))
            && words[3].text == "("
    });
    let named = opens.map(|words| (words[0].line, format!("{}::{}", words[0].text, words[2].text)));
    let refused =
        named.filter(|(_, call)| !ALLOWED.iter().any(|(path, right, _)| file.path == *path && call == right));
    refused
        .map(|(line, call)| {
            format!(
                "{}:{line}: `{call}` waits for ever at a pipe: use `regular_file`, or write down in \
                 tests/tidy/opening.rs why it may",
                file.path
            )
        })
        .collect()
}

#[test]
fn opening_a_path_as_it_is_is_refused() {
    let problems = |path: &str, text: &str| check(&File::new(path, text)).len();
    let text = "use std::fs;\nfn f() { let _ = fs::read(a); std::fs::File::open(b); fs::read_dir(c); }\n";
    assert_eq!(problems("src/source/a.rs", text), 2);
    let text =
        "fn f() { File::create(a); File::options().write(true); OpenOptions::new(); fs::write(a, b); }\n";
    assert_eq!(problems("src/pack/a.rs", text), 4);
    assert_eq!((problems("tests/a.rs", text), problems("src/pack/manifest.rs", text)), (0, 4));
    assert_eq!(problems("src/pack/manifest.rs", "fn f() { File::open(a); fs::read(a); }\n"), 1);
    assert_eq!(problems("src/a.rs", "#[cfg(test)]\nmod tests { fn f() { fs::read(a); } }\n"), 0);
}
