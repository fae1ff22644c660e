//! The data that a loader is given: a path of any kind that the library reads, or records in memory.

use crate::options::as_trainers_take_them;
use feedline::error::{Error, Result};
use feedline::label::Label;
use feedline::options::DataOptions;
use feedline::recipe::Recipe;
use feedline::source::{self, Memory, Note, Source};
use pyo3::prelude::*;
use std::path::PathBuf;

/// What the first argument of a loader may be.
#[derive(FromPyObject)]
pub(crate) enum Data {
    Path(PathBuf),
    /// Key, compressed bytes, class or classes.
    Records(Vec<(String, Vec<u8>, Option<Class>)>),
}

/// The label of a record in memory.
#[derive(FromPyObject)]
pub(crate) enum Class {
    One(i64),
    Several(Vec<i64>),
}

/// An opened data set.
pub(crate) struct Opened {
    pub(crate) source: Box<dyn Source>,
    /// Whether samples are labelled with objects.
    pub(crate) objects: bool,
    /// Keypoints of an object; 0 where there are none.
    pub(crate) keypoints: usize,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Opens the records, or else what the path or the recipe names, and sets there what follows from the data.
pub(crate) fn open(data: Option<Data>, recipe: &mut Recipe) -> Result<Opened> {
    let options = &mut recipe.options;
    let of_recipe = &mut options.data;
    if data.is_some() && of_recipe.sets.take().is_some() {
        (of_recipe.mix, of_recipe.stopping_strategy, of_recipe.epoch_samples) = (None, None, None);
    }
    let opened = match data {
        Some(Data::Records(records)) => {
            of_recipe.path = None;
            of_records(records, of_recipe)?
        }
        Some(Data::Path(path)) => {
            of_recipe.path = Some(path);
            of_path(of_recipe)?
        }
        None => of_path(of_recipe)?,
    };
    as_trainers_take_them(&mut options.labels, opened.objects);
    Ok(opened)
}

fn of_records(records: Vec<(String, Vec<u8>, Option<Class>)>, options: &DataOptions) -> Result<Opened> {
    if *options != DataOptions::default() {
        return Err(Error::config(format!(
            "{} is for paths, but the data are records in memory: leave it out",
            given(options)
        )));
    }
    let labelled = records.into_iter().map(|(key, bytes, class)| {
        let label = label(class).map_err(|what| Error::config(format!("{key}: {what}")))?;
        Ok((key, bytes, label))
    });
    let source = Box::new(Memory::new(labelled.collect::<Result<_>>()?));
    Ok(Opened { source, objects: false, keypoints: 0, notes: Vec::new() })
}

/// What lists of files take is taken here too.
fn label(class: Option<Class>) -> std::result::Result<Label, String> {
    let wrong =
        |class: i64| Err(format!("the label {class} is no class: use indices from 0, or None for none"));
    match class {
        None => Ok(Label::Unlabelled),
        Some(Class::One(class)) if class < -1 => wrong(class),
        Some(Class::One(class)) => Ok(Label::Class(class)),
        Some(Class::Several(mut classes)) => {
            classes.sort_unstable();
            if let Some(&class) = classes.first().filter(|class| **class < 0) {
                return wrong(class);
            }
            match classes.windows(2).find(|two| two[0] == two[1]) {
                None => Ok(Label::Classes(classes.into())),
                Some(two) => Err(format!(
                    "the class `{}` is there twice in one list: list the classes that an image has, each once, and not a number \
                     for every class",
                    two[0]
                )),
            }
        }
    }
}

fn of_path(options: &DataOptions) -> Result<Opened> {
    let source::Opened { source, objects, notes, keypoints, .. } = source::open(options)?;
    // What the data were taken for is no warning.
    let notes = notes.iter().filter(|note| !matches!(note, Note::TakenFor { .. }));
    Ok(Opened { source, objects, keypoints, notes: notes.map(Note::to_string).collect() })
}

/// The first option that is given, by its name.
fn given(options: &DataOptions) -> String {
    let given = serde_json::to_value(options).unwrap_or_default();
    given.as_object().and_then(|given| given.keys().next().cloned()).unwrap_or_default()
}
