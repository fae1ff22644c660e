//! One augmentation, or one view, as JSON text, as other languages give it.

use crate::augment::Augmentation;
use crate::augment::view::{self, NO_SIZE, View};
use crate::error::{Error, Result, bail, ensure};
use crate::options::{fields, nearest};
use serde_json::Value;

pub use crate::augment::arguments_of;

/// Reads one augmentation from JSON text, with the keys of a recipe: `{"op": "RandomResizedCrop", "size": 224}`.
///
/// # Errors
/// [`Error::Config`] with what is wrong, and the nearest name or key that would be right.
pub fn augmentation(json: &str) -> Result<Augmentation> {
    let refuse = |error: serde_json::Error| Error::config(format!("the augmentation is no JSON: {error}"));
    Augmentation::from_value(serde_json::from_str(json).map_err(refuse)?)
}

/// Reads one view from JSON text, with the keys of a recipe: `{"size": 96, "count": 8, "transforms": [...]}`.
///
/// # Errors
/// As [`augmentation`].
pub fn sample_view(json: &str) -> Result<View> {
    let refuse = |error: serde_json::Error| Error::config(format!("the view is no JSON: {error}"));
    let value: Value = serde_json::from_str(json).map_err(refuse)?;
    let Value::Object(arguments) = &value else {
        bail!("a view is an object with its size, count and transforms");
    };
    let known = fields::of::<View>();
    if let Some(key) = arguments.keys().find(|key| !known.contains(&key.as_str())) {
        bail!("a view has no argument `{key}`{}", nearest::hint(key, known));
    }
    ensure!(arguments.contains_key("size"), "{NO_SIZE}");
    let view: View =
        serde_json::from_value(value).map_err(|error| Error::config(format!("view: {error}")))?;
    view::check_one("view", &view)?;
    Ok(view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::augment::RandomResizedCrop;

    #[test]
    fn an_augmentation_is_read_as_a_recipe_would_hold_it() {
        let read = augmentation(r#"{"op": "RandomResizedCrop", "size": 224, "scale": [0.5, 1]}"#).unwrap();
        assert_eq!(read, RandomResizedCrop::new(224).scale([0.5, 1.0]).into());
        let names = ["size", "scale", "ratio", "interpolation", "antialias", "p"];
        assert_eq!(arguments_of("RandomResizedCrop").unwrap(), names);
        assert_eq!(arguments_of("RandomChannelPermutation").unwrap(), ["p"]);
        assert_eq!(arguments_of("RandomApply").unwrap(), ["transforms", "p"]);
        assert!(arguments_of("RandomResizedCorp").is_none());
    }

    #[test]
    fn what_means_nothing_is_refused_with_the_nearest_thing_that_does() {
        let refused = |json: &str| augmentation(json).unwrap_err().to_string();
        assert!(refused(r#"{"op": "RandomResizedCorp"}"#).contains("did you mean `RandomResizedCrop`?"));
        assert!(refused(r#"{"op": "RandomResizedCrop", "sise": 2}"#).contains("did you mean `size`?"));
        assert!(refused(r#"{"op": "RandomResizedCrop"}"#).contains("`size` is missing: give it"));
        assert!(refused(r#"{"op": "RandomHorizontalFlip", "p": 50}"#).contains("[0.0, 1.0]"));
        let bad = [
            (r#""RandomHorizontalFlip", "p": "a""#, r#"RandomHorizontalFlip: p = "a": give a number"#),
            (r#""ColorJitter", "p": "a""#, r#"ColorJitter: p = "a": give a number"#),
            (
                r#""Resize", "size": 8, "interpolation": "cubic""#,
                r#"Resize: interpolation = "cubic": give `bilinear`, `bicubic` or `nearest`"#,
            ),
            (r#""Resize", "size": [1, 2, 3]"#, "Resize: size = [1,2,3]: give a length, or [height, width]"),
        ];
        for (given, want) in bad {
            assert_eq!(refused(&format!("{{\"op\": {given}}}")), want);
        }
        assert!(
            refused(r#"{"op": "RandomChannelPermutation", "q": 1}"#)
                .contains("no argument `q`: did you mean `p`?")
        );
        assert!(refused("[]").contains("an object with its name under op"));
        assert!(refused("{").contains("no JSON"));
        assert!(refused("{}").contains("unknown op ``"));
    }
}
