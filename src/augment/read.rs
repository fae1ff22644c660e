//! Reading an augmentation by its name and its arguments, with the ones that stand in it.

use super::container::{MAX_DEPTH, place, placed, too_deep};
use super::{Augment, Augmentation};
use crate::error::{Error, Result, bail, ensure};
use crate::options::fields::{Answer, Ask};
use crate::options::nearest;
use crate::options::wanted::wanted;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// The key of a container's transforms.
pub(crate) const TRANSFORMS: &str = "transforms";
/// The key of a probability.
pub(crate) const PROBABILITY: &str = "p";
/// What is said of anything else in the place of a transform.
pub(crate) const NO_TRANSFORM: &str = "a transform is an object with its name under op; to have several in the place of one, put them into a Compose";

/// The names of the arguments of the augmentation `name`, in their order; `None` where there is none of this name.
///
/// Where it has no probability `p` of its own, that is the last of them.
pub fn arguments_of(name: &str) -> Option<Vec<&'static str>> {
    let own = own_arguments(name)?;
    Some(if own.contains(&PROBABILITY) { own.to_vec() } else { [own, &[PROBABILITY]].concat() })
}

/// Without the probability that any augmentation can be given.
pub(crate) fn own_arguments(name: &str) -> Option<&'static [&'static str]> {
    let known = Augmentation::NAMES.contains(&name);
    known.then(|| Augmentation::read(name, Ask).err().map_or(&[][..], |Answer(names)| names))
}

/// Refuses a name that no augmentation has.
pub(crate) fn unknown(name: &str) -> String {
    format!("unknown op `{name}`{}", nearest::hint(name, Augmentation::NAMES))
}

impl Augmentation {
    /// Reads an augmentation with the keys of a recipe: `{"op": "RandomResizedCrop", "size": 224}`.
    pub(crate) fn from_value(value: Value) -> Result<Self> {
        ensure!(depth(&value) <= MAX_DEPTH, "{}", too_deep());
        let Value::Object(mut arguments) = value else { bail!("{NO_TRANSFORM}") };
        let op = arguments.remove("op");
        let name = op.as_ref().and_then(Value::as_str).unwrap_or("");
        let Some(keys) = arguments_of(name) else { bail!("{}", unknown(name)) };
        if let Some(key) = arguments.keys().find(|key| !keys.contains(&key.as_str())) {
            bail!("{name} has no argument `{key}`{}", nearest::hint(key, &keys));
        }
        let is_own = own_arguments(name).is_some_and(|own| own.contains(&PROBABILITY));
        let p = if is_own { None } else { arguments.remove(PROBABILITY) };
        let read = Self::read(name, Value::Object(arguments.clone()));
        let mut augmentation =
            read.map_err(|error| Error::config(refused(name, &arguments, &error.to_string())))?;
        if let Some(p) = p {
            let read = f32::deserialize(&p);
            augmentation = augmentation.with_p(
                read.map_err(|error| Error::config(wrong(name, PROBABILITY, &p, &error.to_string())))?,
            );
        }
        augmentation.check()?;
        Ok(augmentation)
    }
}

/// What is wrong with the arguments of `name`, of which reading them says only `message`.
fn refused(name: &str, arguments: &Map<String, Value>, message: &str) -> String {
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("{name}: {key} is missing: give it");
    }
    // Reading stops at the first wrong argument, and says the same whatever the others are.
    let is_wrong = |key: &String| {
        let mut others = arguments.clone();
        others.remove(key);
        let again = Augmentation::read(name, Value::Object(others));
        again.err().is_none_or(|error| error.to_string() != message)
    };
    match arguments.iter().find(|(key, _)| is_wrong(key)) {
        Some((key, value)) if key != TRANSFORMS => wrong(name, key, value, message),
        _ => named(name, message),
    }
}

/// What is wrong with the argument `key` of `name`.
fn wrong(name: &str, key: &str, value: &Value, message: &str) -> String {
    match wanted(message) {
        Some(wanted) => format!("{name}: {key} = {value}: give {wanted}"),
        None => format!("{name}: {key} = {value}: {message}"),
    }
}

/// A message with the name of the transform that it is about, unless it names one that stands in it.
pub(crate) fn named(name: &str, message: &str) -> String {
    if message.starts_with("transforms[") { message.to_owned() } else { format!("{name}: {message}") }
}

impl<'de> Deserialize<'de> for Augmentation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(value).map_err(serde::de::Error::custom)
    }
}

/// Reads the transforms of a container; an error names the one that it is about.
pub(crate) fn transforms<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<Augmentation>, D::Error> {
    struct Each;

    impl<'de> Visitor<'de> for Each {
        type Value = Vec<Augmentation>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of transforms")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut each: A) -> std::result::Result<Self::Value, A::Error> {
            let mut read = Vec::new();
            while let Some(value) = each.next_element::<Value>()? {
                let transform = Augmentation::from_value(value);
                let refuse =
                    |error: Error| serde::de::Error::custom(placed(&place(read.len()), &error.to_string()));
                read.push(transform.map_err(refuse)?);
            }
            Ok(read)
        }
    }

    deserializer.deserialize_seq(Each)
}

#[cfg(test)]
impl schemars::JsonSchema for Augmentation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Augmentation".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "transform" })
    }
}

/// How deep the containers in `value` stand in one another, as far as it matters.
fn depth(value: &Value) -> usize {
    fn of(value: &Value, left: usize) -> usize {
        let Some(Value::Array(transforms)) = value.get(TRANSFORMS) else { return 0 };
        if left == 0 {
            return 1;
        }
        1 + transforms.iter().map(|transform| of(transform, left - 1)).max().unwrap_or(0)
    }
    of(value, MAX_DEPTH)
}
