//! The page `docs/options.md`, made of the declarations of the options.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::{Entry, Kind, SECTIONS, catalogue};
use std::fmt::Write;

const HEAD: &str = "\
# Options

Everything that a loader can be told, once. Every face takes every option: a recipe file as a key of its section
(`[loader]` with `batch_size = 64`), Python as a keyword (`batch_size=64`), the command as a flag (`--batch-size 64`), C
by `feedline_options_set(options, \"batch_size\", \"64\")`, and Rust by the field
`Options::loader.batch_size` or the builder's method. Where there are no sections the option's name is used, or section and
key (`output.dtype`). What a face says is laid over the recipe; what nobody says is the default.

Bytes may be written as `4096`, `512K`, `64M`, `20G` or `2T`. On a command line and in C, lists may lack their brackets
(`0.5,0.5,0.5`), and words their quotes. An unknown option or a value that cannot be is an error that names both. What is
no data has no option: records in memory and sources of one's own (Rust's `Source`, a list of records in Python), and
augmentations, which are a recipe's `[[augment]]` tables or Python's `transforms`.

<!-- Made from src/options/ by `UPDATE_DOCS=1 cargo test options_page`; do not edit. -->
";

#[test]
fn options_page_is_what_the_code_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/options.md is out of date: run UPDATE_DOCS=1 cargo test options_page");
}

fn page() -> String {
    let mut page = String::from(HEAD);
    for (section, about) in SECTIONS {
        write!(page, "\n## [{section}]\n\n{}\n\n", about.trim()).unwrap();
        let of_kinds = *section == "data";
        page.push_str("| option | value | default | meaning |\n|-|-|-|-|\n");
        for entry in catalogue().iter().filter(|entry| entry.section == *section) {
            row(&mut page, entry, of_kinds);
        }
    }
    page
}

fn row(page: &mut String, entry: &Entry, of_kinds: bool) {
    let mut name = format!("`{}`", entry.name);
    if entry.key != entry.name {
        write!(name, ", in its section `{}`", entry.key).unwrap();
    }
    for alias in entry.aliases {
        write!(name, ", also `{alias}`").unwrap();
    }
    let kinds = entry.kinds.filter(|_| of_kinds).map_or_else(String::new, |kinds: &[Kind]| {
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        format!(" For {}.", words.join(", "))
    });
    let Entry { value, unset, .. } = entry;
    writeln!(page, "| {name} | {value} | {unset} | {}{kinds} |", entry.summary()).unwrap();
}
