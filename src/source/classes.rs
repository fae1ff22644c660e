//! The class of each record, given as an index or as a name.

use crate::label::Label;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The highest index that may have a name: as many names are kept.
#[cfg(feature = "tfrecord")]
const MAX_NAMED: i64 = 1 << 20;

/// Classes by record, 8 bytes each, and their names where the data has names.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// -1 for none; where a record has several, -2 for the first of `lists`, -3 for the next.
    of: Vec<i64>,
    /// Several classes, or none of them, each once and in order; records that have the same share them.
    lists: Vec<Arc<[i64]>>,
    /// Which of the lists it is, until all are there.
    known: HashMap<Arc<[i64]>, i64>,
    pub(super) names: Vec<String>,
}

/// The classes of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum RecordClasses {
    /// There is no label.
    Nothing,
    One(i64),
    /// Any number of them.
    Several(Vec<i64>),
}

impl Classes {
    /// Where one record has several classes, all have a list of them.
    pub(super) fn label(&self, index: usize) -> Label {
        match self.of.get(index) {
            Some(&class) if class >= 0 && self.lists.is_empty() => Label::Class(class),
            Some(&class) if class >= 0 => Label::Classes([class].into()),
            Some(&class) if class < -1 => Label::Classes(self.lists[list_of(class)].clone()),
            _ => Label::Unlabelled,
        }
    }

    pub(super) fn classes(&self) -> &[String] {
        &self.names
    }

    pub(super) fn push(&mut self, classes: RecordClasses) {
        let class = match classes {
            RecordClasses::Nothing => -1,
            RecordClasses::One(class) => class,
            RecordClasses::Several(mut list) => {
                list.sort_unstable();
                list.dedup();
                match self.known.get(list.as_slice()) {
                    Some(&known) => known,
                    None => {
                        let (list, number): (Arc<[i64]>, _) = (list.into(), -2 - self.lists.len() as i64);
                        self.lists.push(list.clone());
                        self.known.insert(list, number);
                        number
                    }
                }
            }
        };
        self.of.push(class);
    }

    /// Makes single classes of lists if none has several.
    #[cfg(feature = "tfrecord")]
    pub(super) fn unlist(&mut self) {
        if self.lists.iter().any(|list| list.len() > 1) {
            return;
        }
        for class in self.of.iter_mut().filter(|class| **class < -1) {
            *class = self.lists[list_of(*class)].first().copied().unwrap_or(-1);
        }
        self.lists.clear();
    }

    /// Frees what only growing needed.
    pub(super) fn shrink(&mut self) {
        self.of.shrink_to_fit();
        self.lists.shrink_to_fit();
        self.known = HashMap::new();
    }
}

/// The index of the list that stands for a class below -1.
fn list_of(class: i64) -> usize {
    (-2 - class) as usize
}

/// The label of one record, as the data gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RawLabel<'a> {
    Nothing,
    /// An index from 0; -1 for none.
    Index(i64),
    Name(&'a str),
    /// Any number of indices from 0.
    Indices(Vec<i64>),
    /// Any number of names.
    Names(Vec<&'a str>),
}

impl<'a> RawLabel<'a> {
    /// A label that is a whole number is an index, one that is empty none.
    pub(super) fn of_text(label: &'a str) -> Self {
        match label.parse() {
            Ok(class) => RawLabel::Index(class),
            Err(_) if label.is_empty() => RawLabel::Nothing,
            Err(_) => RawLabel::Name(label),
        }
    }

    /// Several labels with `separator` between them, which are indices if all are whole numbers; -1 alone for none.
    pub(super) fn of_texts(labels: &'a str, separator: &str) -> Self {
        let parts: Vec<&str> =
            labels.split(separator).map(str::trim).filter(|part| !part.is_empty()).collect();
        match parts.iter().map(|part| part.parse().ok()).collect() {
            Some(indices) if indices == [-1] => RawLabel::Nothing,
            Some(indices) => RawLabel::Indices(indices),
            None => RawLabel::Names(parts),
        }
    }
}

/// Collects the labels of all records; at the end names become indices in sorted order.
#[derive(Debug)]
pub(super) struct Gathering {
    of: Classes,
    /// Names with their index in the order of first occurrence.
    met: HashMap<String, i64>,
    /// The first label, whether it is a name, and its position; all others must be of its kind.
    first: Option<(String, bool, String)>,
    /// The names of indices; `None` once they are of no use, as where one has two names.
    called: Option<BTreeMap<i64, String>>,
}

impl Default for Gathering {
    fn default() -> Self {
        Self { of: Classes::default(), met: HashMap::new(), first: None, called: Some(BTreeMap::new()) }
    }
}

impl Gathering {
    /// Adds the next record's label; `place` is its position, for messages.
    ///
    /// # Errors
    /// A label that is neither an index from 0 nor -1, or not of the first label's kind; the same class twice in a list.
    pub(super) fn push(&mut self, said: &RawLabel<'_>, place: impl Fn() -> String) -> Result<(), String> {
        let classes = match said {
            RawLabel::Nothing | RawLabel::Index(-1) => RecordClasses::Nothing,
            RawLabel::Index(class) => RecordClasses::One(self.index(*class, &place)?),
            RawLabel::Name(name) => RecordClasses::One(self.name(name, &place)?),
            RawLabel::Indices(list) => several(list.iter().map(|class| self.index(*class, &place)), list)?,
            RawLabel::Names(list) => several(list.iter().map(|name| self.name(name, &place)), list)?,
        };
        self.of.push(classes);
        Ok(())
    }

    fn index(&mut self, class: i64, place: &dyn Fn() -> String) -> Result<i64, String> {
        self.is_of_kind(&class.to_string(), false, place)?;
        match class {
            0..=0xFFFF_FFFF => Ok(class),
            _ => Err(format!("the label {class} is no class: use indices from 0, or -1 for none")),
        }
    }

    fn name(&mut self, name: &str, place: &dyn Fn() -> String) -> Result<i64, String> {
        self.is_of_kind(name, true, place)?;
        if let Some(&class) = self.met.get(name) {
            return Ok(class);
        }
        let next = self.met.len() as i64;
        self.met.insert(name.to_owned(), next);
        Ok(next)
    }

    fn is_of_kind(&mut self, label: &str, is_name: bool, place: &dyn Fn() -> String) -> Result<(), String> {
        let (first, kind, at) = self.first.get_or_insert_with(|| (label.to_owned(), is_name, place()));
        match *kind == is_name {
            true => Ok(()),
            false => Err(format!(
                "the label `{label}` and the label `{first}` of {at} are of two kinds: use indices from 0, or names, \
                 for all"
            )),
        }
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
        of.shrink();
        if met.is_empty() {
            for (class, name) in called.unwrap_or_default() {
                of.names.resize(class as usize, String::new());
                of.names.push(name);
            }
            return of;
        }
        let mut sorted: Vec<(String, i64)> = met.into_iter().collect();
        sorted.sort();
        let mut class_of = vec![-1; sorted.len()];
        (0..).zip(&sorted).for_each(|(class, (_, number))| class_of[*number as usize] = class);
        of.of.iter_mut().filter(|class| **class >= 0).for_each(|class| *class = class_of[*class as usize]);
        for list in &mut of.lists {
            let mut classes: Vec<i64> = list.iter().map(|class| class_of[*class as usize]).collect();
            classes.sort_unstable();
            *list = classes.into();
        }
        of.names = sorted.into_iter().map(|(name, _)| name).collect();
        of
    }
}

/// The classes of a list that says `said`.
fn several<T: std::fmt::Display>(
    classes: impl Iterator<Item = Result<i64, String>>,
    said: &[T],
) -> Result<RecordClasses, String> {
    let classes = classes.collect::<Result<Vec<i64>, String>>()?;
    let mut met = HashSet::new();
    let twice = classes.iter().position(|class| !met.insert(class));
    match twice.map(|at| &said[at]) {
        None => Ok(RecordClasses::Several(classes)),
        Some(class) => Err(format!(
            "the class `{class}` is there twice in one list: list the classes that an image has, each once, and not a number \
             for every class"
        )),
    }
}
