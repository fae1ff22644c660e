//! The floors: a module uses only modules on floors below its own. Threads and anyhow have their places too.

use crate::scan::{Token, closing, mask, tokens, without_tests};
use crate::tree::File;

/// The floors from the ground up. This is the one place where a new module is written down.
const FLOORS: &[&[&str]] = &[
    &[
        "color",
        "destination",
        "error",
        "field",
        "geometry",
        "label",
        "machine",
        "policy",
        "regular_file",
        "rng",
        "setters",
        "simd",
        "single_flight",
    ], // values, errors and small tools; they use nothing of the crate
    &["atomic_file", "decode_memory", "output", "plan"], // files written whole; memory of huge images; what crosses to a device, as plain data
    &["draft"],                                          // the verbs that edit a plan
    &["jpeg"],                                           // header and decoder
    &["coefficients"],                                   // JPEGs without Huffman codes
    &["image", "index"],                                 // any format's pixels; where to start in them
    &["options"],                                        // what a loader can be told, each option once
    &["augment", "device", "sampler", "source"],         // the four seams; none knows another
    &["recipe"],                                         // named chains of augmentations
    &["loader"],                                         // the only place that starts threads
    &["decode", "dlpack", "doctor", "inspect", "pack"], // files alone; batches for other libraries; what is done with whole data sets
    &["cli"],                                           // translation only
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// Modules use only lower floors, or themselves.
pub(crate) fn check(file: &File) -> Vec<String> {
    let Some(path) = file.in_src().filter(|path| !["lib.rs", "main.rs"].contains(path)) else {
        return Vec::new();
    };
    let modules: Vec<&str> = path.trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect();
    let own = modules[0];
    let Some(height) = floor(own) else {
        return vec![format!(
            "{}: module `{own}` stands on no floor: write it into FLOORS in tests/tidy/floors.rs",
            file.path
        )];
    };
    let masked = mask(&file.text);
    let tokens = without_tests(&tokens(&masked));
    let too_high = |used: &Token<'_>| match floor(used.text) {
        _ if used.text == own => None,
        None => Some("is no module of FLOORS: import an item from its module, not from the root".into()),
        Some(other) if other < height => None,
        Some(other) => {
            Some(format!("is on floor {other} and `{own}` on floor {height}: turn the dependency round"))
        }
    };
    uses(&tokens, modules.len())
        .iter()
        .filter_map(|used| Some((used, too_high(used)?)))
        .map(|(used, why)| format!("{}:{}: `{}` {why}", file.path, used.line, used.text))
        .collect()
}

/// The top-level modules that are named through `crate::`, `feedline::` or as many `super::` as lead to the root.
fn uses<'a>(tokens: &[Token<'a>], depth: usize) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    let mut inline_ends: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        inline_ends.retain(|&end| at < end);
        let text = |ahead: usize| tokens.get(at + ahead).map_or("", |token| token.text);
        if token.text == "mod" && text(2) == "{" {
            inline_ends.push(closing(tokens, at + 2));
        }
        let continued = at >= 2 && tokens[at - 1].text == "::" && tokens[at - 2].text == "super";
        let supers = if continued {
            0
        } else {
            (0..).take_while(|i| text(2 * i) == "super" && text(2 * i + 1) == "::").count()
        };
        let from_root = matches!(token.text, "crate" | "feedline") && text(1) == "::";
        if from_root {
            found.extend(first_names(tokens, at + 2));
        } else if supers > 0 && supers >= depth + inline_ends.len() {
            found.extend(first_names(tokens, at + 2 * supers));
        }
    }
    found
}

/// The name at `at`, or the first names of each entry of the group `{a, b::c}` that begins there.
fn first_names<'a>(tokens: &[Token<'a>], at: usize) -> Vec<Token<'a>> {
    match tokens.get(at) {
        Some(name) if name.is_name() => vec![*name],
        Some(open) if open.text == "{" => {
            let inside = &tokens[at + 1..closing(tokens, at) - 1];
            let depth_at = |i: usize| {
                inside[..i].iter().fold(0, |d, t| d + i32::from(t.text == "{") - i32::from(t.text == "}"))
            };
            let starts = |i: &usize| depth_at(*i) == 0 && (*i == 0 || inside[*i - 1].text == ",");
            (0..inside.len()).filter(starts).map(|i| inside[i]).collect()
        }
        _ => Vec::new(),
    }
}

/// Threads are started by the loader only, so that one place bounds them and joins them.
pub(crate) fn check_threads(file: &File) -> Vec<String> {
    let Some(path) = file.in_src().filter(|path| !path.starts_with("loader")) else { return Vec::new() };
    // The threads of a model are shuttle's.
    if path.ends_with("/tests.rs")
        || path.contains("/tests/")
        || (path.ends_with("/model.rs") && file.text.contains("use shuttle::"))
    {
        return Vec::new();
    }
    let masked = mask(&file.text);
    let tokens = without_tests(&tokens(&masked));
    let starts = |three: &[Token<'_>]| {
        three[0].text == "thread"
            && three[1].text == "::"
            && ["spawn", "Builder", "scope", "{"].contains(&three[2].text)
    };
    // Crates that would start threads of their own; `remote` drives its runtime with the threads that wait for it.
    let pool = |token: &Token<'_>| ["rayon", "new_multi_thread", "spawn_blocking"].contains(&token.text);
    let lines = tokens.windows(3).filter(|three| starts(three)).map(|three| three[0].line);
    lines
        .chain(tokens.iter().filter(|token| pool(token)).map(|token| token.line))
        .map(|line| {
            format!("{}:{line}: only `loader` starts threads: give the work to its workers", file.path)
        })
        .collect()
}

/// A library's errors are for the caller to match on; anyhow is for programs.
pub(crate) fn check_anyhow(file: &File) -> Vec<String> {
    let Some(path) = file.in_src().filter(|path| *path != "main.rs" && !path.starts_with("cli")) else {
        return Vec::new();
    };
    let masked = mask(&file.text);
    let used = tokens(&masked).into_iter().find(|token| token.text == "anyhow");
    used.map(|token| {
        format!("src/{path}:{}: anyhow is for main.rs and cli: use crate::error::Error", token.line)
    })
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> usize {
        check(&File::new(path, text)).len()
    }

    #[test]
    fn a_floor_above_is_refused_and_a_floor_below_is_not() {
        assert_eq!(problems("src/plan.rs", "use crate::geometry::Rect; use crate::plan::Span;"), 0);
        assert_eq!(problems("src/plan.rs", "use crate::draft::Draft;"), 1);
        assert_eq!(problems("src/device/cpu.rs", "fn f() { feedline::loader::go() }"), 1);
        assert_eq!(
            problems("src/source.rs", "use crate::augment::Augment;"),
            1,
            "neighbours do not know each other"
        );
    }

    #[test]
    fn the_map_shows_the_same_floors() {
        let map = include_str!("../../ARCHITECTURE.md");
        let row = |(i, floor): (usize, &&[&str])| format!("| {i} | `{}` |", floor.join("` `"));
        for row in FLOORS.iter().enumerate().map(row) {
            assert!(map.contains(&row), "ARCHITECTURE.md lacks the row {row}");
        }
    }

    #[test]
    fn groups_and_ways_round_are_seen_through() {
        assert_eq!(
            problems("src/draft/op.rs", "use crate::{error::{Error, Result}, loader::Loader, cli};"),
            2
        );
        assert_eq!(problems("src/draft.rs", "use super::loader::Loader;"), 1);
        assert_eq!(problems("src/draft/op.rs", "use super::Draft; use super::super::loader::Loader;"), 1);
        assert_eq!(problems("src/draft.rs", "mod inner { use super::verbs; use super::super::cli; }"), 1);
        assert_eq!(problems("src/draft.rs", "// crate::cli\nconst A: &str = \"crate::cli\";"), 0);
    }

    #[test]
    fn a_module_without_a_floor_is_refused() {
        assert_eq!(problems("src/helpers.rs", ""), 1);
        assert_eq!(problems("src/loader.rs", "use crate::helpers::go; use crate::Error;"), 2);
        assert_eq!(problems("src/lib.rs", "pub use crate::loader::Loader;"), 0);
    }

    #[test]
    fn a_thread_outside_the_loader_is_refused() {
        let starts = |path, text| check_threads(&File::new(path, text)).len();
        assert_eq!(
            starts("src/cli/bench.rs", "std::thread::spawn(f); thread::Builder::new(); rayon::join(a, b);"),
            3
        );
        assert_eq!(starts("src/source.rs", "use std::thread::{spawn, JoinHandle};"), 1);
        assert_eq!(
            starts("src/source.rs", "Builder::new_multi_thread(); tokio::task::spawn_blocking(f);"),
            2
        );
        assert_eq!(starts("src/source.rs", "Builder::new_current_thread()"), 0);
        assert_eq!(starts("src/loader/pool.rs", "std::thread::spawn(f)"), 0);
        assert_eq!(
            starts("src/source.rs", "thread::sleep(d); #[cfg(test)] mod tests { thread::scope(f) }"),
            0
        );
    }

    #[test]
    fn anyhow_in_the_library_is_refused() {
        assert_eq!(check_anyhow(&File::new("src/source.rs", "use anyhow::Context;")).len(), 1);
        assert_eq!(check_anyhow(&File::new("src/main.rs", "use anyhow::Context;")).len(), 0);
    }
}
