//! Fields as an option: their names with their types, or with all that there is to say of them.

use super::nearest::hint;
use super::value::{Value, ValueKind};
use crate::field::{Field, FieldType, FieldValue};
use serde::de::{Deserializer, Error};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

/// Fields by name, in the order of their names. Each is its type (`"text"`, `"bytes"`, `"json"`, `"integer"`,
/// `"float"`, `"integers"`, `"floats"`, `"image"` or `"depth"`) or an object:
/// `{ type = "text", from = "txt", default = "" }`, and with `length` for lists that are all as long.
///
/// ```
/// use feedline::field::Field;
/// use feedline::options::Options;
///
/// let mut options = Options::default();
/// options.set_text("fields", r#"caption = { type = "text", from = "txt" }, score = "float""#)?;
/// let fields = options.data.fields.as_ref().map(|fields| fields.0.clone());
/// assert_eq!(fields, Some(vec![Field::text("caption").from("txt"), Field::float("score")]));
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(pub Vec<Field>);

/// A field in full.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InFull {
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    from: Option<String>,
    /// Null is one too: it stands for a number that is not finite, which must not be lost.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "given")]
    default: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    length: Option<usize>,
}

fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(deserializer).map(Some)
}

impl Value for Fields {
    fn kind() -> ValueKind {
        ValueKind::Fields
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for field in &self.0 {
            let kind = field.kind().word();
            let from = Some(field.stored_as()).filter(|from| *from != field.name()).map(str::to_owned);
            let default = field.default_value().map(as_json);
            let length = field.list_length();
            match (&from, &default, length) {
                (None, None, None) => map.serialize_entry(field.name(), kind)?,
                _ => {
                    map.serialize_entry(
                        field.name(),
                        &InFull { kind: kind.to_owned(), from, default, length },
                    )?;
                }
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::<String, serde_json::Value>::deserialize(deserializer)?;
        let mut fields = map
            .into_iter()
            .map(|(name, value)| {
                field(&name, value).map_err(|what| Error::custom(format!("`{name}`: {what}")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        fields.sort_by(|a, b| a.name().cmp(b.name()));
        crate::field::check(&fields).map_err(Error::custom)?;
        Ok(Self(fields))
    }
}

fn field(name: &str, value: serde_json::Value) -> Result<Field, String> {
    let full = match value {
        serde_json::Value::String(kind) => InFull { kind, ..InFull::default() },
        value => InFull::deserialize(value).map_err(|error| error.to_string())?,
    };
    let kind = FieldType::deserialize(json!(full.kind)).map_err(|_| {
        format!("no type is called `{}`{}", full.kind, hint(&full.kind, super::fields::of::<FieldType>()))
    })?;
    let mut field = Field::new(name, kind);
    if let Some(from) = full.from {
        field = field.from(from);
    }
    if let Some(length) = full.length {
        field = field.length(length);
    }
    match full.default {
        Some(value) => Ok(field.default(of_json(kind, value)?)),
        None => Ok(field),
    }
}

/// A default as it is written. Bytes are written as text, as far as they are text.
fn as_json(value: &FieldValue) -> serde_json::Value {
    match value {
        FieldValue::Text(text) => json!(text),
        FieldValue::Bytes(bytes) => json!(String::from_utf8_lossy(bytes)),
        FieldValue::Json(text) => serde_json::from_str(text).unwrap_or_default(),
        FieldValue::Integer(number) => json!(number),
        // JSON has no number for these.
        FieldValue::Float(number) if !number.is_finite() => json!(number.to_string().to_lowercase()),
        FieldValue::Float(number) => json!(number),
        FieldValue::Integers(list) => json!(list),
        FieldValue::Floats(list) => list.iter().map(|number| as_json(&FieldValue::Float(*number))).collect(),
    }
}

fn as_float(value: &serde_json::Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn of_json(kind: FieldType, value: serde_json::Value) -> Result<FieldValue, String> {
    let read = match kind {
        FieldType::Text => value.as_str().map(FieldValue::from),
        FieldType::Bytes | FieldType::Image | FieldType::Depth => {
            value.as_str().map(|text| FieldValue::from(text.as_bytes()))
        }
        FieldType::Json => Some(FieldValue::from(value.clone())),
        FieldType::Integer => value.as_i64().map(FieldValue::from),
        FieldType::Float => as_float(&value).map(FieldValue::from),
        FieldType::Integers => value
            .as_array()
            .and_then(|list| list.iter().map(|v| v.as_i64()).collect())
            .map(FieldValue::Integers),
        FieldType::Floats => {
            value.as_array().and_then(|list| list.iter().map(as_float).collect()).map(FieldValue::Floats)
        }
    };
    let not_finite = match kind {
        FieldType::Float | FieldType::Floats => r#", with "nan", "inf" and "-inf" as texts"#,
        _ => "",
    };
    read.ok_or_else(|| {
        format!("the default {value} is no {kind}: give one of that type{not_finite}, or leave it out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Fields, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_read_and_written_in_their_short_and_in_their_full_form() {
        let lists = r#"{"a":{"default":[1,2],"length":2,"type":"integers"},"b":{"default":["inf",0.5],"type":"floats"},"c":"floats"}"#;
        let value: serde_json::Value = serde_json::from_str(lists).unwrap();
        assert_eq!(serde_json::to_value(read(lists).unwrap()).unwrap(), value);
        let text = r#"{"a":{"default":0.5,"from":"b","type":"float"},"b":"json","c":{"default":{"d":[1]},"type":"json"},
                       "d":{"default":"e","type":"bytes"}}"#;
        let fields = read(text).unwrap();
        let defaults: Vec<_> = fields.0.iter().map(|field| field.default_value().cloned()).collect();
        let json = FieldValue::Json(r#"{"d":[1]}"#.into());
        assert_eq!(defaults, [Some(0.5.into()), None, Some(json), Some(FieldValue::Bytes(b"e".to_vec()))]);
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_value(&fields).unwrap(), value);
    }

    #[test]
    fn numbers_that_are_not_finite_are_texts_and_never_lost() {
        let text = r#"{"a":{"default":"nan","type":"float"},"b":{"default":"-inf","type":"float"},"c":{"default":["inf","nan"],"type":"floats"}}"#;
        let fields = read(text).unwrap();
        assert!(matches!(fields.0[0].default_value(), Some(FieldValue::Float(number)) if number.is_nan()));
        assert_eq!(fields.0[1].default_value(), Some(&FieldValue::Float(f64::NEG_INFINITY)));
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_value(&fields).unwrap(), value);
        // As a recipe has them, and as an option's text.
        for (kind, number) in [("float", "nan"), ("float", "-inf"), ("floats", "[1.0, inf]")] {
            let toml = format!("a = {{ type = \"{kind}\", default = {number} }}");
            let of_recipe = toml::from_str::<Fields>(&toml).unwrap_err().to_string();
            let of_text =
                crate::options::Options::default().set_text("fields", &toml).unwrap_err().to_string();
            for says in [of_recipe, of_text] {
                assert!(
                    says.contains("null") && says.contains(r#""nan", "inf" and "-inf" as texts"#),
                    "{says}"
                );
            }
        }
        assert!(read(r#"{"a": {"type": "integer", "default": null}}"#).unwrap_err().contains("leave it out"));
        let json = read(r#"{"a": {"type": "json", "default": null}}"#).unwrap();
        assert_eq!(json.0[0].default_value(), Some(&FieldValue::Json("null".into())));
    }

    #[test]
    fn what_is_no_field_is_refused_with_what_it_may_be() {
        let refused = |text: &str| read(text).unwrap_err();
        let says = refused(r#"{"caption": "texts"}"#);
        assert!(says.contains("`caption`: no type is called `texts`: did you mean `text`?"), "{says}");
        assert!(refused(r#"{"a": {"type": "text", "form": "txt"}}"#).contains("unknown field `form`"));
        assert!(refused(r#"{"a": {"from": "txt"}}"#).contains("missing field `type`"));
        assert!(refused(r#"{"a": {"type": "integer", "default": 0.5}}"#).contains("0.5 is no integer"));
        assert!(refused(r#"{"label": "integer"}"#).contains("give it another name"));
        assert!(refused(r#"["caption"]"#).contains("expected a map"));
    }
}
