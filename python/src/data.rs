//! The data that a loader is given: a path of any kind that the library reads, or records that Python has.

use crate::options::as_trainers_take_them;
use crate::records::{Called, Calls, InMemory, Records};
use feedline::error::{Error, Result};
use feedline::loader::Histogram;
use feedline::options::DataOptions;
use feedline::recipe::Recipe;
use feedline::source::{self, Note, Source};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// What the first argument of a loader may be, as the package's Python half hands it over.
#[derive(FromPyObject)]
pub(crate) enum Data {
    Path(PathBuf),
    Records(Records),
    Calls(Calls),
}

/// An opened data set.
pub(crate) struct Opened {
    pub(crate) source: Box<dyn Source>,
    /// What it is, in the words of the option `kind`, or `records`.
    pub(crate) kind: &'static str,
    /// Whether samples are labelled with objects.
    pub(crate) objects: bool,
    /// Keypoints of an object; 0 where there are none.
    pub(crate) keypoints: usize,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
    /// The calls of Python's code that records took; `None` where there are no such.
    pub(crate) calls: Option<Arc<Histogram>>,
}

/// Opens the records, or else what the path or the recipe names, and sets there what follows from the data.
pub(crate) fn open(data: Option<Data>, recipe: &mut Recipe) -> Result<Opened> {
    let options = &mut recipe.options;
    let of_recipe = &mut options.data;
    if data.is_some() && of_recipe.sets.take().is_some() {
        (of_recipe.mix, of_recipe.stopping_strategy, of_recipe.epoch_samples) = (None, None, None);
    }
    let opened = match data {
        Some(Data::Path(path)) => {
            of_recipe.path = Some(path);
            of_path(of_recipe)?
        }
        Some(Data::Records(records)) => {
            let max_file_bytes = of_records(of_recipe, records.declares_fields())?;
            Opened::records(InMemory::new(records, max_file_bytes)?, None)
        }
        Some(Data::Calls(calls)) => {
            let max_file_bytes = of_records(of_recipe, calls.declares_fields())?;
            let timing = Arc::<Histogram>::default();
            Opened::records(Called::new(calls, max_file_bytes, Arc::clone(&timing))?, Some(timing))
        }
        None => of_path(of_recipe)?,
    };
    as_trainers_take_them(&mut options.labels, opened.objects);
    Ok(opened)
}

/// The largest file that is read; refuses options that are for paths, and fields that only the recipe has.
fn of_records(options: &mut DataOptions, declares_fields: bool) -> Result<u64> {
    options.path = None;
    if options.fields.is_some() && !declares_fields {
        return Err(Error::config(
            "the recipe says what fields there are, but the data are records in memory: give fields= to the Loader, too",
        ));
    }
    let others = DataOptions { fields: None, max_file_bytes: None, ..options.clone() };
    if others != DataOptions::default() {
        return Err(Error::config(format!(
            "{} is for paths, but the data are records in memory: leave it out",
            given(&others)
        )));
    }
    Ok(options.max_file_bytes().0)
}

impl Opened {
    fn records(source: impl Source + 'static, calls: Option<Arc<Histogram>>) -> Self {
        let (source, notes) = (Box::new(source), Vec::new());
        Self { source, kind: "records", objects: false, keypoints: 0, notes, calls }
    }
}

fn of_path(options: &DataOptions) -> Result<Opened> {
    let source::Opened { source, kind, objects, notes, keypoints, .. } = source::open(options)?;
    // What the data were taken for is no warning.
    let notes = notes.iter().filter(|note| !matches!(note, Note::TakenFor { .. }));
    let notes = notes.map(Note::to_string).collect();
    Ok(Opened { source, kind: kind.word(), objects, keypoints, notes, calls: None })
}

/// The first option that is given, by its name.
fn given(options: &DataOptions) -> String {
    let given = serde_json::to_value(options).unwrap_or_default();
    given.as_object().and_then(|given| given.keys().next().cloned()).unwrap_or_default()
}
