//! The page `docs/transforms.md`, made of the augmentations' doc comments and defaults.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::{Augment, Augmentation, schemas};
use crate::draft::op::page::{kind, sentence};
use serde_json::{Map, Value, json};
use std::fmt::Write;

const HEAD: &str = "\
# Transforms

Every augmentation that a recipe can list, with all its arguments. Name, arguments, defaults and meaning are those of the
library in the second column; [parity.md](parity.md) states where pixels differ. Arguments with a default may be left
out. An unknown argument, or a value out of its range, is an error when the loader is built.

One augmentation in a recipe, in Python, and in Rust:

```text
{ op = \"RandomResizedCrop\", size = 224, scale = [0.2, 1.0] }
feedline.transforms.RandomResizedCrop(224, scale=(0.2, 1.0))
feedline::augment::RandomResizedCrop::new(224).scale([0.2, 1.0])
```

Python takes positional arguments in the order of the tables. An augmentation whose table has no `p` takes one all the same,
as its last argument: the probability that it runs, 1 by default. In Rust that is `Augmentation::with_p`. RandomChoice,
whose `p` is a list, takes none: put it into a RandomApply.

Compose, OneOf, RandomApply, RandomChoice, RandomOrder and SomeOf are *containers*: their `transforms` are augmentations,
containers among them, up to 8 in one another. What a transform draws depends on its position in this tree, so that a
change in one branch draws nothing anew in another. Every branch is planned once when the loader is built. An augmentation
that mixes samples may stand in a container; its partners are planned by what ran for the sample before it, in the same
branch. Where it draws once for a whole window, as MixUp and CutMix do, the containers around it choose once for a window
too. Jitter in half of the samples, in a recipe, in Python, and in Rust:

```text
{ op = \"RandomApply\", p = 0.5, transforms = [{ op = \"ColorJitter\", brightness = 0.4 }] }
feedline.transforms.RandomApply([feedline.transforms.ColorJitter(0.4)], p=0.5)
feedline::augment::RandomApply::new([ColorJitter::new(0.4, 0.0, 0.0, 0.0).into()]).p(0.5)
```

Augmentations that mix samples take their *partners* from the
sample's *window*: a run of consecutive positions in the epoch's order, 128 by default (`partner_window`).

<!-- Made from src/augment/ by `UPDATE_DOCS=1 cargo test transforms_page`; do not edit. -->
";

/// The libraries whose meaning an augmentation can have, as its doc comment names them.
const LIBRARIES: [&str; 6] = ["torchvision", "timm", "Ultralytics", "Albumentations", "mmseg", "DETR"];

#[test]
fn transforms_page_is_what_the_code_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/transforms.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/transforms.md is out of date: run UPDATE_DOCS=1 cargo test transforms_page"
    );
}

fn page() -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n| transform | as in | what it does |\n|-|-|-|\n");
    let mut sections = String::new();
    for (name, schema) in schemas() {
        let schema = schema.to_value();
        let text = plain(schema["description"].as_str().unwrap());
        let mut paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        let first = paragraphs.next().unwrap();
        writeln!(page, "| [{name}](#{}) | {} | {first} |", name.to_lowercase(), library(name, &first))
            .unwrap();
        write!(sections, "\n## {name}\n\n{first}\n").unwrap();
        for paragraph in paragraphs {
            write!(sections, "\n{paragraph}\n").unwrap();
        }
        sections.push_str(&arguments(&schema));
    }
    page + &sections
}

/// A doc comment without rustdoc's links: `[`super::Mosaic`]` is `Mosaic` in code type.
fn plain(doc: &str) -> String {
    doc.replace("[`super::", "`").replace("[`", "`").replace("`]", "`")
}

/// The first of the libraries that the doc comment names.
fn library(name: &str, doc: &str) -> &'static str {
    let named =
        LIBRARIES.into_iter().filter_map(|library| Some((doc.find(&format!("{library}'"))?, library)));
    let (_, library) =
        named.min().unwrap_or_else(|| panic!("{name}: say in its doc comment whose meaning it has"));
    library
}

fn arguments(schema: &Value) -> String {
    let mut rows = String::new();
    for (name, property) in properties(schema) {
        let default = match is_required(schema, name) {
            true => "required".to_owned(),
            false => shown(property.get("default").unwrap_or(&Value::Null)),
        };
        let kind = kind(property, schema).replace(" or null", "");
        writeln!(rows, "| `{name}` | {kind} | {default} | {} |", plain(&sentence(property))).unwrap();
    }
    match rows.is_empty() {
        true => "\nNo arguments.\n".to_owned(),
        false => format!("\n| argument | type | default | meaning and range |\n|-|-|-|-|\n{rows}"),
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn is_required(schema: &Value, argument: &str) -> bool {
    schema["required"].as_array().into_iter().flatten().any(|name| name == argument)
}

/// A default, with an f32's shortest digits where it is one.
fn shown(default: &Value) -> String {
    fn text(value: &Value) -> String {
        match value {
            Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", ")),
            Value::Number(number) if number.is_f64() => {
                let number = number.as_f64().unwrap();
                let short = number as f32;
                if f64::from(short) == number { format!("{short}") } else { format!("{number}") }
            }
            other => other.to_string(),
        }
    }
    if default.is_null() { "none".to_owned() } else { format!("`{}`", text(default)) }
}

/// What is given to arguments without a default, so that the others can be tried.
fn example(argument: &str) -> Value {
    match argument {
        "target_size" => json!([8, 8]),
        "kernel_size" => json!(3),
        "transforms" => json!([{ "op": "RandomInvert" }]),
        _ => json!(1),
    }
}

/// Whether the augmentation takes `value` for `argument`.
fn takes(name: &str, schema: &Value, argument: &str, value: Value) -> bool {
    let mut arguments: Map<String, Value> = properties(schema)
        .filter(|(other, _)| is_required(schema, other))
        .map(|(other, _)| (other.clone(), example(other)))
        .collect();
    // The other end of a pair that is told in two arguments, and what is counted in what is tried.
    let beside = match argument {
        "num_magnitude_bins" if name == "RandAugment" => Some(("magnitude", json!(1))),
        "max_scale" => Some(("min_scale", json!(0.0))),
        "min_area" if name == "TimmRandomErasing" => Some(("max_area", json!(1.0))),
        "max_area" => Some(("min_area", json!(0.0))),
        "min_aspect" if name == "TimmRandomErasing" => Some(("max_aspect", json!(1e6))),
        "min_size" if name == "RandomSizeCrop" => Some(("max_size", json!(65535))),
        "max_size" if name == "RandomSizeCrop" => Some(("min_size", json!(1))),
        "mixture_width" => Some(("chain_depth", json!(1))),
        "chain_depth" => Some(("mixture_width", json!(1))),
        "width" if name == "TimmAugMix" => Some(("depth", json!(1))),
        "depth" if name == "TimmAugMix" => Some(("width", json!(1))),
        "max_aspect" => Some(("min_aspect", json!(1e-6))),
        _ => None,
    };
    arguments.extend(beside.map(|(other, value)| (other.to_owned(), value)));
    arguments.insert(argument.to_owned(), value);
    Augmentation::read(name, Value::Object(arguments)).is_ok_and(|augmentation| augmentation.check().is_ok())
}

/// The bounds in `... from 0 to 1 ...`.
fn bounds(text: &str) -> Option<[f64; 2]> {
    let number = |text: &str| text.trim_end_matches(['.', ',', ';']).parse().ok();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(4).find_map(|four| match four {
        ["from", low, "to", high] => Some([number(low)?, number(high)?]),
        _ => None,
    })
}

#[test]
fn every_range_on_the_page_is_the_one_that_is_checked() {
    let mut tried = 0;
    for (name, schema) in schemas() {
        let schema = schema.to_value();
        for (argument, property) in properties(&schema) {
            let Some([low, high]) = bounds(&sentence(property)) else { continue };
            let kind = kind(property, &schema);
            let (whole, pair) = (kind.contains("integer"), kind.starts_with("array of 2"));
            let value = |ends: [f64; 2], which: usize| {
                let one = |end: f64| if whole { json!(end as i64) } else { json!(end) };
                if pair { json!(ends.map(one)) } else { one(ends[which]) }
            };
            let beyond = |end: f64| if whole { 1.0 } else { end.abs().max(1.0) / 1000.0 };
            let (below, above) = ([low - beyond(low), high], [low, high + beyond(high)]);
            let told = format!("{name}: {argument} is said to go from {low} to {high}");
            assert!(takes(name, &schema, argument, value([low, high], 0)), "{told}: {low} is refused");
            assert!(takes(name, &schema, argument, value([low, high], 1)), "{told}: {high} is refused");
            assert!(!takes(name, &schema, argument, value(below, 0)), "{told}: less is taken");
            assert!(!takes(name, &schema, argument, value(above, 1)), "{told}: more is taken");
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried} ranges were found");
}

#[test]
fn every_number_on_the_page_has_a_range() {
    const WORDS: [&str; 6] = ["from ", "at least ", "at most ", " than ", " degrees", " or "];
    for (name, schema) in schemas() {
        let schema = schema.to_value();
        for (argument, property) in properties(&schema) {
            let kind = kind(property, &schema);
            let is_number = kind.contains("number") || kind.contains("integer");
            let sentence = sentence(property);
            let open = ["center", "num_output_channels"].contains(&argument.as_str());
            let bounded = WORDS.iter().any(|word| sentence.contains(word));
            assert!(!is_number || open || bounded, "{name}: say the range of {argument}: {sentence}");
        }
    }
}
