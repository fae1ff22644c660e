//! Fields: values beside an image, such as its caption, its metadata or a score.

mod kind;

pub use kind::FieldType;

use std::fmt;

/// Maximal number of fields of a source.
pub const MAX_FIELDS: usize = 64;
/// Maximal length of a field's name, and of the name that it is stored under, in bytes.
const MAX_NAME_BYTES: usize = 256;
/// What the arrays of a batch are called in Python, where a batch is one dict for arrays and fields.
pub const RESERVED: [&str; 25] = [
    "image",
    "views",
    "view_labels",
    "label",
    "index",
    "key",
    "status",
    "target",
    "masks",
    "semantic_masks",
    "mask",
    "size",
    "cls",
    "bboxes",
    "batch_idx",
    "keypoints",
    "share",
    "crowd",
    "points",
    "point_offsets",
    "polygon_offsets",
    "ori_shape",
    "resized_shape",
    "ratio_pad",
    "im_file",
];

/// What the offsets of lists of any length are called in Python, after the name of their field.
pub const OFFSETS: &str = "_offsets";

/// The value of a field in one record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldValue {
    /// Of [`FieldType::Text`].
    Text(String),
    /// Of [`FieldType::Bytes`], and the file of a picture.
    Bytes(Vec<u8>),
    /// Of [`FieldType::Json`]: its text.
    Json(String),
    /// Of [`FieldType::Integer`].
    Integer(i64),
    /// Of [`FieldType::Float`].
    Float(f64),
    /// Of [`FieldType::Integers`].
    Integers(Vec<i64>),
    /// Of [`FieldType::Floats`].
    Floats(Vec<f64>),
}

impl FieldValue {
    /// What it is.
    pub fn kind(&self) -> FieldType {
        match self {
            FieldValue::Text(_) => FieldType::Text,
            FieldValue::Bytes(_) => FieldType::Bytes,
            FieldValue::Json(_) => FieldType::Json,
            FieldValue::Integer(_) => FieldType::Integer,
            FieldValue::Float(_) => FieldType::Float,
            FieldValue::Integers(_) => FieldType::Integers,
            FieldValue::Floats(_) => FieldType::Floats,
        }
    }

    /// How many numbers a list has; nothing where it is none.
    pub fn list_len(&self) -> Option<usize> {
        match self {
            FieldValue::Integers(list) => Some(list.len()),
            FieldValue::Floats(list) => Some(list.len()),
            _ => None,
        }
    }
}

/// Conversions into values.
macro_rules! values {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for FieldValue {
            fn from(value: $type) -> Self {
                FieldValue::$variant(value.into())
            }
        }
    )*};
}

values! {
    &str => Text,
    String => Text,
    &[u8] => Bytes,
    Vec<u8> => Bytes,
    i64 => Integer,
    i32 => Integer,
    f64 => Float,
    f32 => Float,
    Vec<i64> => Integers,
    Vec<f64> => Floats,
}

impl From<serde_json::Value> for FieldValue {
    fn from(value: serde_json::Value) -> Self {
        FieldValue::Json(value.to_string())
    }
}

/// A field that a source is to read beside each image: what it is called in a batch, what its values are, and where they
/// are stored.
///
/// ```
/// use feedline::field::Field;
///
/// let caption = Field::text("caption").from("txt"); // of tar files the member `7.txt` beside `7.jpg`
/// let score = Field::float("score").default(0.0); // the column `score`; 0 where a row has none
/// assert_eq!((caption.stored_as(), score.stored_as()), ("txt", "score"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    name: String,
    kind: FieldType,
    from: Option<String>,
    default: Option<FieldValue>,
    length: Option<usize>,
}

impl Field {
    /// A field of this type, called `name` in a batch and where it is stored.
    pub fn new(name: impl Into<String>, kind: FieldType) -> Self {
        Self { name: name.into(), kind, from: None, default: None, length: None }
    }

    /// A field of text.
    pub fn text(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Text)
    }

    /// A field of bytes.
    pub fn bytes(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Bytes)
    }

    /// A field of JSON.
    pub fn json(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Json)
    }

    /// A field of whole numbers.
    pub fn integer(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Integer)
    }

    /// A field of numbers.
    pub fn float(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Float)
    }

    /// A field of second images.
    pub fn image(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Image)
    }

    /// A field of depth maps.
    pub fn depth(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Depth)
    }

    /// A field of lists of whole numbers.
    pub fn integers(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Integers)
    }

    /// A field of lists of numbers.
    pub fn floats(name: impl Into<String>) -> Self {
        Self::new(name, FieldType::Floats)
    }

    setters! {
        /// What it is called where it is stored, if that differs from its name: the ending of a tar file's members, a
        /// column, a feature, or the folder of second images.
        from: some into String;

        /// The value of records that have none. Without it they are bad samples.
        default: some into FieldValue;

        /// How many numbers each list has, so that those of a batch are one array `[rows, length]`. A list of another length is a
        /// bad sample. Without it lists may be of any length.
        length: some usize;
    }

    /// What it is called in a batch.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub fn kind(&self) -> FieldType {
        self.kind
    }

    /// What it is called where it is stored.
    pub fn stored_as(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.name)
    }

    /// The value of records that have none.
    pub fn default_value(&self) -> Option<&FieldValue> {
        self.default.as_ref()
    }

    /// How many numbers each list has; nothing where lists may be of any length.
    pub fn list_length(&self) -> Option<usize> {
        self.length
    }

    /// What is wrong with a value for this field: its type, or the length of a list.
    pub(crate) fn refuses(&self, value: &FieldValue) -> Option<String> {
        let (kind, found) = (value.kind(), value.list_len());
        match (kind == self.kind.stored(), self.length, found) {
            (false, ..) => {
                Some(format!("{self} is {}, and the value is {kind}: give one of that type", self.kind))
            }
            (true, Some(length), Some(found)) if length != found => Some(format!(
                "{self} has {found} numbers, and length = {length}: mend it, or leave length out for lists of any length"
            )),
            _ => None,
        }
    }

    /// The value that these bytes are, as a file holds them.
    ///
    /// # Errors
    /// What is wrong with them, and the remedy.
    pub(crate) fn parse(&self, bytes: &[u8]) -> Result<FieldValue, String> {
        if self.kind.stored() == FieldType::Bytes {
            return Ok(FieldValue::Bytes(bytes.to_vec()));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            format!(
                "{self} is not UTF-8 at byte {}: save it as UTF-8, or declare the field as bytes",
                error.valid_up_to()
            )
        })?;
        let number = |error: String, what: &str| {
            let shown: String = text.chars().take(40).collect();
            format!(
                "{self} is `{shown}`, which is no {what} ({error}): mend it, or declare the field as text"
            )
        };
        match self.kind {
            FieldType::Text | FieldType::Bytes | FieldType::Image | FieldType::Depth => {
                Ok(FieldValue::Text(text.to_owned()))
            }
            // As a value, since that is what takes no more levels than any reader of it takes.
            FieldType::Json => match serde_json::from_str::<serde_json::Value>(text) {
                Ok(_) => Ok(FieldValue::Json(text.to_owned())),
                Err(error) => {
                    Err(format!("{self} is no JSON ({error}): mend it, or declare the field as text"))
                }
            },
            FieldType::Integer => text
                .trim()
                .parse()
                .map(FieldValue::Integer)
                .map_err(|error: std::num::ParseIntError| number(error.to_string(), "whole number")),
            FieldType::Float => text
                .trim()
                .parse()
                .map(FieldValue::Float)
                .map_err(|error: std::num::ParseFloatError| number(error.to_string(), "number")),
            FieldType::Integers => {
                list(text).map(FieldValue::Integers).map_err(|error| number(error, "list of whole numbers"))
            }
            FieldType::Floats => {
                list(text).map(FieldValue::Floats).map_err(|error| number(error, "list of numbers"))
            }
        }
    }

    /// What is wrong with its names and its default.
    fn check(&self) -> Result<(), String> {
        let Self { name, kind, default, .. } = self;
        for text in [name, self.stored_as()] {
            if text.is_empty() || text.len() > MAX_NAME_BYTES || text.contains(char::is_control) {
                return Err(format!(
                    "the field `{}` is called by no name: give 1 to {MAX_NAME_BYTES} characters of text",
                    text.escape_debug().take(80).collect::<String>()
                ));
            }
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(format!(
                "the field `{name}` is called as an array that a batch has anyway: give it another name, and say that it \
                 comes from `{}`",
                self.stored_as()
            ));
        }
        if kind.is_picture() && default.is_some() {
            return Err(format!(
                "the field `{name}` is {kind}, and no picture takes the place of one that is missing: leave its default out"
            ));
        }
        match default {
            Some(value) if value.kind() != *kind => Err(format!(
                "the default of the field `{name}` is {}, and the field is {kind}: give a default of that type",
                value.kind()
            )),
            Some(FieldValue::Json(text)) => self.parse(text.as_bytes()).map(drop),
            _ if self.length.is_some() && !kind.is_list() => Err(format!(
                "the field `{name}` has a length and is {kind}: leave the length out, or declare it as a list of numbers"
            )),
            _ if self.length == Some(0) => {
                Err(format!("the field `{name}` has the length 0: give at least 1, or leave it out"))
            }
            Some(value) => self.refuses(value).map_or(Ok(()), |what| Err(format!("the default: {what}"))),
            None => Ok(()),
        }
    }
}

/// The numbers of a list: JSON, or with commas, semicolons or white space between.
fn list<T: std::str::FromStr<Err: fmt::Display>>(text: &str) -> Result<Vec<T>, String> {
    let text = text.trim();
    let inner = match text.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').ok_or("a bracket is not closed")?,
        None => text,
    };
    if inner.trim().is_empty() {
        return Ok(Vec::new());
    }
    let is_separator = |c: char| matches!(c, ',' | ';');
    let parse = |part: &str| part.parse().map_err(|error: T::Err| error.to_string());
    match inner.contains(is_separator) {
        true => inner.split(is_separator).map(|part| parse(part.trim())).collect(),
        false => inner.split_whitespace().map(parse).collect(),
    }
}

/// As it is called in messages: by its name, and by the one that it is stored under.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, from, .. } = self;
        match from {
            Some(from) if from != name => write!(f, "the field `{name}` (from `{from}`)"),
            _ => write!(f, "the field `{name}`"),
        }
    }
}

/// What is wrong with fields that are read together.
pub(crate) fn check(fields: &[Field]) -> Result<(), String> {
    if fields.len() > MAX_FIELDS {
        let count = fields.len();
        return Err(format!("there are {count} fields, and at most {MAX_FIELDS} are read: name fewer"));
    }
    fields.iter().try_for_each(Field::check)?;
    for (at, field) in fields.iter().enumerate() {
        if fields[..at].iter().any(|other| other.name == field.name) {
            return Err(format!("two fields are called `{}`: give each its own name", field.name));
        }
        let offsets = format!("{}{OFFSETS}", field.name);
        if field.kind.is_list() && fields.iter().any(|other| other.name == offsets) {
            return Err(format!(
                "the field `{offsets}` is called as the offsets of `{}`: give it another name",
                field.name
            ));
        }
        if field.kind.is_list() && RESERVED.contains(&offsets.as_str()) {
            return Err(format!(
                "the offsets of the field `{}` would be called `{offsets}`, as an array that a batch has anyway: give it another \
                 name, and say that it comes from `{}`",
                field.name,
                field.stored_as()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_values_of_the_fields_type() {
        let parsed = |field: Field, bytes: &[u8]| field.parse(bytes);
        assert_eq!(parsed(Field::text("a"), "ä\n".as_bytes()), Ok("ä\n".into()));
        assert_eq!(parsed(Field::bytes("a"), b"\xff"), Ok(FieldValue::Bytes(vec![0xFF])));
        assert_eq!(parsed(Field::json("a"), b" {\"b\": [1]}"), Ok(FieldValue::Json(" {\"b\": [1]}".into())));
        assert_eq!(parsed(Field::integer("a"), b" -7\n"), Ok(FieldValue::Integer(-7)));
        assert_eq!(parsed(Field::float("a"), b"0.5\n"), Ok(FieldValue::Float(0.5)));
    }

    #[test]
    fn lists_are_json_or_numbers_with_something_between() {
        let integers = |text: &str| Field::integers("a").parse(text.as_bytes());
        for text in ["[1, -2,3]", "1,-2,3", " 1 -2\t3\n", "1; -2;3", "[1 -2 3]"] {
            assert_eq!(integers(text), Ok(vec![1i64, -2, 3].into()), "{text}");
        }
        assert_eq!(
            (integers("[]"), integers(" ")),
            (Ok(Vec::<i64>::new().into()), Ok(Vec::<i64>::new().into()))
        );
        let floats = Field::floats("a").parse(b"[0.1, NaN, -inf, 1e3]").unwrap();
        let FieldValue::Floats(floats) = floats else { panic!("{floats:?}") };
        assert!(floats[1].is_nan());
        assert_eq!((floats[0], floats[2], floats[3]), (0.1, f64::NEG_INFINITY, 1000.0));
        for wrong in ["[1, 2", "1,,2", "1, a", "[1, 2.5]", "1,", "[[1]]"] {
            let says = integers(wrong).unwrap_err();
            assert!(says.contains("which is no list of whole numbers"), "{wrong}: {says}");
        }
        let refused = |fields: &[Field]| check(fields).unwrap_err();
        assert!(refused(&[Field::float("a").length(3)]).contains("has a length and is float"));
        assert!(refused(&[Field::floats("a").length(0)]).contains("has the length 0"));
        assert!(
            refused(&[Field::floats("a").length(2).default(vec![0.5])])
                .contains("has 1 numbers, and length = 2")
        );
        assert!(refused(&[Field::floats("a"), Field::text("a_offsets")]).contains("as the offsets of `a`"));
    }

    #[test]
    fn bytes_that_are_no_such_value_are_refused_with_the_place_and_the_remedy() {
        let refused = |field: Field, bytes: &[u8]| field.from("txt").parse(bytes).unwrap_err();
        let says = refused(Field::text("caption"), b"abc\xFFd");
        assert!(says.contains("`caption` (from `txt`) is not UTF-8 at byte 3: save it as UTF-8"), "{says}");
        assert!(refused(Field::json("a"), b"{\"a\": NaN}").contains("is no JSON (expected value at line 1"));
        assert!(refused(Field::json("a"), "[".repeat(1000).as_bytes()).contains("recursion limit"));
        assert!(refused(Field::integer("a"), b"1.5").contains("is `1.5`, which is no whole number"));
        assert!(refused(Field::float("a"), b"").contains("declare the field as text"));
    }

    #[test]
    fn fields_that_cannot_be_are_refused() {
        let refused = |fields: &[Field]| check(fields).unwrap_err();
        assert!(refused(&[Field::text("")]).contains("by no name"));
        assert!(refused(&[Field::text("a").from("b\n")]).contains("by no name"));
        assert!(refused(&[Field::text("label")]).contains("comes from `label`"));
        assert!(refused(&[Field::floats("point")]).contains("would be called `point_offsets`"));
        assert!(refused(&[Field::text("a"), Field::json("a")]).contains("two fields are called `a`"));
        assert!(refused(&[Field::text("a").default(1)]).contains("is integer, and the field is text"));
        let many: Vec<Field> = (0..=MAX_FIELDS).map(|number| Field::text(number.to_string())).collect();
        assert!(refused(&many).contains("65 fields"));
        assert_eq!(check(&[Field::text("a").default(""), Field::json("b").from("a")]), Ok(()));
    }
}
