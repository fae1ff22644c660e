//! From TOML text to a recipe, with the line of whatever is wrong.

use super::Recipe;
use super::parameter;
use super::substitute::{self, Values};
use super::text::Page;
use crate::augment::container::{self, MAX_DEPTH, too_deep};
use crate::augment::read::{
    NO_TRANSFORM, PROBABILITY, TRANSFORMS, arguments_of, named, own_arguments, unknown,
};
use crate::augment::view::{self, NO_SIZE, View};
use crate::augment::{Augment, Augmentation};
use crate::error::{Error, Result};
use crate::options::fields;
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

/// Reads `text` with the values that are given for its parameters; errors begin with `origin` and the line.
pub(super) fn read(text: &str, origin: &str, given: &Values) -> Result<Recipe> {
    let page = Page { text, origin };
    let mut top = page.parse()?;
    page.check_top(top.get_ref())?;
    let declared = parameter::declared(&page, top.get_mut())?;
    let texts = substitute::texts(&declared, given);
    substitute::substitute(&page, top.get_mut(), &declared, &texts)?;
    read_top(page, top)
}

/// Reads a recipe whose parameters have their values.
fn read_top(page: Page<'_>, mut top: Spanned<DeTable<'_>>) -> Result<Recipe> {
    let origin = page.origin;
    let augment = top.get_mut().remove("augment").map_or(Ok(Vec::new()), |list| page.augmentations(list))?;
    let views = top.get_mut().remove("views").map_or(Ok(Vec::new()), |list| page.views(list))?;
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
    let recipe = Recipe { name, options, augment, views };
    recipe.check().map_err(|error| Error::config(format!("{origin}: {error}")))?;
    Ok(recipe)
}

impl Page<'_> {
    fn check_top(&self, top: &DeTable<'_>) -> Result<()> {
        let sections = fields::of::<Options>();
        let known = [&["augment", "views", parameter::SECTION], fields::of::<Head>(), sections].concat();
        self.check_keys("a recipe", top, &known, |key| known.contains(&key))?;
        for section in sections {
            if let Some(table) = top.get(*section).and_then(|value| value.get_ref().as_table()) {
                let is_known = |key: &str| is_key(section, key);
                self.check_keys(&format!("[{section}]"), table, &keys(section), is_known)?;
            }
        }
        Ok(())
    }

    fn augmentations(&self, list: Spanned<DeValue<'_>>) -> Result<Vec<Augmentation>> {
        let span = list.span();
        let DeValue::Array(tables) = list.into_inner() else {
            return Err(self.error(&span, "augment must be a list of tables: write [[augment]]"));
        };
        let read = |(index, table)| self.augmentation(table, &format!("augment[{index}]"), 0);
        tables.into_iter().enumerate().map(read).collect()
    }

    fn views(&self, list: Spanned<DeValue<'_>>) -> Result<Vec<View>> {
        let span = list.span();
        let DeValue::Array(tables) = list.into_inner() else {
            return Err(self.error(&span, "views must be a list of tables: write [[views]]"));
        };
        tables.into_iter().enumerate().map(|(number, table)| self.view(number, table)).collect()
    }

    fn view(&self, number: usize, table: Spanned<DeValue<'_>>) -> Result<View> {
        let (span, place) = (table.span(), format!("views[{number}]"));
        let refuse = |message: &str| self.error(&span, &format!("{place}: {message}"));
        let DeValue::Table(arguments) = table.into_inner() else {
            return Err(refuse("a view is a table: write [[views]], and its size below"));
        };
        let known = fields::of::<View>();
        self.check_keys(&place, &arguments, known, |key| known.contains(&key))?;
        if !arguments.contains_key("size") {
            return Err(refuse(NO_SIZE));
        }
        self.check_transforms(&arguments, &place, 0)?;
        let value = Spanned::new(span.clone(), DeValue::Table(arguments));
        let view = View::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let message = error.message().trim().replace('\n', ", ");
            self.error(&error.span().unwrap_or_else(|| span.clone()), &format!("{place}: {message}"))
        })?;
        view::check_one(&place, &view).map_err(|error| self.error(&span, &error.to_string()))?;
        Ok(view)
    }

    /// Reads the augmentation at `place` in the tree, in this many containers.
    fn augmentation(&self, table: Spanned<DeValue<'_>>, place: &str, depth: usize) -> Result<Augmentation> {
        let span = table.span();
        // In the list of a recipe the line says enough.
        let is_listed = !place.contains('.');
        let at = if is_listed { String::new() } else { format!("{place}: ") };
        let refuse = |span: &Range<usize>, message: &str| self.error(span, &format!("{at}{message}"));
        let DeValue::Table(mut arguments) = table.into_inner() else {
            let message =
                if is_listed { "augment must be a list of tables: write [[augment]]" } else { NO_TRANSFORM };
            return Err(refuse(&span, message));
        };
        let Some(op) = arguments.remove("op") else {
            let hint = nearest::hint("", Augmentation::NAMES);
            return Err(refuse(&span, &format!("this augmentation has no op{hint}")));
        };
        let name = op.get_ref().as_str().unwrap_or("");
        let Some(own) = own_arguments(name) else { return Err(refuse(&op.span(), &unknown(name))) };
        let known = [vec!["op"], arguments_of(name).unwrap_or_default()].concat();
        self.check_keys(&format!("{at}{name}"), &arguments, &known, |key| known.contains(&key))?;
        self.check_transforms(&arguments, place, depth + 1)?;
        let wrong = |error: &toml::de::Error| {
            let message = named(name, &error.message().trim().replace('\n', ", "));
            refuse(&error.span().unwrap_or_else(|| span.clone()), &message)
        };
        let p = if own.contains(&PROBABILITY) { None } else { arguments.remove(PROBABILITY) };
        let p = p
            .map(|p| f32::deserialize(ValueDeserializer::from(p)))
            .transpose()
            .map_err(|error| wrong(&error))?;
        let value = Spanned::new(span.clone(), DeValue::Table(arguments));
        let augmentation =
            Augmentation::read(name, ValueDeserializer::from(value)).map_err(|error| wrong(&error))?;
        let augmentation = match p {
            Some(p) => augmentation.with_p(p),
            None => augmentation,
        };
        augmentation.check().map_err(|error| refuse(&span, &error.to_string()))?;
        Ok(augmentation)
    }

    /// Reads transforms that stand in this many containers, for the lines of their errors alone.
    fn check_transforms(&self, arguments: &DeTable<'_>, place: &str, depth: usize) -> Result<()> {
        let Some(list) = arguments.get(TRANSFORMS) else { return Ok(()) };
        let Some(transforms) = list.get_ref().as_array() else { return Ok(()) };
        if depth > MAX_DEPTH {
            return Err(self.error(&list.span(), &format!("{place}: {}", too_deep())));
        }
        for (index, transform) in transforms.iter().enumerate() {
            let place = format!("{place}.{}", container::place(index));
            self.augmentation(transform.clone(), &place, depth)?;
        }
        Ok(())
    }
}
