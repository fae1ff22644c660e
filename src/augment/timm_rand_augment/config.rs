//! timm's texts for RandAugment: `rand`, and sections of a key and a number, with dashes between them.

use super::{STRONGEST, TimmRandAugment};
use crate::error::{Error, Result, bail};
use std::str::FromStr;

/// What the keys are, for messages.
const KEYS: &str = "m (magnitude), n (num_layers), p (prob), mstd (magnitude_std), mmax (magnitude_max) and inc1 (increasing)";

pub(super) fn read(config: &str) -> Result<TimmRandAugment> {
    let mut sections = config.split('-');
    let policy = sections.next().unwrap_or_default();
    if policy != "rand" {
        bail!(
            "TimmRandAugment: config begins with `{policy}`, but `rand` is the policy that this is: write \
             rand-m9-mstd0.5-inc1, say"
        );
    }
    let mut read = TimmRandAugment::new(STRONGEST);
    for section in sections {
        let digits = section.find(|letter: char| letter.is_ascii_digit()).unwrap_or(section.len());
        let (key, value) = section.split_at(digits);
        match key {
            "m" => read.magnitude = number::<u32>(section, value)?.into(),
            "n" => read.num_layers = number(section, value)?,
            "p" => read.prob = number(section, value)?,
            "mstd" => read.magnitude_std = number(section, value)?,
            "mmax" => read.magnitude_max = Some(number::<u32>(section, value)?.into()),
            "inc" if value == "1" => read.increasing = true,
            "inc" => {
                // timm takes any number for yes.
                bail!("TimmRandAugment: config has `{section}`: write inc1, or leave it out for no");
            }
            _ => bail!("TimmRandAugment: config has the unknown section `{section}`: the keys are {KEYS}"),
        }
    }
    Ok(read)
}

fn number<T: FromStr>(section: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| {
        let kind = if std::any::type_name::<T>() == "u32" { "a whole number" } else { "a number" };
        Error::config(format!("TimmRandAugment: config has `{section}`, which should be a key and {kind}"))
    })
}
