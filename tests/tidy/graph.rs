//! The graph of the files of `src/`: an arrow from a file to each file that defines something it names.
//!
//! Re-exports are seen through: `super::Plan` leads to the file that defines `Plan`, not to the one that hands it on.
//! So a parent may declare its children and re-export what they define, and the children may use what it defines;
//! only a parent that itself uses a child which uses the parent makes a circle. Methods are not followed: which type
//! a call means is the compiler's knowledge.

mod circles;
mod modules;

pub(crate) use circles::check;

use crate::tree::File;
use modules::{Binding, Module, Reference};
use std::collections::{BTreeMap, HashMap};

/// What a path leads to.
#[derive(Clone, Debug, PartialEq)]
enum Target {
    /// An item in this file.
    Item(String),
    /// The module of this path.
    Module(String),
}

/// From a file to each file that it uses, with the line and the path of the first use.
type Graph = BTreeMap<String, BTreeMap<String, (usize, String)>>;

/// Imports that lead to each other are followed this far.
const MAX_HOPS: usize = 16;

struct Modules(HashMap<String, Module>);

/// The arrows between the files of `src/`; tests are left out.
fn graph(files: &[File]) -> Graph {
    let mut modules = HashMap::new();
    let mut root = Module::default();
    for file in files {
        let Some(path) = file.in_src() else { continue };
        if ["lib.rs", "main.rs"].contains(&path) || path.ends_with("/tests.rs") {
            continue;
        }
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        if !path.contains("::") {
            root.names.insert(path.clone(), vec![Binding::Module]);
        }
        modules.extend(modules::read(&file.path, &path, &file.text));
    }
    modules.insert(String::new(), root);
    Modules(modules).graph()
}

impl Modules {
    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (path, module) in &self.0 {
            for reference in &module.references {
                for file in self.used(path, reference) {
                    if file != module.file {
                        let first = (reference.line, reference.path.join("::"));
                        let arrows = graph.entry(module.file.clone()).or_default();
                        let use_ = arrows.entry(file).or_insert_with(|| first.clone());
                        *use_ = first.min(use_.clone());
                    }
                }
            }
        }
        graph
    }

    /// The files that define what a reference in the module at `path` names.
    fn used(&self, path: &str, reference: &Reference) -> Vec<String> {
        let below = format!("{path}::");
        let files =
            self.resolve(path, &reference.path, MAX_HOPS).into_iter().filter_map(|target| match target {
                Target::Item(owner) => Some((self.0.get(&owner)?.file.clone(), owner)),
                Target::Module(_) => None,
            });
        files
            .filter(|(_, owner)| !(reference.hands_on && owner.starts_with(&below)))
            .map(|(file, _)| file)
            .collect()
    }

    /// Everything that `names`, written in the module at `from`, can mean; an item is told by its module.
    fn resolve(&self, from: &str, names: &[String], hops: usize) -> Vec<Target> {
        let Some((first, mut rest)) = names.split_first() else { return Vec::new() };
        let mut reached = match first.as_str() {
            _ if hops == 0 => Vec::new(),
            "crate" | "feedline" => vec![Target::Module(String::new())],
            "self" => vec![Target::Module(from.to_owned())],
            "super" => vec![Target::Module(parent(from).to_owned())],
            name => self.lookup(from, name, hops),
        };
        while let Some((name, after)) = rest.split_first() {
            let next = |target: &Target| match target {
                Target::Item(_) => vec![target.clone()], // a variant or an associated item
                Target::Module(path) if name == "super" => vec![Target::Module(parent(path).to_owned())],
                Target::Module(path) => {
                    let found = self.lookup(path, name, hops);
                    // What a macro defines is not seen; it stands in the module that is named.
                    if found.is_empty() { vec![Target::Item(path.clone())] } else { found }
                }
            };
            reached = reached.iter().flat_map(next).collect();
            rest = after;
        }
        reached
    }

    /// What a name means in the module at `path`.
    fn lookup(&self, path: &str, name: &str, hops: usize) -> Vec<Target> {
        let Some(module) = self.0.get(path) else { return Vec::new() };
        let meaning = |binding: &Binding| match binding {
            Binding::Item => vec![Target::Item(path.to_owned())],
            Binding::Module => vec![Target::Module(modules::join(path, name))],
            Binding::Import(import) => self.resolve(path, import, hops - 1),
        };
        match module.names.get(name) {
            Some(bindings) => bindings.iter().flat_map(meaning).collect(),
            None => {
                let through = |glob: &Vec<String>| {
                    let sources = self.resolve(path, glob, hops - 1);
                    sources.into_iter().flat_map(|source| match source {
                        Target::Module(source) if source != path && hops > 1 => {
                            self.lookup(&source, name, hops - 1)
                        }
                        _ => Vec::new(),
                    })
                };
                module.globs.iter().flat_map(through).collect()
            }
        }
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once("::").map_or("", |(parent, _)| parent)
}
