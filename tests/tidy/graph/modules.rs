//! What each module of `src/` declares, imports and names: read from tokens, as the other rules do.

use crate::scan::{Token, closing, mask, tokens, without_tests};
use std::collections::HashMap;

/// One module, a file of its own or an inline one.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The file that it stands in, from the root of the tree.
    pub(super) file: String,
    /// What each name means here. A name can mean several things: a type and a function, or one thing per `cfg`.
    pub(super) names: HashMap<String, Vec<Binding>>,
    /// Where `use path::*` leads.
    pub(super) globs: Vec<Vec<String>>,
    /// The paths that its code names, imports included.
    pub(super) references: Vec<Reference>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Binding {
    /// A type, function, constant, trait or macro that is defined here.
    Item,
    /// A module below this one.
    Module,
    /// The item or module at this path.
    Import(Vec<String>),
}

/// A path that the code names.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// `pub use`, in any of its widths: it hands the name on and needs nothing of it.
    pub(super) hands_on: bool,
}

/// The module in the text of one file, and its inline modules, by their paths (`loader::queue`).
pub(super) fn read(file: &str, path: &str, text: &str) -> Vec<(String, Module)> {
    let masked = mask(text);
    let mut found = Vec::new();
    read_module(file, path, &without_tests(&tokens(&masked)), &mut found);
    found
}

fn read_module(file: &str, path: &str, tokens: &[Token<'_>], found: &mut Vec<(String, Module)>) {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let (mut at, mut depth) = (0, 0);
    while at < tokens.len() {
        match text(at) {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            "mod" if depth == 0 => {
                module.bind(text(at + 1), Binding::Module);
                let open = at + 2;
                if text(open) == "{" {
                    let end = closing(tokens, open);
                    read_module(file, &join(path, text(at + 1)), &tokens[open + 1..end - 1], found);
                    at = end;
                } else {
                    at = open + 1;
                }
                continue;
            }
            "use" if text(at + 1) != "<" => {
                let end = (at..tokens.len()).find(|&i| text(i) == ";").unwrap_or(tokens.len());
                let hands_on = depth == 0 && is_public(tokens, at);
                module.import(&tokens[at + 1..end], &mut Vec::new(), hands_on);
                at = end + 1;
                continue;
            }
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" if depth == 0 => {
                module.bind(text(at + 1), Binding::Item);
                at += 2;
                continue;
            }
            "macro_rules" => module.bind(text(at + 2), Binding::Item),
            "fn" => at += 1, // the name of a method is no reference
            _ if tokens[at].is_name() => at += module.name_path(tokens, at),
            _ => {}
        }
        at += 1;
    }
    found.push((path.to_owned(), module));
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// Whether the item at `at` begins with `pub` or `pub(...)`.
fn is_public(tokens: &[Token<'_>], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |i| tokens[i].text);
    before(1) == "pub"
        || (before(1) == ")" && (before(4) == "pub" || (before(4) == "in" && before(6) == "pub")))
}

impl Module {
    fn bind(&mut self, name: &str, binding: Binding) {
        let bindings = self.names.entry(name.to_owned()).or_default();
        if !bindings.contains(&binding) {
            bindings.push(binding);
        }
    }

    /// Notes the path that begins at `at`, if one does; returns how many of its tokens are to be skipped.
    fn name_path(&mut self, tokens: &[Token<'_>], at: usize) -> usize {
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
        if at > 0 && ["::", "."].contains(&text(at - 1)) {
            return 0;
        }
        let mut path = vec![text(at).to_owned()];
        let mut end = at;
        while text(end + 1) == "::" && tokens.get(end + 2).is_some_and(Token::is_name) {
            end += 2;
            path.push(text(end).to_owned());
        }
        // A lone lower-case word is a variable or a field, unless it is called.
        let lower = path[0].starts_with(|c: char| c.is_lowercase());
        if path.len() > 1 || !lower || ["(", "!"].contains(&text(end + 1)) {
            self.references.push(Reference { path, line: tokens[at].line, hands_on: false });
        }
        end - at
    }

    /// Takes in a `use` tree, which stands below `prefix`.
    fn import(&mut self, tree: &[Token<'_>], prefix: &mut Vec<String>, hands_on: bool) {
        let Some(first) = tree.first() else { return };
        let text = |at: usize| tree.get(at).map_or("", |token| token.text);
        match first.text {
            "{" => {
                for entry in entries(&tree[1..tree.len() - 1]) {
                    self.import(entry, prefix, hands_on);
                }
            }
            "*" => {
                self.globs.push(prefix.clone());
                self.references.push(Reference { path: prefix.clone(), line: first.line, hands_on });
            }
            "::" => {} // another crate
            _ if text(1) == "::" => {
                prefix.push(first.text.to_owned());
                self.import(&tree[2..], prefix, hands_on);
                prefix.pop();
            }
            name => {
                let mut path = prefix.clone();
                if name != "self" || prefix.is_empty() {
                    path.push(name.to_owned());
                }
                let last = path.last().cloned().unwrap_or_default();
                let own = if text(1) == "as" { text(2) } else { &last };
                if path.len() > 1 || own != path[0] {
                    self.bind(own, Binding::Import(path.clone()));
                }
                self.references.push(Reference { path, line: first.line, hands_on });
            }
        }
    }
}

/// The entries of a group, split at its own commas.
fn entries<'t, 'a>(group: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0;
    let mut is_comma = |token: &Token<'_>| {
        depth += i32::from(token.text == "{") - i32::from(token.text == "}");
        depth == 0 && token.text == ","
    };
    group.split(|token| is_comma(token)).filter(|entry| !entry.is_empty()).collect()
}
