//! No path of a user's is opened before it is known to be a regular file: a pipe would wait for its other end.

use crate::scan::{mask, tokens, without_tests};
use crate::tree::File;

/// What opens a path as it is, and what reads it.
const CALLS: &[[&str; 3]] = &[["File", "::", "open"], ["fs", "::", "read"], ["fs", "::", "read_to_string"]];

/// Where that is right, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("src/regular_file.rs", "asks ahead of it, for all others"),
    ("src/color.rs", "compares a kernels' header, in its test"),
    ("src/machine.rs", "reads what the system says of itself"),
    ("src/pack/manifest.rs", "opens its own folder, to sync it"),
];

pub(crate) fn check(file: &File) -> Vec<String> {
    let is_own =
        file.path.starts_with("src/") && !file.path.ends_with("tests.rs") && !file.path.ends_with("page.rs");
    if !file.is_rust() || !is_own || ALLOWED.iter().any(|(path, _)| file.path == *path) {
        return Vec::new();
    }
    let masked = mask(&file.text);
    let tokens = without_tests(&tokens(&masked));
    let opens = tokens.windows(4).filter(|words| {
        CALLS.iter().any(|call| call.iter().zip(*words).all(|(word, token)| token.text == *word))
            && words[3].text == "("
    });
    opens
        .map(|words| {
            format!(
                "{}:{}: `{}::{}` waits for ever at a pipe: use `regular_file`, or write down in tests/tidy/opening.rs \
                 why it may",
                file.path, words[0].line, words[0].text, words[2].text
            )
        })
        .collect()
}

#[test]
fn opening_a_path_as_it_is_is_refused() {
    let problems = |path: &str, text: &str| check(&File::new(path, text)).len();
    let text = "use std::fs;\nfn f() { let _ = fs::read(a); std::fs::File::open(b); fs::read_dir(c); }\n";
    assert_eq!(problems("src/source/a.rs", text), 2);
    assert_eq!((problems("tests/a.rs", text), problems("src/machine.rs", text)), (0, 0));
    assert_eq!(problems("src/a.rs", "#[cfg(test)]\nmod tests { fn f() { fs::read(a); } }\n"), 0);
}
