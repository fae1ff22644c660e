//! No files of `src/` use each other in a circle.
//!
//! A file and the files of its folder are one family: `draft.rs` is made of `draft/layer.rs`, which speaks of what
//! `draft.rs` defines. A way round that goes down into a folder and up again is therefore no circle; every other is.

use super::{Graph, graph};
use crate::tree::File;
use std::collections::BTreeSet;

/// How many circles are still there, by the folder that holds their files. The numbers only shrink.
const KNOWN: &[(&str, usize)] = &[];

/// What is wrong with the arrows between `files`, the whole tree.
pub(crate) fn check(files: &[File]) -> Vec<String> {
    compare(&graph(files), KNOWN)
}

fn compare(graph: &Graph, known: &[(&str, usize)]) -> Vec<String> {
    let circles = circles(graph);
    let folders: BTreeSet<&str> =
        circles.iter().map(|circle| folder(circle)).chain(known.iter().map(|(folder, _)| *folder)).collect();
    let problem = |room: &&str| {
        let here: Vec<&Vec<&str>> = circles.iter().filter(|circle| folder(circle) == *room).collect();
        let listed = known.iter().find(|(name, _)| name == room).map_or(0, |(_, count)| *count);
        if here.len() < listed {
            let left = here.len();
            return Some(format!(
                "{room}: {left} circle(s) left: lower the count in tests/tidy/graph/circles.rs"
            ));
        }
        let shown: String = here.iter().map(|circle| arrows(graph, circle)).collect();
        (here.len() > listed).then(|| {
            format!(
                "{room}: files use each other in a circle: turn an arrow round, or move what both need below \
                 both\n{shown}"
            )
        })
    };
    folders.iter().filter_map(problem).collect()
}

/// Sets of files that lead to each other without a way down into a folder, or without a way up again.
fn circles(graph: &Graph) -> Vec<Vec<&str>> {
    let mut found = rings(graph, |from, to| !is_above(from, to));
    found.append(&mut rings(graph, |from, to| !is_above(to, from)));
    let is_part = |part: &BTreeSet<&str>| found.iter().any(|whole| part != whole && part.is_subset(whole));
    found.iter().filter(|ring| !is_part(ring)).map(|ring| ring.iter().copied().collect()).collect()
}

/// Whether `below` lies in the folder of `above`, at any depth.
fn is_above(above: &str, below: &str) -> bool {
    let folder = above.trim_end_matches(".rs").trim_end_matches("/mod");
    below.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The sets of more than one file of which each leads to all others along the arrows that count.
fn rings(graph: &Graph, counts: impl Fn(&str, &str) -> bool) -> BTreeSet<BTreeSet<&str>> {
    let reach = |start: &str| {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(file) = open.pop() {
            for next in graph.get(file).into_iter().flat_map(|arrows| arrows.keys()) {
                if counts(file, next) && reached.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        reached
    };
    let reached: Vec<(&str, BTreeSet<&str>)> =
        graph.keys().map(|file| (file.as_str(), reach(file))).collect();
    let ring = |(file, after): &(&str, BTreeSet<&str>)| {
        let around = reached.iter().filter(|(other, back)| after.contains(other) && back.contains(file));
        around.map(|(other, _)| *other).collect()
    };
    reached.iter().map(ring).filter(|ring: &BTreeSet<&str>| ring.len() > 1).collect()
}

/// The innermost folder that holds all files of a circle.
fn folder<'a>(circle: &[&'a str]) -> &'a str {
    let mut folder = circle.first().copied().unwrap_or_default();
    while let Some((above, _)) = folder.rsplit_once('/') {
        folder = above;
        if circle.iter().all(|file| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))) {
            break;
        }
    }
    folder
}

/// The arrows inside a circle, a line each.
fn arrows(graph: &Graph, circle: &[&str]) -> String {
    let mut text = String::new();
    for from in circle {
        for (to, (line, path)) in graph.get(*from).into_iter().flatten() {
            if circle.contains(&to.as_str()) {
                text += &format!("    {from}:{line}: `{path}` is in {to}\n");
            }
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Vec<File> {
        files.iter().map(|(path, text)| File::new(path, text)).collect()
    }

    /// The arrows between files, without `src/` and `.rs`.
    fn drawn(files: &[(&str, &str)]) -> Vec<String> {
        let short = |path: &str| path["src/".len()..path.len() - ".rs".len()].to_owned();
        let graph = graph(&tree(files));
        let mut drawn = Vec::new();
        for (from, arrows) in &graph {
            drawn.extend(arrows.keys().map(|to| format!("{}>{}", short(from), short(to))));
        }
        drawn
    }

    fn refused(files: &[(&str, &str)], known: &[(&str, usize)]) -> usize {
        compare(&graph(&tree(files)), known).len()
    }

    #[test]
    fn an_arrow_leads_to_the_file_that_defines_what_is_named() {
        let parent =
            ("src/a.rs", "mod b; mod c; pub(crate) use b::{B, inner::{self, Deep as D}}; pub struct A;");
        let b = ("src/a/b.rs", "pub struct B; pub mod inner { pub struct Deep; }");
        assert_eq!(drawn(&[parent, b, ("src/a/c.rs", "use super::{A, B};")]), ["a/c>a", "a/c>a/b"]);
        assert_eq!(
            drawn(&[parent, b, ("src/a/c.rs", "fn f() -> crate::a::D { super::inner::made() }")]),
            ["a/c>a/b"]
        );
        assert_eq!(
            drawn(&[parent, b, ("src/a/c.rs", "use super::b; use serde::B;")]),
            [""; 0],
            "only a name"
        );
        assert_eq!(drawn(&[parent, b, ("src/a/c.rs", "use super::b; fn f(x: b::B) { x.A() }")]), ["a/c>a/b"]);
        assert_eq!(drawn(&[parent, b, ("src/e.rs", "use feedline::a::*; fn f(_: B) {}")]), ["e>a/b"]);
    }

    #[test]
    fn a_parent_may_hand_on_what_a_child_defines_and_uses_what_it_names_itself() {
        let child = ("src/a/b.rs", "pub struct B; pub fn go() {}");
        assert_eq!(drawn(&[("src/a.rs", "mod b; pub use b::B;"), child]), [""; 0]);
        assert_eq!(drawn(&[("src/a.rs", "mod b; pub use b::B; fn f(_: B) {}"), child]), ["a>a/b"]);
        assert_eq!(drawn(&[("src/a.rs", "mod b; fn f() { b::go() }"), child]), ["a>a/b"]);
        assert_eq!(
            drawn(&[("src/a.rs", "mod b; pub use b::go; fn f(go: u8) { go; x.go() }"), child]),
            [""; 0]
        );
    }

    #[test]
    fn tests_and_comments_draw_no_arrow() {
        let user = "// super::B\n#[cfg(test)] mod tests { use super::super::b::B; }";
        let files = [("src/a.rs", "mod b; mod c;"), ("src/a/b.rs", "pub struct B;"), ("src/a/c.rs", user)];
        assert_eq!(drawn(&files), [""; 0]);
        let file = [("src/a/tests.rs", "use super::b::B;"), files[1]];
        assert_eq!(drawn(&file), [""; 0]);
    }

    #[test]
    fn siblings_that_use_each_other_are_refused_until_they_are_listed() {
        let files = [
            ("src/a.rs", "mod b; mod c; pub use b::B; pub use c::C;"),
            ("src/a/b.rs", "pub struct B(super::C);"),
            ("src/a/c.rs", "pub struct C(super::B);"),
        ];
        assert_eq!(refused(&files, &[]), 1);
        assert_eq!(refused(&files, &[("src/a", 1)]), 0);
        assert_eq!(refused(&files[..2], &[("src/a", 1)]), 1, "what is gone must leave the list");
    }

    #[test]
    fn down_and_up_again_is_a_family_and_round_another_file_is_a_circle() {
        let family =
            [("src/a.rs", "mod b; fn f(_: b::B) {} struct A;"), ("src/a/b.rs", "pub struct B(super::A);")];
        assert_eq!(refused(&family, &[]), 0);
        let around = [
            ("src/r.rs", "mod a; mod c;"),
            ("src/r/a.rs", "pub mod b; pub struct A(super::c::C);"),
            ("src/r/a/b.rs", "pub struct B(super::A);"),
            ("src/r/c.rs", "pub struct C(super::a::b::B);"),
        ];
        assert_eq!(refused(&around, &[]), 1, "a, c, b and up to a");
    }
}
