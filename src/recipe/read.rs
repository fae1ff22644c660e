//! From TOML text to a recipe, with the line of whatever is wrong.

use super::{MAX_BYTES, Recipe, too_large};
use crate::augment::{Augment, Augmentation};
use crate::error::{Error, Result};
use crate::options::fields::{self, Answer, Ask};
use crate::options::{Options, is_key, keys, nearest};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// What stands ahead of the sections.
#[derive(Deserialize)]
struct Head {
    name: String,
    /// Of `[output]`, where recipes mostly have nothing else to say then.
    decode_only: Option<bool>,
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
    let mut head = DeTable::new();
    for key in fields::of::<Head>() {
        head.extend(top.get_mut().remove_entry(*key));
    }
    let head = toml::Deserializer::from(Spanned::new(span.clone(), head));
    let Head { name, decode_only } = Head::deserialize(head).map_err(|error| page.refuse(&span, &error))?;
    let mut options =
        Options::deserialize(toml::Deserializer::from(top)).map_err(|error| page.refuse(&span, &error))?;
    if decode_only.is_some() && options.output.decode_only.is_some() {
        let message = "decode_only stands at the top and under [output] as well: leave one of them out";
        return Err(page.error(&span, message));
    }
    options.output.decode_only = decode_only.or(options.output.decode_only);
    let recipe = Recipe { name, options, augment };
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
        let sections = fields::of::<Options>();
        let known = [&["augment"], fields::of::<Head>(), sections].concat();
        self.check_keys("a recipe", top, &known, |key| known.contains(&key))?;
        for section in sections {
            if let Some(table) = top.get(*section).and_then(|value| value.get_ref().as_table()) {
                let is_known = |key: &str| is_key(section, key);
                self.check_keys(&format!("[{section}]"), table, &keys(section), is_known)?;
            }
        }
        Ok(())
    }

    fn check_keys(
        &self,
        of: &str,
        table: &DeTable<'_>,
        known: &[&str],
        is_known: impl Fn(&str) -> bool,
    ) -> Result<()> {
        match table.keys().find(|key| !is_known(key.get_ref().as_ref())) {
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
            let known = [&["op"], keys].concat();
            self.check_keys(name, &arguments, &known, |key| known.contains(&key))?;
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
