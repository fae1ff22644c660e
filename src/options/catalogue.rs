//! The list of all options, for faces, pages and tests.

use super::{Kind, Options, SECTIONS, Value, ValueKind, nearest};
use crate::error::{Error, Result};
use std::fmt;
use std::sync::LazyLock;

/// One option, as it was declared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Its section.
    pub section: &'static str,
    /// What it is called in its section.
    pub key: &'static str,
    /// What it is called where there are no sections; no other option has this name.
    pub name: &'static str,
    /// Names under which it is read as well.
    pub aliases: &'static [&'static str],
    /// What it means, as in the documentation of the field.
    pub doc: &'static str,
    /// What a value looks like.
    pub value: ValueKind,
    /// What counts where nobody says anything.
    pub unset: Unset,
    /// The kinds of data that it serves; `None` where it serves all of them.
    pub kinds: Option<&'static [Kind]>,
}

/// What counts where nobody says anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Unset {
    /// This value, as JSON.
    Value(serde_json::Value),
    /// What these words say.
    Words(&'static str),
    /// Nothing: what the option asks for is not done.
    None,
}

impl Unset {
    pub(super) fn value<T: Value>(value: T) -> Self {
        // A default is a number, a word or a boolean, all of which JSON has.
        serde_json::to_value(value).map_or(Unset::None, Unset::Value)
    }
}

impl fmt::Display for Unset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unset::Value(serde_json::Value::String(word)) => f.write_str(word),
            Unset::Value(value) => write!(f, "{value}"),
            Unset::Words(words) => f.write_str(words),
            Unset::None => f.write_str("none"),
        }
    }
}

impl Entry {
    /// The first sentences of its meaning, in one line.
    pub fn summary(&self) -> String {
        let paragraph = self.doc.split("\n \n").next().unwrap_or_default();
        paragraph.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What the options of its section are about, in one sentence.
    pub fn section_about(&self) -> &'static str {
        SECTIONS.iter().find(|(name, _)| *name == self.section).map_or("", |(_, about)| about.trim())
    }

    /// Whether data of this kind take the option.
    pub fn serves(&self, kind: Kind) -> bool {
        self.kinds.is_none_or(|kinds| kinds.contains(&kind))
    }

    /// Whether it says how URLs are read, and nothing else.
    pub(crate) fn is_of_urls(&self) -> bool {
        self.kinds == Some(&[Kind::Remote])
    }

    /// Whether `word` is one of its names: with its section, or without where that is no other option's.
    fn is_called(&self, word: &str) -> bool {
        let flat = |word: &str| self.name == word || self.aliases.contains(&word);
        match word.split_once('.') {
            Some((section, key)) => self.section == section && (self.key == key || flat(key)),
            None => flat(word),
        }
    }
}

impl Options {
    /// Whether there is an option that is called `name` (`batch_size`, `output.dtype`).
    pub fn knows(name: &str) -> bool {
        catalogue().iter().any(|entry| entry.is_called(name))
    }
}

impl Kind {
    /// Whether a data set of this kind may hold several splits, of which one is chosen.
    pub fn has_splits(self) -> bool {
        catalogue().iter().any(|entry| entry.name == "split" && entry.serves(self))
    }
}

/// All options, section by section.
pub fn catalogue() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(Options::entries);
    &ENTRIES
}

/// The option that is called `name`.
///
/// # Errors
/// [`Error::Config`] with the nearest name where there is none.
pub(super) fn find(name: &str) -> Result<&'static Entry> {
    catalogue().iter().find(|entry| entry.is_called(name)).ok_or_else(|| {
        let known: Vec<&str> = match name.split_once('.') {
            Some((section, _)) if SECTIONS.iter().any(|(known, _)| *known == section) => keys(section),
            _ => catalogue()
                .iter()
                .flat_map(|entry| entry.aliases.iter().chain([&entry.name]))
                .copied()
                .collect(),
        };
        let word = name.split_once('.').map_or(name, |(_, key)| key);
        let near = nearest::nearest(word, &known).map(|near| format!(": did you mean `{near}`?"));
        Error::config(format!(
            "there is no option `{name}`{} docs/options.md lists all",
            near.unwrap_or(":".into())
        ))
    })
}

/// All keys of a section.
pub(crate) fn keys(section: &str) -> Vec<&'static str> {
    catalogue().iter().filter(|entry| entry.section == section).map(|entry| entry.key).collect()
}

/// Whether `key` is read in `section`, as its own key or as another name of one.
pub(crate) fn is_key(section: &str, key: &str) -> bool {
    catalogue().iter().any(|entry| {
        entry.section == section && (entry.key == key || entry.name == key || entry.aliases.contains(&key))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_without_a_section_means_one_option() {
        let mut seen = BTreeSet::new();
        for entry in catalogue() {
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert!(seen.insert(*name), "{name} is the name of two options");
                assert!(!name.contains('.'), "{name}");
            }
            assert!(
                !entry.summary().is_empty() && entry.summary().ends_with('.'),
                "{}: {}",
                entry.name,
                entry.summary()
            );
        }
        assert!(seen.len() > 70, "{}", seen.len());
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest() {
        let refused = |name: &str| find(name).unwrap_err().to_string();
        assert!(refused("batchsize").contains("did you mean `batch_size`?"));
        assert!(refused("labels.fromat").contains("did you mean `format`?"));
        assert!(refused("qqqqqqqqqq").contains("docs/options.md"));
        assert_eq!(find("labels.format").unwrap(), find("box_format").unwrap());
        assert_eq!(find("labels.box_format").unwrap(), find("box_format").unwrap());
        assert!(find("format").is_err(), "alone it says too little");
    }
}
