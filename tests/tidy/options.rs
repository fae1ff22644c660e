//! Options: every one that is declared is read by the code that it configures.

use crate::scan::{Token, mask, tokens, without_tests};
use crate::tree::File;
use std::collections::HashSet;

/// A program that takes an option and ignores it misleads whoever sets it. Parsing an option, or validating it, does not
/// count as reading it.
pub(crate) fn check(files: &[File]) -> Vec<String> {
    let (mut declared, mut read) = (Vec::new(), HashSet::new());
    for file in files {
        let Some(path) = file.in_src() else { continue };
        let masked = mask(&file.text);
        let tokens = tokens(&masked);
        match path.split_once('/') {
            Some(("options", _)) => {
                let keys = keys(&tokens);
                declared.extend(keys.iter().map(|key| (file, key.line, key.text.to_owned())));
            }
            Some(("cli", _)) => {}
            _ => {
                let code = without_tests(&tokens);
                let fields = code.windows(2).filter(|pair| pair[0].text == ".");
                read.extend(fields.map(|pair| pair[1].text.to_owned()));
            }
        }
    }
    let unread = declared.iter().filter(|(_, _, key)| !read.contains(key));
    unread
        .map(|(file, line, key)| {
            format!(
                "{}:{line}: nothing reads the option `{key}`: let it take effect, or remove it",
                file.path
            )
        })
        .collect()
}

/// The keys of `section! { pub struct ... in "name" { key: Type; key as "name" or "other": Type = default; } }`.
fn keys<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let Some(start) = tokens.windows(2).position(|pair| pair[0].text == "section" && pair[1].text == "!")
    else {
        return Vec::new();
    };
    let section = tokens[start..].windows(3).take_while(|three| three[0].text != "}");
    section
        .filter(|three| ["{", ";"].contains(&three[0].text) && [":", "as", "or"].contains(&three[2].text))
        .map(|three| three[1])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_nothing_reads_is_refused() {
        let section = r#"section! { pub struct A in "a" { one: u32; /** ; two: */ two as "b" or "c": [u8; 3] = [0; 3]; } }
            impl A { fn check(&self) { self.two; } }"#;
        let problems = |reader: &str| {
            check(&[File::new("src/options/a.rs", section), File::new("src/loader.rs", reader)])
        };
        assert!(problems("options.one + options.two()").is_empty());
        let unread = problems("fn two() { options.one } #[cfg(test)] mod tests { fn f() { options.two } }");
        assert_eq!(unread.len(), 1, "{unread:?}");
        assert!(unread[0].starts_with("src/options/a.rs:1: nothing reads the option `two`"), "{unread:?}");
    }
}
