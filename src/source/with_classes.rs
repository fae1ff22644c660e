//! Classes by name: other names for those of a source, and the order of their indices.

use super::Source;
use super::listed::listed;
use crate::error::{Error, Result, bail, ensure};
use crate::label::{Label, Objects, Skeleton};
use crate::options::nearest::nearest;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A source whose classes have other names or another order: each label is translated by the name of its class.
///
/// ```
/// use feedline::label::Label;
/// use feedline::source::{Memory, Source, WithClasses};
///
/// let record = |key: &str, class| (key.to_owned(), Vec::new(), Label::Class(class));
/// let cars = Memory::new(vec![record("1.jpg", 0), record("2.jpg", 1)])
///     .with_classes(vec!["automobile".to_owned(), "truck".to_owned()]);
/// let source = WithClasses::options().rename("automobile", "car").classes(["bus", "truck", "car"]).open(cars)?;
/// assert_eq!((source.label(0), source.label(1)), (Label::Class(2), Label::Class(1)));
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Debug)]
pub struct WithClasses<S> {
    source: S,
    names: Vec<String>,
    /// What each class of the source becomes; `None` where indices stay.
    to: Option<Vec<Option<i64>>>,
    pub(super) met: Met,
}

/// What the labels of a source are.
#[derive(Debug, Default)]
pub(super) struct Met {
    /// A record with a class, of itself or of an object in it.
    pub(super) classed: Option<usize>,
    /// The keypoints of the objects.
    pub(super) skeleton: Option<Arc<Skeleton>>,
}

/// What the classes of a source are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassOptions {
    pub(super) classes: Option<Vec<String>>,
    pub(super) rename: BTreeMap<String, String>,
}

impl WithClasses<()> {
    /// Options to name classes with.
    pub fn options() -> ClassOptions {
        ClassOptions::default()
    }
}

impl ClassOptions {
    /// The names of the classes in the order of their indices. Those of the source must be among them; where the source has
    /// numbers without names, these are their names.
    pub fn classes(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { classes: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// Calls the class `from` of the source `to`; two classes that are called alike become one.
    pub fn rename(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.rename.insert(from.into(), to.into());
        self
    }

    /// Looks at all labels of `source` and translates them from now on.
    ///
    /// # Errors
    /// [`Error::Config`] for a class of the source that is not listed, a class listed twice, a class renamed that there is not,
    /// and a label whose class has no name.
    pub fn open<S: Source>(&self, source: S) -> Result<WithClasses<S>> {
        self.check_renamed(source.classes().iter())?;
        let names = self.names([source.classes()])?;
        self.translate(source, names)
    }

    /// The names of classes that several sources have between them: the list that was given, or else each where it comes
    /// first; none where no source has names and no list was given.
    pub(super) fn names<'a>(&self, sources: impl IntoIterator<Item = &'a [String]>) -> Result<Vec<String>> {
        if let Some(list) = &self.classes {
            ensure!(!list.is_empty(), "classes is empty: name a class at least, or leave it out");
            for (at, name) in list.iter().enumerate() {
                ensure!(!name.is_empty(), "classes: name {at} is empty: give each class a name");
                ensure!(!list[..at].contains(name), "classes names `{name}` twice: name each class once");
            }
            return Ok(list.clone());
        }
        let (mut names, mut known) = (Vec::new(), std::collections::HashSet::new());
        for name in sources.into_iter().flatten().map(|name| self.called(name)) {
            if !name.is_empty() && known.insert(name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// What the class `name` of a source is called.
    fn called<'a>(&'a self, name: &'a str) -> &'a str {
        self.rename.get(name).map_or(name, String::as_str)
    }

    /// Refuses another name for a class that is not among `names`: it is most likely misspelt.
    pub(super) fn check_renamed<'a>(&self, names: impl Iterator<Item = &'a String>) -> Result<()> {
        let names: Vec<&str> = names.map(String::as_str).collect();
        let Some(unknown) = self.rename.keys().find(|from| !names.contains(&from.as_str())) else {
            return Ok(());
        };
        if names.is_empty() {
            bail!(
                "rename names the class `{unknown}`, but the classes of the data are numbers without names: name them \
                 (classes), or leave rename out"
            );
        }
        let near =
            nearest(unknown, &names).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let there = listed(&names);
        bail!(
            "rename names the class `{unknown}`, which the data do not have: {near}There are {there}; mend the name, or \
             leave it out"
        )
    }

    /// The source with the classes `names`.
    pub(super) fn translate<S: Source>(&self, source: S, names: Vec<String>) -> Result<WithClasses<S>> {
        let own = source.classes();
        let place: BTreeMap<&str, i64> = names.iter().map(String::as_str).zip(0..).collect();
        let class_of = |name: &String| match (self.called(name), place.get(self.called(name))) {
            ("", _) => Ok(None),
            (_, Some(&class)) => Ok(Some(class)),
            (called, None) => {
                let near = nearest(called, &names.iter().map(String::as_str).collect::<Vec<_>>());
                let as_what = near.map_or("such as `rename = { ... }`".to_owned(), |near| {
                    format!("such as `rename = {{ \"{name}\" = \"{near}\" }}`")
                });
                Err(Error::config(format!(
                    "the class `{called}` is not in classes, which lists {}: add it there, or give it a name that is listed, \
                     {as_what}",
                    listed(&names)
                )))
            }
        };
        let to = match own.is_empty() {
            true => None,
            false => Some(own.iter().map(class_of).collect::<Result<Vec<_>>>()?),
        };
        let met = look_at_labels(&source, to.as_deref(), &names)?;
        Ok(WithClasses { source, names, to, met })
    }
}

/// Looks at each label once, so that none has to be refused later.
fn look_at_labels(source: &impl Source, to: Option<&[Option<i64>]>, names: &[String]) -> Result<Met> {
    let mut met = Met::default();
    let has_name = |class: i64| match (to, usize::try_from(class)) {
        (_, Err(_)) => true,
        (Some(to), Ok(class)) => to.get(class).copied().flatten().is_some(),
        (None, Ok(class)) => names.is_empty() || class < names.len(),
    };
    for index in 0..source.len() {
        let label = source.label(index);
        let classes: &mut dyn Iterator<Item = i64> = match &label {
            Label::Objects(objects) => {
                met.skeleton = met.skeleton.or_else(|| objects.skeleton.clone());
                &mut objects.list.iter().map(|object| object.class)
            }
            label => &mut label.classes().iter().copied().filter(|class| *class >= 0),
        };
        for class in classes {
            met.classed.get_or_insert(index);
            ensure!(
                has_name(class),
                "sample {index} ({}) has the class {class}, which has no name{}: name it in classes, or mend the label",
                source.key(index),
                if to.is_none() { format!(": classes has {}", names.len()) } else { String::new() }
            );
        }
    }
    Ok(met)
}

impl<S: Source> Source for WithClasses<S> {
    pass_on!([.source] len read key path version mask fields jpeg_sha256 shard_ends record);
    pass_on!([.source] is_known_ahead mix_order io_stats);

    fn label(&self, index: usize) -> Label {
        let label = self.source.label(index);
        let Some(to) = &self.to else { return label };
        // All were looked at when it was opened; a source that changes its mind has no class.
        let class_of = |class: i64| match usize::try_from(class) {
            Ok(own) => to.get(own).copied().flatten().unwrap_or(-1),
            Err(_) => class,
        };
        match label {
            Label::Class(class) => Label::Class(class_of(class)),
            Label::Classes(classes) => {
                // Two that are called alike become one.
                let mut classes: Vec<i64> = classes.iter().map(|class| class_of(*class)).collect();
                classes.sort_unstable();
                classes.dedup();
                Label::Classes(classes.into())
            }
            Label::Objects(objects) => {
                let mut objects: Objects = Arc::unwrap_or_clone(objects);
                objects.list.iter_mut().for_each(|object| object.class = class_of(object.class));
                Label::Objects(Arc::new(objects))
            }
            other => other,
        }
    }

    fn classes(&self) -> &[String] {
        &self.names
    }
}
