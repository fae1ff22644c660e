//! What a loader is told by its keywords, as the package's Python half hands them over, and the list of all that there are.

use crate::error::to_python;
use feedline::error::{Error, Result};
use feedline::label::{BoxFormat, Unit};
use feedline::options::{Entry, LabelsOptions, Listed, LoaderOptions, Options, Unset, ValueKind, catalogue};
use feedline::policy::LastBatch;
use feedline::recipe::{self, Recipe, Template};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// The keywords of a loader, sorted by what they are.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Keywords {
    /// Those of the library's list, by name, as a JSON object.
    options: String,
    /// A name, a path, or the text itself.
    recipe: Option<String>,
    /// Of the recipe's parameters, by name, as a JSON object.
    parameters: String,
    /// Each as JSON.
    transforms: Option<Vec<String>>,
    views: Option<Vec<String>>,
    /// Numbers that are no text, since there may be millions.
    subset: Option<Vec<u64>>,
    weights: Option<Vec<f64>>,
    pub(crate) num_classes: Option<usize>,
    pub(crate) label_smoothing: f32,
    pub(crate) float_objects: bool,
}

impl Keywords {
    /// The recipe that these keywords are laid over, or one of the transforms.
    pub(crate) fn recipe(&self) -> Result<Recipe> {
        let mut recipe = match (&self.recipe, &self.transforms) {
            (Some(_), Some(_)) => {
                return Err(Error::config(
                    "recipe and transforms both say what is done to a sample: give one of them",
                ));
            }
            (Some(word), None) => {
                let mut template = read_recipe(word)?;
                for (name, value) in json_object(&self.parameters)? {
                    template.set(&name, value)?;
                }
                template.recipe()?
            }
            (None, transforms) => of_transforms(transforms.as_deref().unwrap_or_default())?,
        };
        if let Some(views) = &self.views {
            if !recipe.views.is_empty() {
                return Err(Error::config(
                    "recipe and views both say which views there are: give one of them",
                ));
            }
            recipe.views = views.iter().map(|json| recipe::sample_view(json)).collect::<Result<_>>()?;
        }
        recipe.options = self.options()?.over(recipe.options).over(usual());
        Ok(recipe)
    }

    fn options(&self) -> Result<Options> {
        let mut options = read_options(&self.options)?;
        options.loader.subset = self.subset.clone().map(Listed::List).or(options.loader.subset);
        options.loader.weights = self.weights.clone().map(Listed::List).or(options.loader.weights);
        Ok(options)
    }
}

/// What is otherwise in Python where nobody says anything: torch's DataLoader keeps the rest.
fn usual() -> Options {
    let loader = LoaderOptions { last_batch: Some(LastBatch::Partial), ..LoaderOptions::default() };
    Options { loader, ..Options::default() }
}

/// Boxes of data that have them are what YOLO trainers take, if nobody asked for anything else.
pub(crate) fn as_trainers_take_them(labels: &mut LabelsOptions, objects: bool) {
    if objects || labels.format.is_some() || labels.unit.is_some() {
        let usual = usual_labels();
        (labels.format, labels.unit) = (labels.format.or(usual.format), labels.unit.or(usual.unit));
    }
}

fn usual_labels() -> LabelsOptions {
    let (format, unit) = (Some(BoxFormat::Cxcywh), Some(Unit::Normalized));
    LabelsOptions { format, unit, ..LabelsOptions::default() }
}

/// What counts where an option is left out, in words; `None` where nothing is done then.
fn unset(entry: &Entry) -> Option<String> {
    let usual = json_of(&Options { labels: usual_labels(), ..usual() });
    let word = usual.get(entry.section).and_then(|section| section.get(entry.key)?.as_str());
    match word {
        Some(word) => Some(word.to_owned()),
        None => (entry.unset != Unset::None).then(|| entry.unset.to_string()),
    }
}

fn read_recipe(word: &str) -> Result<Template> {
    if word.contains('\n') { Template::parse(word) } else { Template::load(word) }
}

fn of_transforms(transforms: &[String]) -> Result<Recipe> {
    let augment = transforms.iter().map(|json| recipe::augmentation(json)).collect::<Result<_>>()?;
    Ok(Recipe { augment, ..Recipe::default() })
}

fn read_options(json: &str) -> Result<Options> {
    Options::from_values(json_object(json)?)
}

fn json_object(json: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(json)
        .map_err(|error| Error::config(format!("the options are no JSON object: {error}")))
}

fn json_of(options: &Options) -> Value {
    serde_json::to_value(options).unwrap_or_default()
}

/// What `options` say, by the names of Python's keywords. JSON has no path that is not UTF-8: its odd bytes are shown as
/// \u{FFFD}. Only the data can have such a path, which is the loader's first argument.
pub(crate) fn by_name(options: &Options) -> String {
    let mut options = options.clone();
    options.data.path = options.data.path.map(|path| path.to_string_lossy().into_owned().into());
    let all = json_of(&options);
    let said = |entry: &Entry| Some((entry.name.to_owned(), all.get(entry.section)?.get(entry.key)?.clone()));
    Value::Object(catalogue().iter().filter_map(said).collect()).to_string()
}

/// The list of all options of the library, as JSON: for each its names, its meaning, what it may be, and what counts where
/// it is left out.
#[pyfunction]
pub(crate) fn option_list() -> String {
    let list = catalogue().iter().map(|entry| {
        let (kind, words) = match entry.value {
            ValueKind::Words(words) => ("Words".to_owned(), words),
            other => (format!("{other:?}"), &[][..]),
        };
        json!({
            "name": entry.name,
            "aliases": entry.aliases,
            "section": entry.section,
            "doc": entry.summary(),
            "kind": kind,
            "words": words,
            "value": entry.value.to_string(),
            "default": unset(entry),
            "data": entry.kinds.map(|kinds| kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>()),
        })
    });
    Value::Array(list.collect()).to_string()
}

/// The names of the built-in recipes.
#[pyfunction]
pub(crate) fn recipe_names() -> Vec<&'static str> {
    Recipe::names().collect()
}

/// The parameters of a recipe, which is named by name, path or text, as a JSON array.
#[pyfunction]
pub(crate) fn recipe_parameters(py: Python<'_>, recipe: &str) -> PyResult<String> {
    let template = read_recipe(recipe).map_err(|error| to_python(py, error))?;
    Ok(json!(template.parameters()).to_string())
}

/// Reads options from JSON by name and gives them back as the library has them; refuses what has no meaning.
#[pyfunction]
pub(crate) fn check_options(py: Python<'_>, json: &str) -> PyResult<String> {
    read_options(json).map(|options| by_name(&options)).map_err(|error| to_python(py, error))
}
