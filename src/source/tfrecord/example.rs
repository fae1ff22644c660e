//! A feature of a `tf.train.Example`, as TensorFlow's `feature.proto` declares it.

use crate::source::classes::Said;

/// One feature: a list of one of three kinds.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Feature {
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

impl Feature {
    /// The class that the feature says: one index, or one name.
    pub(super) fn class(&self) -> Result<Said<'_>, String> {
        let one = "each image must have one class";
        match &self.kind {
            None => Ok(Said::Nothing),
            Some(Kind::Integers(list)) => match list.value[..] {
                [] => Ok(Said::Nothing),
                [class] => Ok(Said::Index(class)),
                _ => Err(format!("holds {} numbers: {one}", list.value.len())),
            },
            Some(Kind::Bytes(list)) => match &list.value[..] {
                [] => Ok(Said::Nothing),
                [name] if name.is_empty() => Ok(Said::Nothing),
                [name] => std::str::from_utf8(name)
                    .map(Said::Name)
                    .map_err(|_| "is not UTF-8: write the class as text, or as an index".to_owned()),
                list => Err(format!("holds {} texts: {one}", list.len())),
            },
            Some(Kind::Floats(_)) => Err("holds fractions: write the class as int64 or as text".to_owned()),
        }
    }
}
