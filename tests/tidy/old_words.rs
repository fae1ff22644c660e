//! Names that were replaced by the field's own words do not come back in the rooms that they had.

use crate::scan::{mask, tokens, without_tests};
use crate::tree::File;

/// A room (a module and its folder) and the words that it had for what has a name in the field. A word in lower case is
/// kept out as type, module, file and function; one that begins with a capital is an ordinary verb or noun besides, and
/// is kept out as type, module and file.
const OLD: &[(&str, &[&str])] = &[
    ("src/augment", &["dice"]),
    ("src/device", &["picture", "share"]),
    ("src/device/cpu", &["intake", "weave", "pack", "sink", "view", "block"]),
    (
        "src/device/cuda/engine",
        &[
            "gallery",
            "Asked",
            "Claim",
            "exhibit",
            "Stand",
            "Told",
            "stock",
            "hang",
            "hung",
            "Fresh",
            "piece",
            "take_down",
            "spoil",
            "Entry",
            "Part",
            "quiet",
            "Kept",
        ],
    ),
    ("src/device/cuda/render", &["agenda", "tally", "paint"]),
    ("src/draft", &["verbs", "seal", "picture", "share"]),
    ("src/index", &["place"]),
    ("src/jpeg", &["trail", "leg", "pending", "strips", "Whole"]),
    (
        "src/loader",
        &[
            "course", "crew", "hands", "hire", "desk", "tools", "seat", "shelf", "look", "gallery", "Asked",
            "Claim", "exhibit", "Stand", "Told", "paper", "dense", "identity", "in_order", "maker", "Filled",
            "looked", "Place", "guest", "Open", "Run", "delivery", "rejects", "judge", "dice",
        ],
    ),
    ("src/plan", &["Move", "How", "Keep", "Seen", "carry", "picture", "share"]),
    ("src/rng", &["dice"]),
    ("src/sampler", &["deal", "Taken", "Rest"]),
    ("src/source", &["traffic", "spans", "said", "patient", "fault"]),
];

/// The words that are still there, a line for each room. The lines only shrink.
const STILL: &[(&str, &[&str])] = &[];

/// What is wrong with the names in `files`, the whole tree.
pub(crate) fn check(files: &[File]) -> Vec<String> {
    compare(files, OLD, STILL)
}

type Words = [(&'static str, &'static [&'static str])];

fn compare(files: &[File], old: &Words, still: &Words) -> Vec<String> {
    let mut problems = Vec::new();
    for (room, words) in old {
        let inside: Vec<&File> = files.iter().filter(|file| is_in(room, file)).collect();
        if inside.is_empty() {
            problems.push(format!("{room}: no such room: write in tests/tidy/old_words.rs where it went"));
        }
        let names: Vec<Name> = inside.into_iter().flat_map(names).collect();
        let listed = still.iter().find(|(name, _)| name == room).map_or(&[][..], |(_, words)| words);
        for word in *words {
            let found: Vec<&Name> = names.iter().filter(|name| name.is(word)).collect();
            match (found.first(), listed.contains(word)) {
                (None, true) => problems
                    .push(format!("{room}: `{word}` is gone: take it off STILL in tests/tidy/old_words.rs")),
                (Some(_), false) => {
                    let places: Vec<&str> = found.iter().map(|name| name.place.as_str()).collect();
                    problems.push(format!(
                        "{room}: `{word}` was replaced by the field's word: name it so in {}",
                        places.join(", ")
                    ));
                }
                _ => {}
            }
        }
        let unknown = listed.iter().filter(|word| !words.contains(word));
        problems.extend(unknown.map(|word| format!("{room}: `{word}` of STILL is no word of OLD")));
    }
    problems
}

fn is_in(room: &str, file: &File) -> bool {
    let rest = file.in_src().and_then(|_| file.path.strip_prefix(room));
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// A name that a file defines, or has.
struct Name {
    snake: String,
    is_function: bool,
    place: String,
}

impl Name {
    fn is(&self, word: &str) -> bool {
        self.snake == snake(word) && !(self.is_function && word.starts_with(char::is_uppercase))
    }
}

/// The file's own name, and those of the types, modules and functions that it defines outside of tests.
fn names(file: &File) -> Vec<Name> {
    let stem = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    let mut found = vec![Name { snake: snake(stem), is_function: false, place: file.path.clone() }];
    let masked = mask(&file.text);
    for pair in without_tests(&tokens(&masked)).windows(2) {
        let defines = ["struct", "enum", "trait", "type", "mod", "fn"].contains(&pair[0].text);
        if defines && pair[1].is_name() {
            found.push(Name {
                snake: snake(pair[1].text),
                is_function: pair[0].text == "fn",
                place: format!("{}:{}", file.path, pair[1].line),
            });
        }
    }
    found
}

/// `TakeDown` as `take_down`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str, still: &Words) -> usize {
        compare(
            &[File::new(path, text), File::new("src/a.rs", "")],
            &[("src/a", &["take_down", "Kept"])],
            still,
        )
        .len()
    }

    #[test]
    fn an_old_name_is_refused_in_its_room_only() {
        assert_eq!(problems("src/a/b.rs", "pub(crate) fn take_down() {} struct Down;", &[]), 1);
        assert_eq!(problems("src/a/b.rs", "struct TakeDown; enum Kept {}", &[]), 2);
        assert_eq!(problems("src/a/take_down.rs", "", &[]), 1);
        assert_eq!(problems("src/b.rs", "fn take_down() {}", &[]), 0);
        assert_eq!(problems("src/ab.rs", "fn take_down() {}", &[]), 0);
        assert_eq!(
            problems("src/a/b.rs", "#[cfg(test)] mod tests { fn take_down() {} } // fn take_down", &[]),
            0
        );
    }

    #[test]
    fn a_word_with_a_capital_may_still_be_a_function() {
        assert_eq!(problems("src/a/b.rs", "fn kept() {} x.take_down(); let kept = 1;", &[]), 0);
        assert_eq!(problems("src/a/b.rs", "mod kept;", &[]), 1);
    }

    #[test]
    fn what_is_listed_is_tolerated_until_it_is_gone() {
        let listed: &Words = &[("src/a", &["Kept"])];
        assert_eq!(problems("src/a/b.rs", "struct Kept;", listed), 0);
        assert_eq!(problems("src/a/b.rs", "struct Held;", listed), 1);
        assert_eq!(problems("src/a/b.rs", "", &[("src/a", &["held"])]), 1, "no word of the table");
        assert_eq!(compare(&[], &[("src/a", &[])], &[]).len(), 1, "the room itself is gone");
    }
}
