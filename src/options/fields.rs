//! Asks a type for the names of its fields, so that error messages need no second list of them.

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// The fields of a struct, or the words of an enum, that derives `Deserialize`; empty for other types.
pub(crate) fn of<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    T::deserialize(Ask).err().map_or(&[], |Answer(names)| names)
}

/// A deserializer that never gives a value: it notes the names it is asked for and stops.
pub(crate) struct Ask;

/// The names that [`Ask`] was asked for, handed out as an error.
#[derive(Debug)]
pub(crate) struct Answer(pub(crate) &'static [&'static str]);

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Answer {}

impl Error for Answer {
    fn custom<T: std::fmt::Display>(_message: T) -> Self {
        Answer(&[])
    }
}

impl<'de> Deserializer<'de> for Ask {
    type Error = Answer;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Answer> {
        Err(Answer(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Answer> {
        Err(Answer(fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Answer> {
        Err(Answer(variants))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
