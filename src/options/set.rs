//! Options by name: a value from JSON, or a text as a command line and C have it.

use super::catalogue::find;
use super::wanted::wanted;
use super::{Entry, Options, ValueKind};
use crate::error::{Error, Result};
use serde_json::{Map, Number, Value, json};
use std::path::PathBuf;

impl Options {
    /// Reads options by name from JSON values, as Python hands them over; null means that nothing is said.
    ///
    /// # Errors
    /// Those of [`Options::set`].
    pub fn from_values(values: Map<String, Value>) -> Result<Self> {
        let mut options = Self::default();
        for (name, value) in values {
            options.set(&name, value)?;
        }
        Ok(options)
    }

    /// Sets the option that is called `name` (`batch_size`, `output.dtype`); null means that nothing is said.
    ///
    /// # Errors
    /// [`Error::Config`] with the option, the value, and what it may be.
    pub fn set(&mut self, name: &str, value: Value) -> Result<()> {
        let entry = find(name)?;
        let single: Self = serde_json::from_value(json!({ entry.section: { entry.key: &value } }))
            .map_err(|error| entry.refuse(name, &value, &error.to_string()))?;
        *self = single.or(std::mem::take(self));
        Ok(())
    }

    /// Sets the option that is called `name` to what `text` says: a word or a path as it is, anything else as TOML writes
    /// it, where a list may lack its brackets.
    ///
    /// # Errors
    /// Those of [`Options::set`].
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<()> {
        let value = read_text(find(name)?.value, text);
        self.set(name, value)
    }

    /// Sets the option that is called `name` to a path, which need not be UTF-8.
    ///
    /// # Errors
    /// [`Error::Config`] for an option that is no path.
    pub fn set_path(&mut self, name: &str, path: PathBuf) -> Result<()> {
        let entry = find(name)?;
        let shown = path.to_string_lossy().into_owned();
        match self.set_path_in(entry.section, entry.key, path) {
            true => Ok(()),
            false => Err(entry.refuse(name, &shown.into(), "this is no path")),
        }
    }

    /// What is said of the option that is called `name`, as JSON; null where nothing is.
    ///
    /// # Errors
    /// [`Error::Config`] with the nearest name where there is no such option.
    pub fn get(&self, name: &str) -> Result<Value> {
        let entry = find(name)?;
        let all = serde_json::to_value(self).map_err(|error| Error::config(error.to_string()))?;
        Ok(all[entry.section][entry.key].clone())
    }
}

impl Entry {
    fn refuse(&self, name: &str, value: &Value, error: &str) -> Error {
        let what = error.split(" at line ").next().unwrap_or_default();
        let remedy = format!("give {}", self.value);
        let is_negative = self.value == ValueKind::Integer && value.as_i64().is_some_and(|number| number < 0);
        Error::config(match wanted(what) {
            Some(_) if is_negative => format!("option {name} = {value}: it is below 0; {remedy}"),
            Some(_) => format!("option {name} = {value}: {remedy}"),
            // What a visitor says twice is said once.
            None => format!(
                "option {name} = {value}: {}; {remedy}",
                what.trim_end_matches(&format!("; {remedy}"))
            ),
        })
    }
}

fn read_text(kind: ValueKind, text: &str) -> Value {
    let is_list =
        matches!(kind, ValueKind::Sizes | ValueKind::Triple | ValueKind::Integers | ValueKind::Numbers);
    let bare = || Value::from(text);
    // TOML has no numbers like 08 and .5, and none above i64::MAX.
    let number = || match kind {
        ValueKind::Number => text.trim().parse().ok().and_then(Number::from_f64).map(Value::from),
        _ => text.trim().parse::<u64>().ok().map(Value::from),
    };
    // `skip-object` is usual on command lines, where the word is `skip_object`.
    if let ValueKind::Words(words) = kind
        && let Some(word) = words.iter().find(|word| is_same(word, text))
    {
        return (*word).into();
    }
    match kind {
        ValueKind::Text | ValueKind::Path | ValueKind::Words(_) | ValueKind::Device | ValueKind::Index => {
            toml_value(text).filter(|value| value.is_string()).unwrap_or_else(bare)
        }
        ValueKind::Flag => toml_value(text).unwrap_or_else(bare),
        ValueKind::Integer | ValueKind::Number | ValueKind::Bytes => {
            number().or_else(|| toml_value(text)).unwrap_or_else(bare)
        }
        ValueKind::Texts => {
            let is_list = |value: &Value| value.is_array();
            let json = serde_json::from_str(text).ok().filter(is_list);
            let whole = json.or_else(|| toml_value(text).filter(is_list));
            let words = || text.split(',').map(|word| word.trim().into()).collect();
            whole.or_else(|| toml_value(&format!("[{text}]"))).unwrap_or_else(|| Value::Array(words()))
        }
        ValueKind::DataSets => {
            let json = serde_json::from_str(text).ok().filter(Value::is_array);
            json.or_else(|| toml_value(text))
                .or_else(|| toml_value(&format!("[{text}]")))
                .unwrap_or_else(bare)
        }
        ValueKind::Fields | ValueKind::Renames => {
            let json = serde_json::from_str(text).ok().filter(Value::is_object);
            json.or_else(|| toml_value(text))
                .or_else(|| toml_value(&format!("{{{text}}}")))
                .unwrap_or_else(bare)
        }
        ValueKind::Size | ValueKind::Sizes | ValueKind::Triple | ValueKind::Integers | ValueKind::Numbers => {
            let whole = toml_value(text).filter(|value| !is_list || value.is_array() || value.is_string());
            whole.or_else(|| toml_value(&format!("[{text}]"))).unwrap_or_else(bare)
        }
    }
}

/// Whether two words differ in their dashes alone.
fn is_same(word: &str, text: &str) -> bool {
    word.replace('-', "_") == text.replace('-', "_")
}

/// A value as TOML writes it, with nothing but spaces and a comment around it.
pub(crate) fn toml_value(text: &str) -> Option<Value> {
    let mut table: toml::Table = format!("value = {text}").parse().ok()?;
    let only = table.len() == 1;
    // JSON has no number for `nan` and `inf`: as words they are refused, where null would leave the option unset.
    serde_json::to_value(table.remove("value").filter(|_| only)?).ok().filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Bytes, Listed};

    #[test]
    fn a_text_is_read_as_its_option_wants_it() {
        let mut options = Options::default();
        for (name, text) in [
            ("batch_size", "64"),
            ("output.size", "[224, 192]"),
            ("sizes", "32,[64, 96]"),
            ("mean", "0.5, 0.5, 0.5"),
            ("byte_cache", "4G"),
            ("labels.format", "\"cxcywh\""),
            ("box_unit", "normalized"),
            ("data", "2024"),
            ("classes", "car, traffic light"),
            ("rename", "automobile = \"car\""),
            ("sets", "{path = \"a\"}, {path = \"b\", split = \"val\"}"),
            ("subset", "7"),
            ("weights", "weights.txt"),
            ("exif", "false"),
            ("on_bad_label", "skip-object"),
            ("decoder", "nvjpeg_gpu"),
            ("seed", "18446744073709551615"),
            ("rank", "08"),
            ("min_area", ".5"),
            ("max_pixels", "1_000"),
        ] {
            options.set_text(name, text).unwrap();
        }
        assert_eq!(options.loader.byte_cache, Some(Bytes(4 << 30)));
        assert_eq!(options.get("size").unwrap(), json!([224, 192]));
        assert_eq!(options.get("sizes").unwrap(), json!([32, [64, 96]]));
        assert_eq!(options.normalize.mean, Some([0.5; 3]));
        assert_eq!(options.get("box_format").unwrap(), "cxcywh");
        assert_eq!(options.get("data.path").unwrap(), "2024");
        assert_eq!(options.get("classes").unwrap(), json!(["car", "traffic light"]));
        assert_eq!(options.get("rename").unwrap(), json!({"automobile": "car"}));
        assert_eq!(options.get("sets").unwrap(), json!([{"path": "a"}, {"path": "b", "split": "val"}]));
        assert_eq!(options.loader.subset, Some(Listed::List(vec![7])));
        assert_eq!(options.loader.weights, Some(Listed::File("weights.txt".into())));
        assert_eq!(options.decode.exif, Some(false));
        assert_eq!(options.get("on_bad_label").unwrap(), "skip_object");
        assert_eq!(options.get("decoder").unwrap(), "nvjpeg-gpu");
        assert_eq!((options.loader.seed, options.loader.rank), (Some(u64::MAX), Some(8)));
        assert_eq!((options.labels.min_area, options.decode.max_pixels), (Some(0.5), Some(1000)));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_need_not_be_text() {
        use std::os::unix::ffi::OsStringExt;
        let path = || PathBuf::from(std::ffi::OsString::from_vec(b"fotos-\xff.txt".to_vec()));
        let mut options = Options::default();
        for name in ["data", "mask_dir", "subset", "weights", "decode_index"] {
            options.set_path(name, path()).unwrap();
        }
        assert_eq!((&options.data.path, &options.data.mask_dir), (&Some(path()), &Some(path())));
        assert_eq!(options.loader.subset, Some(Listed::File(path())));
        assert_eq!(options.decode.index, Some(crate::index::IndexMode::File(path())));
        let refused = options.set_path("seed", path()).unwrap_err().to_string();
        assert!(refused.contains("option seed") && refused.contains("give a whole number"), "{refused}");
    }

    #[test]
    fn a_bad_value_is_named_with_its_option_and_what_it_may_be() {
        let refused =
            |name: &str, text: &str| Options::default().set_text(name, text).unwrap_err().to_string();
        let text = refused("batch_size", "many");
        assert!(
            text.contains("option batch_size = \"many\"") && text.contains("give a whole number"),
            "{text}"
        );
        let text = refused("dtype", "f64");
        assert_eq!(text, "option dtype = \"f64\": give `f32`, `f16`, `bf16` or `u8`");
        assert_eq!(refused("seed", "-1"), "option seed = -1: it is below 0; give a whole number");
        let text = refused("byte_cache", "4 pounds");
        assert_eq!(text.matches("give a number of bytes").count(), 1, "{text}");
        assert!(refused("byte_cache", "4 pounds").contains("64M"));
        assert!(refused("device", "gpu").contains("cuda:N"));
        assert!(refused("mean", "1, 2").contains("three numbers"));
        assert!(refused("multi_scale", "inf").contains("option multi_scale = \"inf\""));
        assert!(refused("min_area", "nan").contains("option min_area = \"nan\""));
    }

    #[test]
    fn what_lies_above_counts_and_what_contradicts_it_goes() {
        let of = |texts: &[(&str, &str)]| {
            let mut options = Options::default();
            texts.iter().for_each(|(name, text)| options.set_text(name, text).unwrap());
            options
        };
        let below = of(&[("shuffle_window", "100"), ("seed", "3"), ("normalize", "imagenet")]);
        let above = of(&[("shuffle", "true"), ("mean", "0,0,0"), ("std", "1,1,1")]);
        let both = above.over(below);
        assert_eq!(both, of(&[("shuffle", "true"), ("seed", "3"), ("mean", "0,0,0"), ("std", "1,1,1")]));
    }
}
