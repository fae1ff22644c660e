//! timm's texts for its policies: a name, and sections of a key and a number, with dashes between them.

use super::{STRONGEST, TimmRandAugment};
use crate::error::{Error, Result, bail};
use std::str::FromStr;

/// Whose texts are read.
#[derive(Clone, Copy, Debug)]
pub(in crate::augment) struct Sections {
    /// The augmentation, for messages.
    pub(in crate::augment) class: &'static str,
    /// The first word.
    pub(in crate::augment) policy: &'static str,
    /// What a text looks like.
    pub(in crate::augment) example: &'static str,
}

/// A key and a number, as `m9`.
#[derive(Clone, Copy, Debug)]
pub(in crate::augment) struct Section<'a> {
    class: &'static str,
    text: &'a str,
    pub(in crate::augment) key: &'a str,
    value: &'a str,
}

impl Sections {
    /// The sections of `config`, without the first word.
    pub(in crate::augment) fn of<'a>(&self, config: &'a str) -> Result<Vec<Section<'a>>> {
        let Self { class, policy, example } = *self;
        let mut sections = config.split('-');
        let first = sections.next().unwrap_or_default();
        if first != policy {
            bail!(
                "{class}: config begins with `{first}`, but `{policy}` is the policy that this is: write {example}, say"
            );
        }
        let section = |text: &'a str| {
            let digits = text.find(|letter: char| letter.is_ascii_digit()).unwrap_or(text.len());
            let (key, value) = text.split_at(digits);
            Section { class, text, key, value }
        };
        Ok(sections.map(section).collect())
    }
}

impl Section<'_> {
    /// Its number.
    pub(in crate::augment) fn number<T: FromStr>(&self) -> Result<T> {
        self.value.parse().map_err(|_| {
            let is_whole = ["u32", "i32"].contains(&std::any::type_name::<T>());
            let kind = if is_whole { "a whole number" } else { "a number" };
            let Self { class, text, .. } = self;
            Error::config(format!("{class}: config has `{text}`, which should be a key and {kind}"))
        })
    }

    /// That there is no such section; `keys` are those that there are.
    pub(in crate::augment) fn unknown(&self, keys: &str) -> Error {
        let Self { class, text, .. } = self;
        Error::config(format!("{class}: config has the unknown section `{text}`: the keys are {keys}"))
    }
}

pub(super) fn read(config: &str) -> Result<TimmRandAugment> {
    let sections = Sections { class: "TimmRandAugment", policy: "rand", example: "rand-m9-mstd0.5-inc1" };
    let mut read = TimmRandAugment::new(STRONGEST);
    for section in sections.of(config)? {
        match section.key {
            "m" => read.magnitude = section.number::<u32>()?.into(),
            "n" => read.num_layers = section.number()?,
            "p" => read.prob = section.number()?,
            "mstd" => read.magnitude_std = section.number()?,
            "mmax" => read.magnitude_max = Some(section.number::<u32>()?.into()),
            "inc" if section.value == "1" => read.increasing = true,
            "inc" => {
                // timm takes any number for yes.
                bail!("TimmRandAugment: config has `{}`: write inc1, or leave it out for no", section.text);
            }
            _ => {
                return Err(section.unknown(
                    "m (magnitude), n (num_layers), p (prob), mstd (magnitude_std), mmax (magnitude_max) and inc1 \
                     (increasing)",
                ));
            }
        }
    }
    Ok(read)
}
