//! A `tf.train.Example` and its features, as TensorFlow's `example.proto` and `feature.proto` declare them.

use crate::field::{Field, FieldType, FieldValue};
use crate::source::classes::RawLabel;
#[cfg(feature = "pack")]
use std::collections::BTreeMap;

/// A record.
#[cfg(feature = "pack")]
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Example {
    #[prost(message, optional, tag = "1")]
    pub(super) features: Option<Features>,
}

/// Features by name.
#[cfg(feature = "pack")]
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Features {
    #[prost(btree_map = "string, message", tag = "1")]
    pub(super) feature: BTreeMap<String, Feature>,
}

/// One feature: a list of one of three kinds.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Feature {
    #[prost(oneof = "Kind", tags = "1, 2, 3")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(message, tag = "1")]
    Bytes(BytesList),
    #[prost(message, tag = "2")]
    Floats(FloatList),
    #[prost(message, tag = "3")]
    Integers(Int64List),
}

#[derive(Clone, PartialEq, prost::Message)]
struct BytesList {
    #[prost(bytes = "vec", repeated, tag = "1")]
    value: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FloatList {
    #[prost(float, repeated, tag = "1")]
    value: Vec<f32>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Int64List {
    #[prost(int64, repeated, tag = "1")]
    value: Vec<i64>,
}

#[cfg(feature = "pack")]
impl Feature {
    /// A feature of one text, or the bytes of one file.
    pub(crate) fn bytes(bytes: &[u8]) -> Self {
        Self { kind: Some(Kind::Bytes(BytesList { value: vec![bytes.to_vec()] })) }
    }

    /// A feature of several texts.
    pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let value = texts.into_iter().map(|text| text.as_bytes().to_vec()).collect();
        Self { kind: Some(Kind::Bytes(BytesList { value })) }
    }

    /// A feature of these numbers.
    pub(crate) fn integers(numbers: &[i64]) -> Self {
        Self { kind: Some(Kind::Integers(Int64List { value: numbers.to_vec() })) }
    }
}

impl Feature {
    /// The value of a field; nothing where the feature is empty.
    pub(super) fn value(&self, field: &Field) -> Result<Option<FieldValue>, String> {
        let (kind, from) = (field.kind(), field.stored_as());
        let (count, holds) = match &self.kind {
            None => return Ok(None),
            Some(Kind::Bytes(list)) => (list.value.len(), "text"),
            Some(Kind::Floats(list)) => (list.value.len(), "fractions"),
            Some(Kind::Integers(list)) => (list.value.len(), "whole numbers"),
        };
        match (&self.kind, kind) {
            (Some(Kind::Integers(list)), FieldType::Integers) => {
                return Ok(Some(FieldValue::Integers(list.value.clone())));
            }
            (Some(Kind::Integers(list)), FieldType::Floats) => {
                return Ok(Some(FieldValue::Floats(
                    list.value.iter().map(|number| *number as f64).collect(),
                )));
            }
            (Some(Kind::Floats(list)), FieldType::Floats) => {
                return Ok(Some(FieldValue::Floats(list.value.iter().copied().map(f64::from).collect())));
            }
            _ if count > 1 => {
                let remedy = match &self.kind {
                    Some(Kind::Bytes(_)) => "write one for each image",
                    _ => "write one for each image, or declare the field as a list of numbers",
                };
                return Err(format!("{field}: the feature `{from}` holds {count} values: {remedy}"));
            }
            _ => {}
        }
        match (&self.kind, kind) {
            _ if count == 0 => Ok(None),
            (Some(Kind::Bytes(list)), _) => list.value.first().map(|bytes| field.parse(bytes)).transpose(),
            (Some(Kind::Integers(list)), FieldType::Integer) => {
                Ok(list.value.first().map(|number| FieldValue::Integer(*number)))
            }
            (Some(Kind::Integers(list)), FieldType::Float) => {
                Ok(list.value.first().map(|number| FieldValue::Float(*number as f64)))
            }
            (Some(Kind::Floats(list)), FieldType::Float) => {
                Ok(list.value.first().map(|number| FieldValue::Float((*number).into())))
            }
            _ => {
                Err(format!("{field} is {kind}, and the feature `{from}` holds {holds}: declare it as such"))
            }
        }
    }

    /// The bytes in the feature.
    pub(super) fn as_bytes(&self) -> Option<&[u8]> {
        match &self.kind {
            Some(Kind::Bytes(list)) => list.value.first().map(Vec::as_slice),
            _ => None,
        }
    }

    /// The classes in the feature: indices, or names. One is a list of one only where all are `lists`.
    pub(super) fn class(&self, lists: bool) -> Result<RawLabel<'_>, String> {
        match &self.kind {
            None => Ok(RawLabel::Nothing),
            Some(Kind::Integers(list)) => match list.value[..] {
                [class] if !lists => Ok(RawLabel::Index(class)),
                _ => Ok(RawLabel::Indices(list.value.clone())),
            },
            Some(Kind::Bytes(list)) => match &list.value[..] {
                [] => Ok(RawLabel::Nothing),
                [name] if name.is_empty() => Ok(RawLabel::Nothing),
                [name] if !lists => as_name(name).map(RawLabel::Name),
                list => list.iter().map(|name| as_name(name)).collect::<Result<_, _>>().map(RawLabel::Names),
            },
            Some(Kind::Floats(_)) => Err("holds fractions: write the class as int64 or as text".to_owned()),
        }
    }
}

fn as_name(name: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(name).map_err(|_| "is not UTF-8: write the class as text, or as an index".to_owned())
}
