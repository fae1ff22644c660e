//! A parameter of a recipe: a named value that its text leaves open, with a default, a range and a meaning.

use super::text::Page;
use crate::error::{Error, Result};
use crate::options::{Options, alternatives, fields, toml_value};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// Most parameters of a recipe.
pub const MAX_PARAMETERS: usize = 64;
/// The key of the table that declares them.
pub(super) const SECTION: &str = "parameters";
/// Most numbers of a parameter that is a list.
const MAX_NUMBERS: usize = 4;
/// Largest name, word or text, in bytes.
const MAX_TEXT: usize = 256;
/// What a parameter cannot be called besides options: words by which some face takes something else.
const TAKEN: [&str; 17] = [
    "as_tuple",
    "cls_dtype",
    "collate",
    "columns",
    "drop_last",
    "framework",
    "label_smoothing",
    "num_classes",
    "param",
    "params",
    "persistent_workers",
    "recipe",
    "recipe_text",
    "recipes",
    "self",
    "transforms",
    "views",
];

/// A parameter, as a recipe declares it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parameter {
    /// What it is called: an identifier that no option has as its name.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: ParameterKind,
    /// The value where none is given, as JSON.
    pub default: Value,
    /// The smallest number that it may be, each number of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest number that it may be, each number of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// What it may be, if it is a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// What it means, in one line.
    pub about: String,
}

/// What the values of a parameter are; its default says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ParameterKind {
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// One of several words.
    Word,
    /// Any text, which the augmentation that takes it reads.
    Text,
    /// As many whole numbers as the default has.
    Integers,
    /// As many numbers as the default has.
    Floats,
}

/// The table of a declaration.
#[derive(Deserialize)]
struct Declaration {
    default: toml::Value,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    words: Vec<String>,
    about: String,
}

/// The parameters that a text declares, in their order, each with its place; they are taken out of `top`.
pub(super) fn declared(page: &Page<'_>, top: &mut DeTable<'_>) -> Result<Vec<(Parameter, Range<usize>)>> {
    let Some(section) = top.remove(SECTION) else { return Ok(Vec::new()) };
    let span = section.span();
    let DeValue::Table(tables) = section.into_inner() else {
        return Err(page.error(&span, &format!("{SECTION} must be a table: write [{SECTION}]")));
    };
    if tables.len() > MAX_PARAMETERS {
        let message =
            format!("a recipe may have {MAX_PARAMETERS} parameters, and this one has {}", tables.len());
        return Err(page.error(&span, &message));
    }
    let mut tables: Vec<_> = tables.into_iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    let read = |(name, table): (Spanned<_>, _)| {
        let place = name.span();
        Ok((read(page, &name, table)?, place))
    };
    tables.into_iter().map(read).collect()
}

fn read(
    page: &Page<'_>,
    name: &Spanned<toml::de::DeString<'_>>,
    table: Spanned<DeValue<'_>>,
) -> Result<Parameter> {
    let (span, place) = (name.span(), name.get_ref().as_ref());
    let refuse = |message: &str| page.error(&span, &format!("parameter `{place}`: {message}"));
    if let Some(wrong) = wrong_name(place) {
        return Err(refuse(&wrong));
    }
    let DeValue::Table(keys) = table.get_ref() else {
        return Err(refuse(
            "give a table: { default = 0.5, min = 0.0, max = 1.0, about = \"what it means\" }",
        ));
    };
    let known = fields::of::<Declaration>();
    page.check_keys(&format!("parameter `{place}`"), keys, known, |key| known.contains(&key))?;
    let at = table.span();
    let declaration = Declaration::deserialize(ValueDeserializer::from(table)).map_err(|error| {
        let message = error.message().trim().replace('\n', ", ");
        page.error(&error.span().unwrap_or(at), &format!("parameter `{place}`: {message}"))
    })?;
    declaration.parameter(place).map_err(|message| refuse(&message))
}

fn wrong_name(name: &str) -> Option<String> {
    if !is_name(name) {
        Some(format!(
            "a name has letters, digits and _, begins with no digit, and has at most {MAX_TEXT} bytes"
        ))
    } else if Options::knows(name) {
        Some("there is an option of this name, which is set beside the recipe: call it otherwise".into())
    } else if TAKEN.contains(&name) {
        Some("a loader takes something else by this name: call it otherwise".into())
    } else {
        None
    }
}

/// Whether a parameter may be called so, other names apart.
pub(super) fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= MAX_TEXT
        && name.bytes().all(is_word)
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

impl Declaration {
    fn parameter(self, name: &str) -> Result<Parameter, String> {
        let Self { default, min, max, words, about } = self;
        let kind = match &default {
            toml::Value::Integer(_) => ParameterKind::Integer,
            toml::Value::Float(_) => ParameterKind::Float,
            toml::Value::Boolean(_) => ParameterKind::Bool,
            toml::Value::String(_) if words.is_empty() => ParameterKind::Text,
            toml::Value::String(_) => ParameterKind::Word,
            toml::Value::Array(list) if (1..=MAX_NUMBERS).contains(&list.len()) => {
                let is_whole = |number: &toml::Value| number.is_integer();
                if list.iter().all(is_whole) { ParameterKind::Integers } else { ParameterKind::Floats }
            }
            _ => {
                return Err(format!(
                    "the default must be a number, true or false, a text, or a list of 1 to {MAX_NUMBERS} numbers"
                ));
            }
        };
        if (min.is_some() || max.is_some()) && !kind.is_number() {
            return Err("min and max are for numbers: leave them out".into());
        }
        if !words.is_empty() && kind != ParameterKind::Word {
            return Err("words are for texts: leave them out, or give one of them as the default".into());
        }
        if about.trim().is_empty() || about.contains(['\n', '\r']) {
            return Err("about must say in one line what it means".into());
        }
        // JSON has no other numbers.
        if !is_finite(&default) || ![min, max].iter().flatten().all(|bound| bound.is_finite()) {
            return Err("default, min and max must be finite".into());
        }
        let default = serde_json::to_value(default).unwrap_or_default();
        let mut parameter = Parameter {
            name: name.into(),
            kind,
            default: Value::Null,
            min,
            max,
            words,
            about: about.trim().into(),
        };
        parameter.default = match parameter.read(&default, default.as_array().map(Vec::len)) {
            Ok(default) => default,
            Err(why) => return Err(format!("default = {default}: {why}")),
        };
        Ok(parameter)
    }
}

fn is_finite(value: &toml::Value) -> bool {
    match value {
        toml::Value::Float(number) => number.is_finite(),
        toml::Value::Array(list) => list.iter().all(is_finite),
        _ => true,
    }
}

impl ParameterKind {
    fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Integers | Self::Floats)
    }
}

impl Parameter {
    /// The default as it is written on a command line: words and texts bare, anything else as JSON.
    pub fn default_text(&self) -> String {
        self.default.as_str().map_or_else(|| self.default.to_string(), str::to_owned)
    }

    /// What a value may be, in words: `a number from 0 to 1`.
    pub fn may_be(&self) -> String {
        let range = match (self.min, self.max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            (Some(min), None) => format!(" from {min}"),
            (None, Some(max)) => format!(" up to {max}"),
            (None, None) => String::new(),
        };
        match self.kind {
            ParameterKind::Integer => format!("a whole number{range}"),
            ParameterKind::Float => format!("a number{range}"),
            ParameterKind::Bool => "true or false".into(),
            ParameterKind::Text => "a text".into(),
            ParameterKind::Word => alternatives(self.words.iter().map(|word| format!("`{word}`"))),
            ParameterKind::Integers => format!("{} whole numbers{range}", self.length()),
            ParameterKind::Floats => format!("{} numbers{range}", self.length()),
        }
    }

    /// How many numbers a list has.
    fn length(&self) -> usize {
        self.default.as_array().map_or(1, Vec::len)
    }

    /// The value as the recipe takes it.
    ///
    /// # Errors
    /// [`Error::Config`] with the parameter, the recipe, the value, and what it may be.
    pub(super) fn check(&self, recipe: &str, value: &Value) -> Result<Value> {
        self.read(value, Some(self.length())).map_err(|why| {
            let name = &self.name;
            Error::config(format!("parameter {name} of {recipe} = {value}: {why}; give {}", self.may_be()))
        })
    }

    /// The value of its kind, or what is wrong with it; a list has `length` numbers.
    fn read(&self, value: &Value, length: Option<usize>) -> Result<Value, String> {
        let list = || {
            let list = value.as_array().filter(|list| Some(list.len()) == length);
            list.ok_or_else(|| "this is no list of so many numbers".to_owned())
        };
        match self.kind {
            ParameterKind::Integer => self.integer(value),
            ParameterKind::Float => self.float(value),
            ParameterKind::Integers => list()?.iter().map(|each| self.integer(each)).collect(),
            ParameterKind::Floats => list()?.iter().map(|each| self.float(each)).collect(),
            ParameterKind::Bool if value.is_boolean() => Ok(value.clone()),
            ParameterKind::Bool => Err("this is neither".into()),
            ParameterKind::Text | ParameterKind::Word => match value.as_str() {
                None => Err("this is no text".into()),
                Some(text) if text.len() > MAX_TEXT => {
                    Err(format!("this is a text of more than {MAX_TEXT} bytes"))
                }
                Some(text)
                    if self.kind == ParameterKind::Word && !self.words.iter().any(|word| word == text) =>
                {
                    Err("this is none of its words".into())
                }
                Some(_) => Ok(value.clone()),
            },
        }
    }

    fn integer(&self, value: &Value) -> Result<Value, String> {
        let number = value.as_i64().ok_or("this is no whole number")?;
        self.within(number as f64)?;
        Ok(number.into())
    }

    fn float(&self, value: &Value) -> Result<Value, String> {
        let number = value.as_f64().ok_or("this is no number")?;
        self.within(number)?;
        Number::from_f64(number).map(Value::Number).ok_or_else(|| "this is not finite".into())
    }

    fn within(&self, number: f64) -> Result<(), String> {
        match (self.min, self.max) {
            (Some(min), _) if number < min => Err("this is too small".into()),
            (_, Some(max)) if number > max => Err("this is too large".into()),
            _ => Ok(()),
        }
    }

    /// What `text` says, as a command line and C have it: a word or a text as it is, or as TOML writes it; a list may lack
    /// its brackets.
    pub(super) fn of_text(&self, text: &str) -> Value {
        let bare = || Value::from(text);
        match self.kind {
            ParameterKind::Word | ParameterKind::Text => {
                toml_value(text).filter(Value::is_string).unwrap_or_else(bare)
            }
            ParameterKind::Integers | ParameterKind::Floats => {
                let list = toml_value(text).filter(Value::is_array);
                list.or_else(|| toml_value(&format!("[{text}]"))).unwrap_or_else(bare)
            }
            // TOML has no number like .5.
            ParameterKind::Float => {
                let number = text.trim().parse().ok().and_then(Number::from_f64).map(Value::from);
                number.unwrap_or_else(bare)
            }
            ParameterKind::Integer | ParameterKind::Bool => toml_value(text).unwrap_or_else(bare),
        }
    }
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Word => "word",
            Self::Text => "text",
            Self::Integers => "integers",
            Self::Floats => "floats",
        })
    }
}
