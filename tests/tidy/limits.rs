//! Bounds on files and functions.

use crate::scan::{closing, mask, tokens};
use crate::tree::File;

/// The maximum of lines of a source file or script. Most are about 150; CONTRIBUTING.md says when one may pass 400.
const FILE_LINES: usize = 500;
/// The maximum of lines of a function: a screen.
const FUNCTION_LINES: usize = 70;
/// The maximum of bytes of a file outside `data/`: what is larger is data, or was made by a program.
const FILE_BYTES: u64 = 128 << 10;
/// The same for the kernels' prebuilt machine code, which a program makes and a check compares.
const PREBUILT_BYTES: u64 = 192 << 10;

pub(crate) fn check_lines(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    if !(file.is_rust() || file.is_script()) || lines <= FILE_LINES {
        return Vec::new();
    }
    vec![format!(
        "{}: {lines} lines, at most {FILE_LINES}: give its second noun a file of its own",
        file.path
    )]
}

pub(crate) fn check_functions(file: &File) -> Vec<String> {
    if !file.is_rust() {
        return Vec::new();
    }
    let too_long = |(name, line, lines): &(String, usize, usize)| {
        (*lines > FUNCTION_LINES).then(|| {
            let path = &file.path;
            format!("{path}:{line}: `{name}` has {lines} lines, at most {FUNCTION_LINES}: name its parts")
        })
    };
    functions(&file.text).iter().filter_map(too_long).collect()
}

/// Name, first line and number of lines of each function that has a body.
fn functions(source: &str) -> Vec<(String, usize, usize)> {
    let masked = mask(source);
    let tokens = tokens(&masked);
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "fn" || !pair[1].is_name() {
            continue; // a word, or a type such as fn(u8) -> u8
        }
        let mut next = at + 2;
        while let Some(token) = tokens.get(next) {
            match token.text {
                "{" => break,
                ";" => break,
                "(" | "[" => next = closing(&tokens, next),
                _ => next += 1,
            }
        }
        if tokens.get(next).is_some_and(|token| token.text == "{") {
            let last = tokens[closing(&tokens, next) - 1].line;
            found.push((pair[1].text.to_owned(), pair[0].line, last - pair[0].line + 1));
        }
    }
    found
}

pub(crate) fn check_bytes(file: &File) -> Vec<String> {
    let max = if file.path.starts_with("kernels/prebuilt/") { PREBUILT_BYTES } else { FILE_BYTES };
    if file.path.starts_with("data/") || file.bytes <= max {
        return Vec::new();
    }
    vec![format!("{}: {} bytes, at most {max} outside data/: make it at build time", file.path, file.bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_too_many_is_refused() {
        assert!(check_lines(&File::new("src/a.rs", &"x\n".repeat(500))).is_empty());
        assert_eq!(check_lines(&File::new("src/a.rs", &"x\n".repeat(501))).len(), 1);
        assert_eq!(check_lines(&File::new(".ci/run", &"x\n".repeat(501))).len(), 1);
        assert!(check_lines(&File::new("Cargo.lock", &"x\n".repeat(501))).is_empty());
    }

    #[test]
    fn a_function_longer_than_a_screen_is_refused() {
        let long = |lines: usize| format!("fn long() {{\n{}}}\n", "f('{');\n".repeat(lines - 2));
        assert!(check_functions(&File::new("src/a.rs", &long(70))).is_empty());
        assert_eq!(check_functions(&File::new("src/a.rs", &long(71))).len(), 1);
    }

    #[test]
    fn bodies_are_found_behind_awkward_heads() {
        let heads = "fn a<'a, T: Fn() -> [u8; 2]>(x: [u8; 3]) -> [u8; 4]\nwhere T: X,\n{\n \"}\";\n}\n\
                     fn declared(x: [u8; 2]);\nlet f: fn(u8) = |x| { };\nfn inner() { fn nested() {\n} }";
        let found = functions(heads);
        let names: Vec<(&str, usize)> =
            found.iter().map(|(name, _, lines)| (name.as_str(), *lines)).collect();
        assert_eq!(names, [("a", 5), ("inner", 2), ("nested", 2)]);
    }

    #[test]
    fn a_large_file_is_refused_outside_data() {
        let large = |path: &str| File { bytes: FILE_BYTES + 1, ..File::new(path, "") };
        assert_eq!(check_bytes(&large("docs/a.png")).len(), 1);
        assert!(check_bytes(&large("data/a.jpg")).is_empty());
        assert!(check_bytes(&large("kernels/prebuilt/a.ptx")).is_empty());
    }
}
