//! Options by name, as text, so that a new one changes no function.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::border::{Failure, Status, alone, c_text, give, guard, is_there, release, shared, text, write};
use feedline::error::{Error, Result};
use feedline::recipe::{Recipe, Template};
use std::ffi::c_char;

/// What a loader is to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name and value; the latest value of a name counts.
    pub(crate) given: Vec<(String, String)>,
}

/// Makes empty options.
///
/// # Safety
/// `options` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_options_new(options: *mut *mut Options) -> Status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { give(options, Options::default(), "options") })
}

/// Sets an option. The last value counts; what it means is checked when the loader is opened.
///
/// docs/options.md lists all options with their values and defaults. They are named alone (`batch_size`, `mask_dir`) or by
/// section and key (`output.dtype`); the value is a bare word, a path, or what TOML has (`true`, `[224, 224]`), where a list
/// may lack its brackets. `data`, a path or a URL, is the only one that must be set.
///
/// What is set is laid over a recipe: `recipe` is a built-in one's name (`imagenet-train`, which is the default) or the path
/// of a TOML file, `recipe_text` the TOML itself. A recipe's parameters are set by their names, as options are (`imgsz`), or
/// as `parameters.imgsz`; feedline_recipe_parameters_json() lists them.
///
/// # Safety
/// `options` is from feedline_options_new() and used by no other thread; `key` and `value` are text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_options_set(
    options: *mut Options,
    key: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (options, key) = unsafe { (alone(options, "options")?, text(key, "key")?) };
        // SAFETY: the caller's promise.
        let value = unsafe { text(value, "value")? };
        if key.is_empty() {
            return Err(Failure::invalid("the key is empty: name an option, such as batch_size"));
        }
        options.given.retain(|(other, _)| other != key);
        options.given.push((key.to_owned(), value.to_owned()));
        Ok(Status::Ok)
    })
}

/// What a loader would be opened with: the recipe with the options laid over it, as TOML. To be freed by
/// feedline_string_free().
///
/// # Safety
/// `options` is from feedline_options_new() and not changed meanwhile; `text` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_options_text(options: *const Options, text: *mut *mut c_char) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { shared(options, "options")? };
        is_there(text, "text")?;
        let recipe = recipe(&options.given)?.to_toml()?;
        // SAFETY: the caller's promise.
        unsafe { write(text, c_text(&recipe).into_raw(), "text") }
    })
}

/// Frees options; null is let pass. Loaders that were opened with them stay.
///
/// # Safety
/// `options` is null or from feedline_options_new(), and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_options_free(options: *mut Options) {
    // SAFETY: the caller's promise.
    unsafe { release(options) }
}

/// The recipe that is laid under the options, unless another is named.
const USUAL_RECIPE: &str = "imagenet-train";

/// The parameters of a recipe (its name, or the path of a TOML file) in their order, as a JSON array of objects with `name`,
/// `type` (`integer`, `float`, `bool`, `word`, `text`, `integers` or `floats`), `default`, `min`, `max`, `words` and `about`,
/// of which those that mean nothing are left out. To be freed by feedline_string_free().
///
/// # Safety
/// `recipe` is text; `json` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_recipe_parameters_json(
    recipe: *const c_char,
    json: *mut *mut c_char,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let recipe = unsafe { text(recipe, "recipe")? };
        is_there(json, "json")?;
        let parameters = Recipe::parameters_of(recipe)?;
        let listed = serde_json::to_string(&parameters).map_err(|error| Error::config(error.to_string()))?;
        // SAFETY: the caller's promise.
        unsafe { write(json, c_text(&listed).into_raw(), "json") }
    })
}

/// The recipe with its parameters set and the options laid over it.
pub(crate) fn recipe(given: &[(String, String)]) -> Result<Recipe> {
    let value = |name: &str| given.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let mut template = match (value("recipe"), value("recipe_text")) {
        (Some(_), Some(_)) => {
            return Err(Error::config("recipe and recipe_text are both set: set one of them"));
        }
        (None, Some(text)) => Template::parse(text)?,
        (name, None) => Template::load(name.unwrap_or(USUAL_RECIPE))?,
    };
    let mut options = feedline::options::Options::default();
    for (key, value) in given.iter().filter(|(key, _)| !["recipe", "recipe_text"].contains(&key.as_str())) {
        match key.strip_prefix("parameters.") {
            Some(name) => template.set_text(name, value)?,
            None if key.contains('.') || feedline::options::Options::knows(key) => {
                options.set_text(key, value)?;
            }
            None => template.set_text(key, value)?,
        }
    }
    let recipe = template.recipe()?;
    recipe.with(options).map_err(|error| Error::config(format!("the options do not fit together: {error}")))
}
