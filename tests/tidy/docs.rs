//! What every file says first, and where the documents' links lead.

use crate::tree::File;
use std::path::{Component, Path, PathBuf};

/// Documents that are linked to and still being written; an entry whose file has come must go.
const TO_COME: &[&str] = &[];

/// A source file begins with a sentence that says what it is.
pub(crate) fn check_first_line(file: &File) -> Vec<String> {
    if file.in_src().is_none() {
        return Vec::new();
    }
    let is_doc = |line: &&str| line.starts_with("//! ") && line.len() > 4;
    let paragraph: Vec<&str> = file.text.lines().take_while(is_doc).collect();
    let ends = paragraph.last().is_some_and(|line| line.trim_end().ends_with(['.', ':', '!', '?']));
    if ends {
        return Vec::new();
    }
    vec![format!("{}:1: begin with a sentence that says what the file is: `//! The ... .`", file.path)]
}

/// Relative links in Markdown point at files that exist.
pub(crate) fn check_links(file: &File) -> Vec<String> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let problem = |(line, target): &(usize, String)| {
        let inside = resolve(&file.path, target);
        let exists = inside.as_ref().is_some_and(|path| root.join(path).exists());
        let to_come = inside.is_some_and(|path| TO_COME.iter().any(|coming| path == Path::new(coming)));
        let what = match (exists, to_come) {
            (true, false) | (false, true) => return None,
            (true, true) => "has come: take it off TO_COME in tests/tidy/docs.rs",
            (false, false) => "leads nowhere: write the file or mend the link",
        };
        Some(format!("{}:{line}: `{target}` {what}", file.path))
    };
    links(&file.text).iter().filter_map(problem).collect()
}

/// The pages of `docs/` are on the list of the site's pages, each once.
pub(crate) fn check_site(files: &[File]) -> Vec<String> {
    const LIST: &str = "site/SUMMARY.md";
    let list = files.iter().find(|file| file.path == LIST);
    let listed: Vec<PathBuf> = list
        .map(|list| links(&list.text).iter().filter_map(|(_, target)| resolve(LIST, target)).collect())
        .unwrap_or_default();
    let is_page = |file: &&File| {
        file.path.strip_prefix("docs/").is_some_and(|name| name.ends_with(".md") && !name.contains('/'))
    };
    let problem = |file: &File| match listed.iter().filter(|page| *page == Path::new(&file.path)).count() {
        1 => None,
        0 => Some(format!("{}: not in {LIST}: add it to the part that it belongs to", file.path)),
        times => Some(format!("{}: {times} times in {LIST}: leave one", file.path)),
    };
    files.iter().filter(is_page).filter_map(problem).collect()
}

/// The path from the root that a link in `from` means; none if it leaves the tree.
fn resolve(from: &str, target: &str) -> Option<PathBuf> {
    let mut path = PathBuf::from(from);
    path.pop();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if !path.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Line and target of each relative link, `[text](target)` or `[name]: target`; code is not looked at.
fn links(markdown: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (number, line) in markdown.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect();
        let inline = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        let defined =
            prose.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
        let targets = inline.chain(defined).map(|target| target.split('#').next().unwrap_or_default());
        let relative = targets
            .filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"));
        found.extend(relative.map(|target| (number + 1, target.to_owned())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_say_what_it_is_is_refused() {
        let problems = |text| check_first_line(&File::new("src/a.rs", text)).len();
        assert_eq!(problems("//! Sizes and rectangles.\n//!\n//! More"), 0);
        assert_eq!(problems("//! Sizes, in whole\n//! pixels.\nuse x;"), 0);
        assert_eq!(problems("use x;\n//! Sizes."), 1);
        assert_eq!(problems("//! Sizes\nuse x;"), 1);
        assert_eq!(problems("// Sizes."), 1);
        assert_eq!(problems(""), 1);
    }

    #[test]
    fn a_page_that_the_site_has_not_once_is_refused() {
        let problems = |list| {
            let files = ["docs/a.md", "docs/b.md", "docs/pictures/c.md"].map(|path| File::new(path, ""));
            check_site(&[&files[..], &[File::new("site/SUMMARY.md", list)]].concat()).len()
        };
        assert_eq!(problems("- [A](../docs/a.md)\n- [B](../docs/b.md)"), 0);
        assert_eq!(problems("- [A](../docs/a.md)"), 1);
        assert_eq!(problems("- [A](../docs/a.md)\n- [B](../docs/b.md)\n- [A](../docs/a.md)"), 1);
        assert_eq!(problems(""), 2);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_refused() {
        let problems = |text| check_links(&File::new("docs/a.md", text)).len();
        assert_eq!(problems("[a](../Cargo.toml) [b](../src/lib.rs#L1) [c](https://x.y/z) [d](#part)"), 0);
        assert_eq!(problems("[a](Cargo.toml)"), 1);
        assert_eq!(problems("[a](../nothing.md#part) [b](../../outside)\n[c]: nothing.md"), 3);
        assert_eq!(problems("`[a](b)`\n```\n[a](b)\n```\n"), 0);
    }
}
