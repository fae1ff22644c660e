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
    let opened = match data {
        Some(Data::Records(records)) => {
            (options.data.path, options.data.sets) = (None, None);
            of_records(records, &options.data)?
        }
        Some(Data::Path(path)) => {
            let data = &mut options.data;
            data.path = Some(path);
            if data.sets.take().is_some() {
                (data.mix, data.stopping_strategy, data.epoch_samples) = (None, None, None);
            }
            of_path(&options.data)?
        }
        None => of_path(&options.data)?,
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
    let label = |class: Option<Class>| match class {
        None => Label::Unlabelled,
        Some(Class::One(class)) => Label::Class(class),
        Some(Class::Several(mut classes)) => {
            classes.sort_unstable();
            classes.dedup();
            Label::Classes(classes.into())
        }
    };
    let records = records.into_iter().map(|(key, bytes, class)| (key, bytes, label(class))).collect();
    let source = Box::new(Memory::new(records));
    Ok(Opened { source, objects: false, keypoints: 0, notes: Vec::new() })
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
