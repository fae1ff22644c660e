//! The text of a recipe, whose errors name the line.

use crate::error::{Error, Result};
use crate::options::nearest;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeTable;

/// Largest recipe that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// A text, and what errors call it.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) text: &'a str,
    pub(super) origin: &'a str,
}

impl<'a> Page<'a> {
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'a>>> {
        if self.text.len() > MAX_BYTES {
            return Err(too_large(self.origin));
        }
        DeTable::parse(self.text).map_err(|error| self.refuse(&(0..0), &error))
    }

    pub(super) fn error(&self, place: &Range<usize>, message: &str) -> Error {
        let before = &self.text.as_bytes()[..place.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Error::config(format!("{}:{line}: {message}", self.origin))
    }

    /// An error of the parser, which mostly knows its place better than `place`.
    pub(super) fn refuse(&self, place: &Range<usize>, error: &toml::de::Error) -> Error {
        let message = error.message().trim().replace('\n', ", ");
        self.error(&error.span().unwrap_or_else(|| place.clone()), &message)
    }

    pub(super) fn check_keys(
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
}

pub(super) fn too_large(origin: &str) -> Error {
    Error::config(format!(
        "{origin} is larger than {MAX_BYTES} bytes, which no recipe is: give a TOML recipe"
    ))
}
