//! Reading a recipe never panics, and what was read can be written and read again.
#![no_main]

use feedline::recipe::Recipe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(recipe) = Recipe::parse(text)
        && let Ok(written) = recipe.to_toml()
    {
        assert!(Recipe::parse(&written).is_ok(), "{written}");
    }
});
