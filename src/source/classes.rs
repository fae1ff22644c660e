//! The class of each record, given as an index or as a name.

use crate::label::Label;
use std::collections::{BTreeMap, HashMap};

/// The highest index that may have a name: as many names are kept.
#[cfg(feature = "tfrecord")]
const MAX_NAMED: i64 = 1 << 20;

/// Classes by record, 8 bytes each, and their names where the data has names.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// -1 for none.
    of: Vec<i64>,
    pub(super) names: Vec<String>,
}

impl Classes {
    pub(super) fn label(&self, index: usize) -> Label {
        match self.of.get(index) {
            Some(&class) if class >= 0 => Label::Class(class),
            _ => Label::Unlabelled,
        }
    }

    pub(super) fn classes(&self) -> &[String] {
        &self.names
    }

    /// -1 for none.
    #[cfg(feature = "remote")]
    pub(super) fn indices(&self) -> &[i64] {
        &self.of
    }

    pub(super) fn push(&mut self, class: i64) {
        self.of.push(class);
    }
}

/// The label of one record, as the data gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RawLabel<'a> {
    Nothing,
    /// An index from 0; -1 for none.
    Index(i64),
    Name(&'a str),
}

/// Collects the labels of all records; at the end names become indices in sorted order.
#[derive(Debug)]
pub(super) struct Gathering {
    of: Vec<i64>,
    /// Names with their index in the order of first occurrence.
    met: HashMap<String, i64>,
    /// The first label, whether it is a name, and its position; all others must be of its kind.
    first: Option<(String, bool, String)>,
    /// The names of indices; `None` once they are of no use, as where one has two names.
    called: Option<BTreeMap<i64, String>>,
}

impl Default for Gathering {
    fn default() -> Self {
        Self { of: Vec::new(), met: HashMap::new(), first: None, called: Some(BTreeMap::new()) }
    }
}

impl Gathering {
    /// Adds the next record's label; `place` is its position, for messages.
    ///
    /// # Errors
    /// A label that is neither an index from 0 nor -1, or not of the first label's kind.
    pub(super) fn push(&mut self, said: &RawLabel<'_>, place: impl Fn() -> String) -> Result<(), String> {
        let (label, is_name) = match said {
            RawLabel::Nothing | RawLabel::Index(-1) => {
                self.of.push(-1);
                return Ok(());
            }
            RawLabel::Index(class) => (&*class.to_string(), false),
            RawLabel::Name(name) => (*name, true),
        };
        let (first, kind, at) = self.first.get_or_insert_with(|| (label.to_owned(), is_name, place()));
        if *kind != is_name {
            return Err(format!(
                "the label `{label}` and the label `{first}` of {at} are of two kinds: use indices from 0, or names, \
                 for all"
            ));
        }
        let class = match said {
            RawLabel::Index(class @ 0..=0xFFFF_FFFF) => *class,
            RawLabel::Index(class) => {
                return Err(format!("the label {class} is no class: use indices from 0, or -1 for none"));
            }
            _ => match self.met.get(label) {
                Some(&class) => class,
                None => {
                    let next = self.met.len() as i64;
                    self.met.insert(label.to_owned(), next);
                    next
                }
            },
        };
        self.of.push(class);
        Ok(())
    }

    /// Notes the name of an index, which some data sets give beside it.
    #[cfg(feature = "tfrecord")]
    pub(super) fn call(&mut self, class: i64, name: &str) {
        let Some(called) = &mut self.called else { return };
        let known = called.get(&class).map(String::as_str);
        if !(0..MAX_NAMED).contains(&class) || known.is_some_and(|other| other != name) {
            self.called = None;
        } else if known.is_none() {
            called.insert(class, name.to_owned());
        }
    }

    pub(super) fn finish(self) -> Classes {
        let Self { mut of, met, called, .. } = self;
        of.shrink_to_fit();
        if met.is_empty() {
            let mut names = Vec::new();
            for (class, name) in called.unwrap_or_default() {
                names.resize(class as usize, String::new());
                names.push(name);
            }
            return Classes { of, names };
        }
        let mut sorted: Vec<(String, i64)> = met.into_iter().collect();
        sorted.sort();
        let mut class_of = vec![-1; sorted.len()];
        (0..).zip(&sorted).for_each(|(class, (_, number))| class_of[*number as usize] = class);
        of.iter_mut().filter(|class| **class >= 0).for_each(|class| *class = class_of[*class as usize]);
        Classes { of, names: sorted.into_iter().map(|(name, _)| name).collect() }
    }
}
