//! A recipe whose parameters can still be set.

use super::parameter::{self, Parameter, SECTION};
use super::substitute::Values;
use super::text::Page;
use super::{Recipe, open, read};
use crate::error::{Error, Result};
use crate::options::{Options, catalogue, nearest};
use serde_json::Value;
use std::borrow::Cow;

/// A recipe with the parameters that it declares under `[parameters]`. Those that are not set have their defaults.
///
/// ```
/// use feedline::recipe::Template;
///
/// let template = Template::load("yolo-train")?.with("imgsz", 320)?.with("mosaic", 0.5)?;
/// assert_eq!(template.recipe()?.output().expect("it renders").size.width, 320);
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    text: Cow<'static, str>,
    origin: String,
    parameters: Vec<Parameter>,
    given: Values,
}

impl Template {
    /// A built-in recipe by name, or one from a TOML file.
    ///
    /// # Errors
    /// Those of [`Recipe::load`], as far as they are of the declarations.
    pub fn load(name_or_path: &str) -> Result<Self> {
        Self::new(open(name_or_path)?, name_or_path)
    }

    /// Reads a recipe from TOML text.
    ///
    /// # Errors
    /// Those of [`Recipe::parse`], as far as they are of the declarations.
    pub fn parse(text: &str) -> Result<Self> {
        Self::new(text.to_owned().into(), "recipe")
    }

    fn new(text: Cow<'static, str>, origin: &str) -> Result<Self> {
        let page = Page { text: &text, origin };
        let declared = parameter::declared(&page, page.parse()?.get_mut())?;
        let parameters = declared.into_iter().map(|(parameter, _)| parameter).collect();
        Ok(Self { parameters, text, origin: origin.to_owned(), given: Values::new() })
    }

    /// The parameters, in the order of their declarations.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Sets the parameter `name` to a JSON value (`320`, `0.5`, `true`, `"flip"`, or a list of numbers); null means that
    /// nothing is said.
    ///
    /// # Errors
    /// [`Error::Config`] for a name that the recipe does not declare, with the nearest one and the recipes that declare it,
    /// and for a value that is not of its kind or not in its range.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<()> {
        let value = value.into();
        let parameter = self.find(name)?;
        if !value.is_null() {
            let value = parameter.check(&self.origin, &value)?;
            self.given.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// The same by value, for chains.
    ///
    /// # Errors
    /// Those of [`Template::set`].
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Result<Self> {
        self.set(name, value)?;
        Ok(self)
    }

    /// Sets the parameter `name` to what `text` says: a word or a text as it is, anything else as TOML writes it, where a
    /// list may lack its brackets.
    ///
    /// # Errors
    /// Those of [`Template::set`].
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<()> {
        let value = self.find(name)?.of_text(text);
        self.set(name, value)
    }

    /// The recipe with the values of its parameters in their places; it has no parameters any more.
    ///
    /// # Errors
    /// [`Error::Config`] with the line, what is wrong there, and the nearest thing that would be right.
    pub fn recipe(&self) -> Result<Recipe> {
        read::read(&self.text, &self.origin, &self.given)
    }

    fn find(&self, name: &str) -> Result<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        let recipe = &self.origin;
        let own: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let there_are = match own.is_empty() {
            true => format!("{recipe} declares no [{SECTION}]"),
            false => format!("{recipe} has {}", own.join(", ")),
        };
        let others = owners(name).join(", ");
        Error::config(if Options::knows(name) {
            format!("{recipe} has no parameter `{name}`, which is an option: set it beside the recipe")
        } else if !others.is_empty() {
            format!("{recipe} has no parameter `{name}`: {others} have it; {there_are}")
        } else {
            let options = catalogue().iter().flat_map(|option| option.aliases.iter().chain([&option.name]));
            let known: Vec<&str> = own.into_iter().chain(options.copied()).collect();
            let near = nearest::nearest(name, &known).map(|near| format!(": did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| ";".into());
            format!("there is no option `{name}`, and {recipe} has no such parameter{near} {there_are}")
        })
    }
}

/// The built-in recipes that have a parameter `name`.
fn owners(name: &str) -> Vec<&'static str> {
    let has = |recipe: &&str| {
        let parameters = Recipe::parameters_of(recipe).unwrap_or_default();
        parameters.iter().any(|parameter| parameter.name == name)
    };
    Recipe::names().filter(has).collect()
}
