//! From options to a loader.

use feedline::error::{Error, Result};
use feedline::options::Options;
use feedline::recipe::Recipe;

/// The recipe that is laid under the options, unless another is named.
const USUAL_RECIPE: &str = "imagenet-train";

/// The recipe with the options laid over it.
pub(super) fn recipe(given: &[(String, String)]) -> Result<Recipe> {
    let (mut name, mut text, mut options) = (None, None, Options::default());
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
