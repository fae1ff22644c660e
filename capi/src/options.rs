//! Options by name, as text, so that a new one changes no function.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::border::{Failure, Status, alone, c_text, give, guard, is_there, release, shared, text, write};
use feedline::error::{Error, Result};
use feedline::recipe::Recipe;
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
/// of a TOML file, `recipe_text` the TOML itself.
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

/// The recipe with the options laid over it.
pub(crate) fn recipe(given: &[(String, String)]) -> Result<Recipe> {
    let (mut name, mut text, mut options) = (None, None, feedline::options::Options::default());
    for (key, value) in given {
        match key.as_str() {
            "recipe" => name = Some(value),
            "recipe_text" => text = Some(value),
            _ => options.set_text(key, value)?,
        }
    }
    let recipe = match (name, text) {
        (Some(_), Some(_)) => {
            return Err(Error::config("recipe and recipe_text are both set: set one of them"));
        }
        (None, Some(text)) => Recipe::parse(text)?,
        (name, None) => Recipe::load(name.map_or(USUAL_RECIPE, String::as_str))?,
    };
    recipe.with(options).map_err(|error| Error::config(format!("the options do not fit together: {error}")))
}
