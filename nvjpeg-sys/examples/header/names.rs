//! The names in a header, and those that its release must have by the declarations.

use nvjpeg_sys::declared::Release;
use nvjpeg_sys::{CALLBACKS, ENUMERATIONS, FUNCTIONS, OPAQUE, STRUCTURES};
use std::collections::BTreeSet;

/// Names of the header that stand for nothing that could be declared.
const NOT_DECLARED: &[&str] = &[
    "NVJPEG_MAX_COMPONENT",     // the lengths of arrays, of which sizes are compared
    "NVJPEG_OUTPUT_FORMAT_MAX", // another name of the last format
    "NVJPEG_VER_BUILD",
    "NVJPEG_VER_MAJOR",
    "NVJPEG_VER_MINOR",
    "NVJPEG_VER_PATCH",
];

/// The release that a header is of.
pub(crate) fn release(header: &str) -> Result<Release, String> {
    let number = |name: &str| {
        let mut lines = header.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let found = lines.find_map(|words| match words[..] {
            ["#define", word, value, ..] if word == name => value.parse().ok(),
            _ => None,
        });
        found.ok_or_else(|| format!("the header does not define {name}"))
    };
    Ok((number("NVJPEG_VER_MAJOR")?, number("NVJPEG_VER_MINOR")?, number("NVJPEG_VER_PATCH")?))
}

/// What differs between the header's names and those of the declarations for its release.
pub(crate) fn differences(header: &str, release: Release) -> Vec<String> {
    let (there, ours) = (of_header(header), declared(release));
    let mut found: Vec<String> =
        there.difference(&ours).map(|name| format!("{name} is in the header and not declared")).collect();
    found.extend(ours.difference(&there).map(|name| format!("{name} is declared and not in the header")));
    found
}

/// nvJPEG's own names, without those of structures' and enumerations' tags.
fn of_header(header: &str) -> BTreeSet<String> {
    let code = without_comments(header);
    let words = code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let names: BTreeSet<String> =
        words.filter(|word| is_a_name(word) && !NOT_DECLARED.contains(word)).map(ToOwned::to_owned).collect();
    names.iter().filter(|name| !names.contains(&format!("{name}_t"))).cloned().collect()
}

/// Whether it is one of nvJPEG's names, and not an argument's.
fn is_a_name(word: &str) -> bool {
    let capital =
        |prefix| word.strip_prefix(prefix).is_some_and(|rest: &str| rest.starts_with(char::is_uppercase));
    capital("nvjpeg") || capital("NVJPEG_") || capital("t")
}

fn declared(release: Release) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for enumeration in ENUMERATIONS.iter().filter(|enumeration| enumeration.name != "Property") {
        let values: Vec<_> = enumeration.values.iter().filter(|value| value.span.holds(release)).collect();
        if !values.is_empty() && !enumeration.c.is_empty() {
            names.insert(enumeration.c.to_owned());
        }
        names.extend(values.iter().map(|value| value.c.to_owned()));
    }
    names.extend(STRUCTURES.iter().map(|structure| structure.c.to_owned()));
    names.extend(OPAQUE.iter().map(|(_, c)| format!("{c}_t")));
    names.extend(CALLBACKS.iter().map(|(_, function)| function.name.to_owned()));
    let functions = FUNCTIONS.iter().filter(|function| function.span.holds(release));
    names.extend(functions.map(|function| function.name.to_owned()));
    names
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        code.push_str(&rest[..at]);
        let (ends, kept) = match rest.as_bytes().get(at + 1) {
            Some(b'/') => ("\n", " \n"),
            Some(b'*') => ("*/", " "),
            _ => ("/", "/"),
        };
        let from = at + if ends == "/" { 0 } else { 2 };
        rest = rest[from..].find(ends).map_or("", |end| &rest[from + end + ends.len()..]);
        code.push_str(kept);
    }
    code + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "/* nvjpegOld_t */\n#define NVJPEG_VER_MAJOR 13\n#define NVJPEG_VER_MINOR 3 // nvjpegNo\n\
        #define NVJPEG_VER_PATCH 2\ntypedef enum nvjpegBackend { nvjpeg_no, NVJPEG_BACKEND_DEFAULT = 1/1 } nvjpegBackend_t;";

    #[test]
    fn the_release_is_read_from_the_header() {
        assert_eq!(release(HEADER), Ok((13, 3, 2)));
        assert!(release("#define NVJPEG_VER_MAJOR 13").unwrap_err().contains("NVJPEG_VER_MINOR"));
    }

    #[test]
    fn names_in_comments_and_tags_are_none() {
        let names: Vec<String> = of_header(HEADER).into_iter().collect();
        assert_eq!(names, ["NVJPEG_BACKEND_DEFAULT", "nvjpegBackend_t"]);
    }

    #[test]
    fn names_that_only_one_side_has_are_told() {
        let found = differences(&HEADER.replace("nvjpegBackend_t", "nvjpegNew_t"), (13, 3, 2)).join("\n");
        assert!(found.contains("nvjpegNew_t is in the header and not declared"), "{found}");
        assert!(found.contains("nvjpegDestroy is declared and not in the header"), "{found}");
        assert!(!found.contains("NVJPEG_BACKEND_DEFAULT "), "{found}");
    }
}
