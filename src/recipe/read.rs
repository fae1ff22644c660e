//! From TOML text to a recipe, with the line of whatever is wrong.

use super::fields::{self, Answer, Ask};
use super::{
    DecodeSection, LabelsSection, LoaderSection, MAX_BYTES, NormalizeSection, OutputSection, Recipe, nearest,
    too_large,
};
use crate::augment::{Augment, Augmentation};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// What stands at the top besides the augmentations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Top {
    name: String,
    #[serde(default)]
    decode_only: bool,
    #[serde(default)]
    output: OutputSection,
    normalize: Option<NormalizeSection>,
    #[serde(default)]
    loader: LoaderSection,
    #[serde(default)]
    labels: LabelsSection,
    #[serde(default)]
    decode: DecodeSection,
}

/// Reads `text`; errors begin with `origin` and the line.
pub(super) fn read(text: &str, origin: &str) -> Result<Recipe> {
    if text.len() > MAX_BYTES {
        return Err(too_large(origin));
    }
    let page = Page { text, origin };
    let mut top = DeTable::parse(text).map_err(|error| page.refuse(&(0..0), &error))?;
    page.check_top(top.get_ref())?;
    let augment = top.get_mut().remove("augment").map_or(Ok(Vec::new()), |list| page.augmentations(list))?;
    let span = top.span();
    let Top { name, decode_only, output, normalize, loader, labels, decode } =
        Top::deserialize(toml::Deserializer::from(top)).map_err(|error| page.refuse(&span, &error))?;
    let recipe = Recipe { name, decode_only, output, normalize, loader, labels, decode, augment };
    recipe.check().map_err(|error| Error::config(format!("{origin}: {error}")))?;
    Ok(recipe)
}

struct Page<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Page<'_> {
    fn error(&self, place: &Range<usize>, message: &str) -> Error {
        let before = &self.text.as_bytes()[..place.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Error::config(format!("{}:{line}: {message}", self.origin))
    }

    /// An error of the parser, which mostly knows its place better than `place`.
    fn refuse(&self, place: &Range<usize>, error: &toml::de::Error) -> Error {
        let message = error.message().trim().replace('\n', ", ");
        self.error(&error.span().unwrap_or_else(|| place.clone()), &message)
    }

    fn check_top(&self, top: &DeTable<'_>) -> Result<()> {
        let keys = [&["augment"], fields::of::<Top>()].concat();
        self.check_keys("a recipe", top, &keys)?;
        let sections: [(&str, &[&str]); 5] = [
            ("output", fields::of::<OutputSection>()),
            ("normalize", fields::of::<NormalizeSection>()),
            ("loader", fields::of::<LoaderSection>()),
            ("labels", fields::of::<LabelsSection>()),
            ("decode", fields::of::<DecodeSection>()),
        ];
        for (section, keys) in sections {
            if let Some(table) = top.get(section).and_then(|value| value.get_ref().as_table()) {
                self.check_keys(&format!("[{section}]"), table, keys)?;
            }
        }
        Ok(())
    }

    fn check_keys(&self, of: &str, table: &DeTable<'_>, known: &[&str]) -> Result<()> {
        match table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => {
                let hint = nearest::hint(key.get_ref(), known);
                let message = format!("{of} has no key `{}`{hint}", key.get_ref());
                Err(self.error(&key.span(), &message))
            }
        }
    }

    fn augmentations(&self, list: Spanned<DeValue<'_>>) -> Result<Vec<Augmentation>> {
        let place = list.span();
        match list.into_inner() {
            DeValue::Array(tables) => tables.into_iter().map(|table| self.augmentation(table)).collect(),
            _ => Err(self.error(&place, "augment must be a list of tables: write [[augment]]")),
        }
    }

    fn augmentation(&self, table: Spanned<DeValue<'_>>) -> Result<Augmentation> {
        let place = table.span();
        let DeValue::Table(mut arguments) = table.into_inner() else {
            return Err(self.error(&place, "augment must be a list of tables: write [[augment]]"));
        };
        let Some(op) = arguments.remove("op") else {
            let hint = nearest::hint("", Augmentation::NAMES);
            return Err(self.error(&place, &format!("this augmentation has no op{hint}")));
        };
        let name = match op.get_ref().as_str() {
            Some(name) if Augmentation::NAMES.contains(&name) => name,
            other => {
                let name = other.unwrap_or("");
                let message = format!("unknown op `{name}`{}", nearest::hint(name, Augmentation::NAMES));
                return Err(self.error(&op.span(), &message));
            }
        };
        if let Err(Answer(keys)) = Augmentation::read(name, Ask) {
            self.check_keys(name, &arguments, &[&["op"], keys].concat())?;
        }
        let value = Spanned::new(place.clone(), DeValue::Table(arguments));
        let augmentation = Augmentation::read(name, ValueDeserializer::from(value)).map_err(|error| {
            let named = format!("{name}: {}", error.message().trim().replace('\n', ", "));
            self.error(&error.span().unwrap_or_else(|| place.clone()), &named)
        })?;
        augmentation.check().map_err(|error| self.error(&place, &error.to_string()))?;
        Ok(augmentation)
    }
}
