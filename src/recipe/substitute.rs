//! Puts values in the places of a recipe's parameters: `"$mosaic"` stands wherever a value may stand.
//!
//! The values take the places of the texts in the parsed document, each with the span of the text. So what is read
//! afterwards is a recipe as it always was, and its errors name the line of the place.

use super::parameter::{Parameter, is_name};
use super::text::Page;
use crate::error::{Error, Result};
use crate::options::nearest;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The key by which a table of a list is left out where its value is 0 or false.
const WHEN: &str = "when";
/// Values by the names of their parameters.
pub(super) type Values = BTreeMap<String, Value>;

/// The value of each parameter, the given one or else its default: as TOML writes it, a text as it is.
pub(super) fn texts<'d>(declared: &'d [(Parameter, Range<usize>)], given: &Values) -> Vec<(&'d str, Text)> {
    let text = |one: &Parameter| match given.get(&one.name).unwrap_or(&one.default) {
        Value::String(text) => Text::Bare(text.clone()),
        // A number or a list of numbers is the same in both.
        value => Text::Toml(value.to_string()),
    };
    declared.iter().map(|(one, _)| (one.name.as_str(), text(one))).collect()
}

/// A value that has not been read yet.
pub(super) enum Text {
    Toml(String),
    Bare(String),
}

/// Puts the values in all of their places below `top`.
pub(super) fn substitute<'a>(
    page: &Page<'a>,
    top: &mut DeTable<'a>,
    declared: &[(Parameter, Range<usize>)],
    texts: &'a [(&str, Text)],
) -> Result<()> {
    let mut values = BTreeMap::new();
    for (name, text) in texts {
        let value = match text {
            Text::Bare(text) => DeValue::String(text.as_str().into()),
            Text::Toml(text) => {
                DeValue::parse(text).map_err(|error| page.refuse(&(0..0), &error))?.into_inner()
            }
        };
        values.insert(*name, value);
    }
    let mut work = Substitution { page, values, used: BTreeSet::new() };
    work.table(top)?;
    match declared.iter().find(|(one, _)| !work.used.contains(one.name.as_str())) {
        None => Ok(()),
        Some((Parameter { name, .. }, place)) => {
            let message = format!(
                "nothing uses the parameter `{name}`: write \"${name}\" where its value belongs, or leave it out"
            );
            Err(page.error(place, &message))
        }
    }
}

/// The name in a text that stands for a parameter.
fn placeholder(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|name| is_name(name))
}

/// Whether a text has dollars and then a name: one dollar stands for a parameter, and of several one is taken away.
fn has_dollars(text: &str) -> bool {
    text.starts_with('$') && is_name(text.trim_start_matches('$'))
}

/// Writes texts that would be taken for parameters so that they are read as they are; whether there was any.
pub(super) fn escape(value: &mut toml::Value) -> bool {
    match value {
        toml::Value::String(text) if has_dollars(text) => {
            text.insert(0, '$');
            true
        }
        toml::Value::Array(list) => list.iter_mut().fold(false, |any, each| escape(each) | any),
        toml::Value::Table(table) => table.iter_mut().fold(false, |any, (_, each)| escape(each) | any),
        _ => false,
    }
}

struct Substitution<'p, 'a> {
    page: &'p Page<'a>,
    values: BTreeMap<&'a str, DeValue<'a>>,
    used: BTreeSet<&'a str>,
}

impl<'a> Substitution<'_, 'a> {
    fn table(&mut self, table: &mut DeTable<'a>) -> Result<()> {
        table.iter_mut().try_for_each(|(_, value)| self.value(value))
    }

    fn value(&mut self, value: &mut Spanned<DeValue<'a>>) -> Result<()> {
        let span = value.span();
        match value.get_mut() {
            DeValue::Table(table) => self.table(table),
            DeValue::Array(list) => self.list(list),
            DeValue::String(text) => {
                if let Some(name) = placeholder(text) {
                    let found = self.values.get_key_value(name);
                    let (name, found) = found.ok_or_else(|| self.undeclared(&span, name))?;
                    self.used.insert(name);
                    *value = at(&span, found.clone());
                } else if has_dollars(text) {
                    *text = text[1..].to_owned().into();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Without the tables that are left out; what they use counts as used.
    fn list(&mut self, list: &mut DeArray<'a>) -> Result<()> {
        let mut kept = DeArray::new();
        for mut each in std::mem::replace(list, DeArray::new()) {
            self.value(&mut each)?;
            let when = match each.get_mut() {
                DeValue::Table(table) => table.remove(WHEN),
                _ => None,
            };
            if when.map_or(Ok(true), |when| self.is_on(&when))? {
                kept.push(each);
            }
        }
        *list = kept;
        Ok(())
    }

    fn is_on(&self, when: &Spanned<DeValue<'_>>) -> Result<bool> {
        let is_zero = |digits: &str| digits.parse::<f64>().is_ok_and(|number| number == 0.0);
        match when.get_ref() {
            DeValue::Boolean(on) => Ok(*on),
            DeValue::Integer(number) => Ok(!is_zero(number.as_str())),
            DeValue::Float(number) => Ok(!is_zero(number.as_str())),
            DeValue::Array(several) if !several.is_empty() => {
                let each: Vec<bool> = several.iter().map(|one| self.is_on(one)).collect::<Result<_>>()?;
                Ok(each.contains(&true))
            }
            _ => {
                let message = "when must be a number, true or false, or a list of them: what is 0 or false leaves the table out";
                Err(self.page.error(&when.span(), message))
            }
        }
    }

    fn undeclared(&self, place: &Range<usize>, name: &str) -> Error {
        let names: Vec<&str> = self.values.keys().copied().collect();
        let near = nearest::nearest(name, &names).map(|near| format!(": did you mean `${near}`?"));
        let message = format!(
            "`${name}` stands for a parameter, and none of this name is declared{} Declare it under [parameters], or \
             write `$${name}` for the text itself",
            near.unwrap_or_else(|| ":".into())
        );
        self.page.error(place, &message)
    }
}

/// A value that stands at `place`, with all that is in it.
fn at<'a>(place: &Range<usize>, value: DeValue<'a>) -> Spanned<DeValue<'a>> {
    let value = match value {
        DeValue::Array(list) => {
            DeValue::Array(list.into_iter().map(|each| at(place, each.into_inner())).collect())
        }
        other => other,
    };
    Spanned::new(place.clone(), value)
}
