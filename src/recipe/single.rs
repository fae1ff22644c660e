//! One augmentation by name and arguments, as other languages give them.

use crate::augment::{Augment, Augmentation};
use crate::error::{Error, Result, bail};
use crate::options::fields::{Answer, Ask};
use crate::options::nearest;
use serde_json::Value;

/// The names of the arguments of the augmentation `name`, in their order; `None` where there is none of this name.
pub fn arguments_of(name: &str) -> Option<&'static [&'static str]> {
    let known = Augmentation::NAMES.contains(&name);
    known.then(|| Augmentation::read(name, Ask).err().map_or(&[][..], |Answer(names)| names))
}

/// Reads one augmentation from JSON text, with the keys of a recipe: `{"op": "RandomResizedCrop", "size": 224}`.
///
/// # Errors
/// [`Error::Config`] with what is wrong, and the nearest name or key that would be right.
pub fn augmentation(json: &str) -> Result<Augmentation> {
    let refuse = |error: serde_json::Error| Error::config(format!("the augmentation is no JSON: {error}"));
    let Value::Object(mut arguments) = serde_json::from_str(json).map_err(refuse)? else {
        bail!("an augmentation is a JSON object: {{\"op\": NAME, ...}}");
    };
    let op = arguments.remove("op");
    let name = op.as_ref().and_then(Value::as_str).unwrap_or("");
    let Some(keys) = arguments_of(name) else {
        let hint = nearest::hint(name, Augmentation::NAMES);
        bail!("unknown op `{name}`{hint}");
    };
    if let Some(key) = arguments.keys().find(|key| !keys.is_empty() && !keys.contains(&key.as_str())) {
        bail!("{name} has no argument `{key}`{}", nearest::hint(key, keys));
    }
    let read = Augmentation::read(name, Value::Object(arguments));
    let augmentation = read.map_err(|error| Error::config(format!("{name}: {error}")))?;
    augmentation.check()?;
    Ok(augmentation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::augment::RandomResizedCrop;

    #[test]
    fn an_augmentation_is_read_as_a_recipe_would_hold_it() {
        let read = augmentation(r#"{"op": "RandomResizedCrop", "size": 224, "scale": [0.5, 1]}"#).unwrap();
        assert_eq!(read, RandomResizedCrop::new(224).scale([0.5, 1.0]).into());
        let names = ["size", "scale", "ratio", "interpolation", "antialias"];
        assert_eq!(arguments_of("RandomResizedCrop").unwrap(), names);
        assert_eq!(arguments_of("RandomChannelPermutation").unwrap().len(), 0);
        assert!(arguments_of("RandomResizedCorp").is_none());
    }

    #[test]
    fn what_means_nothing_is_refused_with_the_nearest_thing_that_does() {
        let refused = |json: &str| augmentation(json).unwrap_err().to_string();
        assert!(refused(r#"{"op": "RandomResizedCorp"}"#).contains("did you mean `RandomResizedCrop`?"));
        assert!(refused(r#"{"op": "RandomResizedCrop", "sise": 2}"#).contains("did you mean `size`?"));
        assert!(refused(r#"{"op": "RandomResizedCrop"}"#).contains("missing field `size`"));
        assert!(refused(r#"{"op": "RandomHorizontalFlip", "p": 50}"#).contains("[0.0, 1.0]"));
        assert!(refused(r#"{"op": "RandomChannelPermutation", "p": 1}"#).contains("p"));
        assert!(refused("[]").contains("JSON object"));
        assert!(refused("{").contains("no JSON"));
        assert!(refused("{}").contains("unknown op ``"));
    }
}
