//! Every option of the catalogue, through a recipe file, by its name, and in the loader that is built.

use crate::support::flat;
use feedline::augment::LetterBox;
use feedline::error::Result;
use feedline::label::{BoxFormat, Label, Object, Objects, Unit};
use feedline::loader::{Batch, Loader, SLOTS_BESIDE};
use feedline::options::{Entry, LoaderOptions, Options, catalogue};
use feedline::recipe::Recipe;
use feedline::source::Source;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// A value for each option, and what must be said with it.
fn values() -> Map<String, Value> {
    serde_json::from_str(include_str!("../option_values.json")).unwrap()
}

/// The option alone with what must be said with it: name and value.
fn said(entry: &Entry, values: &Map<String, Value>) -> Vec<(String, Value)> {
    let of = values.get(entry.name);
    let of =
        of.unwrap_or_else(|| panic!("{} has no value in tests/option_values.json: give one", entry.name));
    let with = of.get("with").and_then(Value::as_object).into_iter().flatten();
    let with = with.map(|(name, value)| (name.clone(), value.clone()));
    [(entry.name.to_owned(), of["value"].clone())].into_iter().chain(with).collect()
}

fn options(entry: &Entry, values: &Map<String, Value>) -> Options {
    Options::from_values(said(entry, values).into_iter().collect()).unwrap()
}

/// What a recipe must say besides.
fn head(entry: &Entry) -> &'static str {
    if ["size", "decode_only"].contains(&entry.name) {
        "name = \"x\"\n"
    } else {
        "name = \"x\"\noutput.size = 32\n"
    }
}

#[test]
fn every_option_has_a_value_that_is_not_its_default_and_is_read_back() {
    let values = values();
    for entry in catalogue() {
        let options = options(entry, &values);
        assert_eq!(options.get(entry.name).unwrap(), values[entry.name]["value"], "{}", entry.name);
        assert_eq!(
            options.get(&format!("{}.{}", entry.section, entry.key)).unwrap(),
            values[entry.name]["value"]
        );
        let default = entry.unset.to_string();
        let value = values[entry.name]["value"].to_string();
        assert!(default != value.trim_matches('"') || entry.name == "device", "{}: {default}", entry.name);
    }
    let known = |name: &String| catalogue().iter().any(|entry| entry.name == name);
    assert!(values.keys().all(known), "a value for an option that there is not");
}

#[test]
fn every_option_is_a_key_of_a_recipe_by_its_key_and_by_its_other_names() {
    let values = values();
    for entry in catalogue() {
        let options = options(entry, &values);
        for key in [entry.key, entry.name].iter().chain(entry.aliases) {
            let mut text = head(entry).to_owned();
            for (name, value) in said(entry, &values) {
                let (section, key) = match name == entry.name {
                    true => (entry.section, *key),
                    false => catalogue()
                        .iter()
                        .find(|entry| entry.name == name)
                        .map(|e| (e.section, e.key))
                        .unwrap(),
                };
                let value = toml::Value::try_from(value).unwrap();
                text += &format!("{section}.{key} = {value}\n");
            }
            let read = Recipe::parse(&text).unwrap_or_else(|error| panic!("{text}{error}"));
            assert_eq!(read.options.get(entry.name).unwrap(), options.get(entry.name).unwrap(), "{text}");
            let written = Recipe::parse(&read.to_toml().unwrap()).unwrap();
            assert_eq!(written, read, "{text}");
        }
    }
}

/// Five samples in two shards.
struct Sharded;

impl Source for Sharded {
    fn len(&self) -> usize {
        5
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        flat(5).read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Owned(index.to_string())
    }

    fn label(&self, _: usize) -> Label {
        let polygons = vec![vec![[1.0, 1.0], [5.0, 1.0], [1.0, 5.0]]];
        let object = Object { bbox: [1.0, 1.0, 5.0, 5.0], polygons, ..Object::default() };
        Label::Objects(Arc::new(Objects { list: vec![object], ..Objects::default() }))
    }

    fn shard_ends(&self) -> Vec<u64> {
        vec![2, 5]
    }
}

#[test]
fn every_option_arrives_in_the_loader_that_is_built() {
    let values = values();
    for entry in catalogue() {
        let mut all = options(entry, &values);
        let mut builder = Loader::builder(Sharded);
        if !["size", "decode_only"].contains(&entry.name) {
            all.set("size", 32.into()).unwrap();
            builder = builder.augment(LetterBox::new(32));
        }
        let built = builder.options(&all).build();
        // These samples lie in no file, so that no cache can tell that they have changed; tests/loader/shared_cache.rs has some that do.
        if ["cache", "cache_form", "cache_resize", "cache_limit", "cache_file"].contains(&entry.name) {
            let told = built.err().unwrap().to_string();
            assert!(told.contains("lies in no file") || told.contains("not their boxes"), "{told}");
            continue;
        }
        let loader = built.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        match entry.name {
            // The environment of a test says nothing, so that it is one rank of one.
            "distributed" => assert_eq!(
                (loader.options().loader.rank, loader.options().loader.world_size),
                (Some(0), Some(1))
            ),
            name => assert_eq!(loader.options().get(name).unwrap(), values[name]["value"], "{name}"),
        }
    }
}

#[test]
fn options_take_effect_on_what_is_delivered() {
    let batches = |texts: &[(&str, &str)]| {
        let mut options = Options::default();
        options.set_text("size", "6,8").unwrap();
        texts.iter().for_each(|(name, text)| options.set_text(name, text).unwrap());
        let loader = Loader::builder(flat(10)).options(&options).build().unwrap();
        let rows = loader.epoch(0).map(|batch| batch.unwrap().indices().to_vec());
        rows.collect::<Vec<_>>()
    };
    assert_eq!(
        batches(&[("batch_size", "4"), ("last_batch", "partial")]).concat(),
        (0..10).collect::<Vec<u64>>()
    );
    assert_eq!(batches(&[("batch_size", "4")]).concat().len(), 8);
    assert_eq!(batches(&[("subset", "7, 1"), ("batch_size", "2")]), [[7, 1]]);
    assert_eq!(batches(&[("rank", "1"), ("world_size", "2"), ("batch_size", "5")]), [[1, 3, 5, 7, 9]]);
    assert_ne!(batches(&[("shuffle", "true")]), batches(&[]));
    let drawn = batches(&[("weights", "0,0,0,1,0,0,0,0,0,0")]).concat();
    assert_eq!(drawn, [3; 10]);
}

/// What is said beside `size = [6, 8]`, and what must be true of the loader and the batches of its first epoch.
type Effect = (&'static [(&'static str, &'static str)], fn(&Loader, &[Batch]) -> bool);

const EFFECTS: &[Effect] = &[
    (&[("workers", "3")], |loader, _| loader.stats().workers == 3),
    (&[("prefetch", "5")], |loader, _| loader.stats().slots == 5 + SLOTS_BESIDE),
    (&[("dtype", "bf16")], |_, batches| batches[0].as_bf16().is_some_and(|values| values.len() == 144)),
    (&[("layout", "nhwc")], |_, batches| batches[0].shape() == [1, 6, 8, 3]),
    (&[("mean", "1,0,0"), ("std", "0.5,1,1")], |_, batches| batches[3].as_f32().is_some_and(|v| v[0] < -1.9)),
    (&[("normalize", "imagenet")], |_, batches| batches[3].as_f32().is_some_and(|values| values[0] < -1.9)),
    (&[("mask_fill", "7")], |_, batches| batches[0].masks() == Some(&[7; 48])),
    (&[("box_format", "cxcywh")], |_, batches| batches[0].objects().unwrap().format == BoxFormat::Cxcywh),
    (&[("box_unit", "normalized")], |_, batches| batches[0].objects().unwrap().unit == Unit::Normalized),
    (&[("byte_cache", "1M")], |loader, _| {
        loader.epoch(1).count() == 10 && loader.stats().io.memory_hits == 10
    }),
    (&[("decode_index", "off")], |loader, _| loader.stats().index.budget == 0),
    (&[("index_budget", "3M")], |loader, _| loader.stats().index.budget == 3 << 20),
    (&[("shuffle_window", "5")], |_, batches| {
        let order: Vec<u64> = batches.iter().map(|batch| batch.indices()[0]).collect();
        let whole = |run: &[u64]| run.iter().all(|index| (index < &5) == (run[0] < 5));
        !order.is_sorted() && order.chunks(5).all(whole)
    }),
    (&[("shuffle", "true"), ("seed", "9")], |loader, batches| {
        let other = Options {
            loader: LoaderOptions { seed: Some(8), ..loader.options().loader.clone() },
            ..loader.options().clone()
        };
        let other = Loader::builder(flat(10)).options(&other).build().unwrap();
        other.epoch(0).zip(batches).any(|(other, batch)| other.unwrap().indices() != batch.indices())
    }),
];

#[test]
fn options_take_effect_on_the_loader_and_on_the_form_of_its_batches() {
    for (texts, holds) in EFFECTS {
        let run = |texts: &[(&str, &str)]| {
            let mut options = Options::default();
            options.set_text("size", "6,8").unwrap();
            texts.iter().for_each(|(name, text)| options.set_text(name, text).unwrap());
            let loader = Loader::builder(flat(10)).options(&options).build().unwrap();
            let batches: Vec<Batch> = loader.epoch(0).map(Result::unwrap).collect();
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| holds(&loader, &batches)))
                .unwrap_or(false)
        };
        assert!(run(texts), "{texts:?} has no effect");
        assert!(!run(&[]), "the check of {texts:?} is always true");
    }
    let mut options = Options::default();
    options.set_text("decode_only", "true").unwrap();
    let whole = Loader::builder(flat(10)).options(&options).build().unwrap();
    assert!(whole.epoch(0).all(|batch| batch.unwrap().images().is_empty()));
    options.set_text("max_pixels", "47").unwrap();
    let refused = Loader::builder(flat(10)).options(&options).build().unwrap().epoch(0).next().unwrap();
    assert!(refused.is_err_and(|error| error.to_string().contains("pixels")));
}
