//! From options to a loader.

use crate::options::Options;
use feedline::device::Device;
use feedline::error::{Error, Result};
use feedline::loader::{Loader, LoaderBuilder};
use feedline::recipe::Recipe;
use feedline::source::{Coco, Kind, OnBadLabel, Source, Yolo};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

/// Options that are no key of a recipe.
const OWN: [&str; 16] = [
    "data",
    "source",
    "split",
    "image_dir",
    "on_bad_label",
    "recipe",
    "recipe_text",
    "device",
    "rank",
    "world_size",
    "max_failures",
    "partner_window",
    "image_cache",
    "device_memory",
    "pinned_memory",
    "low_priority",
];

pub(super) fn open(options: &Options) -> Result<Loader> {
    let given = Given(&options.given);
    let recipe = recipe(given)?;
    let mut builder = Loader::builder_boxed(source(given)?).recipe(&recipe);
    builder = match (given.number("rank")?, given.number("world_size")?) {
        (None, None) => builder,
        (Some(rank), Some(ranks)) => builder.rank(rank, ranks),
        _ => return Err(Error::config("rank and world_size go together: set both, or neither")),
    };
    type Set<T> = fn(LoaderBuilder, T) -> LoaderBuilder;
    let sizes: [(&str, Set<usize>); 2] =
        [("image_cache", LoaderBuilder::image_cache), ("pinned_memory", LoaderBuilder::pinned_memory)];
    let counts: [(&str, Set<u64>); 3] = [
        ("max_failures", LoaderBuilder::max_failures),
        ("partner_window", LoaderBuilder::partner_window),
        ("device_memory", LoaderBuilder::device_memory),
    ];
    for (key, set) in sizes {
        builder = given.number(key)?.into_iter().fold(builder, set);
    }
    for (key, set) in counts {
        builder = given.number(key)?.into_iter().fold(builder, set);
    }
    builder = given.number("low_priority")?.into_iter().fold(builder, LoaderBuilder::low_priority);
    builder.device(device(given)?).build()
}

#[derive(Clone, Copy)]
struct Given<'a>(&'a BTreeMap<String, String>);

impl<'a> Given<'a> {
    fn word(self, key: &str) -> Option<&'a str> {
        self.0.get(key).map(String::as_str)
    }

    /// A number, or another value that is written in one way.
    fn number<T: FromStr>(self, key: &str) -> Result<Option<T>> {
        let read = |word: &str| {
            word.parse().map_err(|_| {
                let kind = if key == "low_priority" { "true or false" } else { "a whole number" };
                Error::config(format!("option {key}: `{word}` is not {kind}"))
            })
        };
        self.word(key).map(read).transpose()
    }
}

/// The recipe with the options laid over it. It is read again as a whole, so that an option is as strict as a recipe.
fn recipe(given: Given<'_>) -> Result<Recipe> {
    let recipe = match (given.word("recipe"), given.word("recipe_text")) {
        (Some(_), Some(_)) => {
            return Err(Error::config("recipe and recipe_text are both set: set one of them"));
        }
        (None, Some(text)) => Recipe::parse(text)?,
        (name, None) => Recipe::load(name.unwrap_or("imagenet-train"))?,
    };
    let overlaid: Vec<_> = given.0.iter().filter(|(key, _)| !OWN.contains(&key.as_str())).collect();
    if overlaid.is_empty() {
        return Ok(recipe);
    }
    overlay(&recipe, &overlaid).map_err(|whole| {
        // The one that does not fit even alone is named; what does not fit together is not any one's fault.
        let alone = overlaid.iter().find_map(|&option| Some((option, overlay(&recipe, &[option]).err()?)));
        match alone {
            Some(((key, word), error)) => Error::config(format!("option {key} = {word}: {}", cause(&error))),
            None => Error::config(format!("the options do not fit together: {}", cause(&whole))),
        }
    })
}

fn overlay(recipe: &Recipe, options: &[(&String, &String)]) -> Result<Recipe> {
    let bad = |error: &dyn std::fmt::Display| Error::config(error.to_string());
    let mut table: toml::Table = recipe.to_toml()?.parse().map_err(|error: toml::de::Error| bad(&error))?;
    for (key, word) in options {
        let (section, key) = key.split_once('.').unwrap_or(("loader", key));
        let section = table.entry(section).or_insert_with(|| toml::Table::new().into());
        let Some(section) = section.as_table_mut() else {
            return Err(bad(&format!("`{key}` is in no section: name it as section.key")));
        };
        section.insert(key.to_owned(), value(word));
    }
    Recipe::parse(&toml::to_string(&table).map_err(|error| bad(&error))?)
}

/// What is wrong, without the line of a text that nobody has seen.
fn cause(error: &Error) -> String {
    let text = error.to_string();
    let cause = text.strip_prefix("recipe:").unwrap_or(&text);
    cause.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches([':', ' ']).to_owned()
}

/// A value as TOML writes it, or a bare word.
fn value(word: &str) -> toml::Value {
    let read: Option<toml::Table> = format!("value = {word}").parse().ok();
    let read = read.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    read.unwrap_or_else(|| word.into())
}

fn source(given: Given<'_>) -> Result<Box<dyn Source>> {
    let Some(path) = given.word("data").map(Path::new) else {
        return Err(Error::config("no data is named: set the option data to a path"));
    };
    let kind = match given.word("source") {
        Some(word) => serde_json::from_value(word.into()).map_err(|_| {
            let known = "folder, list, tar, tfrecord, lmdb, parquet, yolo or coco";
            Error::config(format!("there is no source `{word}`: use {known}, or leave it out"))
        })?,
        None => Kind::of(path),
    };
    let (yolo, coco) = (kind == Kind::Yolo, kind == Kind::Coco);
    let serves = [
        ("split", kind.has_splits(), "yolo or another with splits"),
        ("image_dir", coco, "coco"),
        ("on_bad_label", yolo || coco, "yolo or coco"),
    ];
    if let Some((key, _, whom)) = serves.iter().find(|(key, serves, _)| !serves && given.word(key).is_some())
    {
        let shown = path.display();
        return Err(Error::config(format!(
            "option {key} means nothing for {shown}, which is read as {kind:?}: leave it out, or set source to {whom}"
        )));
    }
    let split = given.word("split");
    Ok(match kind {
        Kind::Yolo => {
            let options = Yolo::options().on_bad_label(on_bad_label(given)?);
            Box::new(split.into_iter().fold(options, |options, split| options.split(split)).open(path)?)
        }
        Kind::Coco => {
            let own = path.parent().unwrap_or(Path::new(""));
            let images = given.word("image_dir").map_or(own, Path::new);
            Box::new(Coco::options().on_bad_label(on_bad_label(given)?).open(path, images)?)
        }
        kind => kind.open(path, split)?,
    })
}

fn on_bad_label(given: Given<'_>) -> Result<OnBadLabel> {
    let word = given.word("on_bad_label").unwrap_or("fail");
    serde_json::from_value(word.into()).map_err(|_| {
        Error::config(format!("option on_bad_label: `{word}` is none of fail, skip_object and skip_image"))
    })
}

fn device(given: Given<'_>) -> Result<Device> {
    let word = given.word("device").unwrap_or("cpu");
    match word.strip_prefix("cuda:").map(str::parse) {
        Some(Ok(ordinal)) => Device::cuda(ordinal),
        None if word == "cpu" => Ok(Device::cpu()),
        None if word == "cuda" => Device::cuda(0),
        None if word == "auto" => Device::best(),
        _ => Err(Error::config(format!("option device: `{word}` is none of cpu, cuda, cuda:N and auto"))),
    }
}
