//! Words that do not belong into a committed file: marks of unfinished work, and paths of one machine.

use crate::tree::File;

/// Written in two parts, so that this file keeps its own rule.
const MARKS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

const HOMES: [&str; 7] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("/m", "nt/"),
    concat!("C:", "\\"),
    concat!("C:", "/"),
];

pub(crate) fn check_marks(file: &File) -> Vec<String> {
    let is_mark = |word: &str| MARKS.contains(&word);
    hits(
        file,
        |line| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_mark),
        |path, line| {
            format!("{path}:{line}: do it now, or write an issue: marks in the text are never read again")
        },
    )
}

/// What a merge leaves behind where it could not decide.
pub(crate) fn check_conflicts(file: &File) -> Vec<String> {
    let left = |line: &str| ["<<<<<<< ", ">>>>>>> "].iter().any(|marker| line.starts_with(marker));
    hits(file, left, |path, line| {
        format!("{path}:{line}: a merge stopped here: choose one side and drop the marks")
    })
}

pub(crate) fn check_paths(file: &File) -> Vec<String> {
    // What stands ahead of a path that starts at the root: nothing, a blank, a quote, a bracket, = or :.
    let starts = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || "/._-$}*".contains(c));
    let found =
        |line: &str| HOMES.iter().any(|home| line.match_indices(home).any(|(at, _)| starts(&line[..at])));
    hits(file, found, |path, line| {
        format!(
            "{path}:{line}: this path exists on one machine only: take it from an argument or the environment"
        )
    })
}

fn hits(file: &File, bad: impl Fn(&str) -> bool, say: impl Fn(&str, usize) -> String) -> Vec<String> {
    let lines = file.text.lines().enumerate();
    lines.filter(|(_, line)| bad(line)).map(|(number, _)| say(&file.path, number + 1)).collect()
}

#[test]
fn a_mark_of_unfinished_work_is_refused() {
    for mark in MARKS {
        assert_eq!(check_marks(&File::new("src/a.rs", &format!("// {mark}: later"))).len(), 1);
        assert_eq!(check_marks(&File::new("src/a.rs", &format!("let a{mark}b = 1;"))).len(), 0);
    }
}

#[test]
fn a_merge_that_was_not_finished_is_refused() {
    assert_eq!(check_conflicts(&File::new("a.md", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")).len(), 2);
    assert!(check_conflicts(&File::new("a.md", "Title\n=======\n")).is_empty());
}

#[test]
fn a_path_of_one_machine_is_refused() {
    for home in HOMES {
        assert_eq!(check_paths(&File::new("a.py", &format!("open('{home}me/x.jpg')"))).len(), 1, "{home}");
    }
    assert!(
        check_paths(&File::new("a.md", concat!("https://a.b/wo", "rk/ and net", "/ho", "me/"))).is_empty()
    );
}
