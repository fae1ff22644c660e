//! Every option of the catalogue as a flag, and a flag on every command that opens data.

use crate::support::{fail, feedline, succeed, word};
use feedline::options::{Entry, catalogue};
use feedline::recipe::Recipe;
use serde_json::{Map, Value};

fn values() -> Map<String, Value> {
    serde_json::from_str(include_str!("../option_values.json")).expect("the values")
}

/// `--batch-size=3` and what must be said with it.
fn flags(entry: &Entry, values: &Map<String, Value>) -> Vec<String> {
    let of = values.get(entry.name).expect("tests/option_values.json has a value for every option");
    let flag = |(name, value): (&str, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("--{}={text}", name.replace('_', "-"))
    };
    let with = of.get("with").and_then(Value::as_object).into_iter().flatten();
    [(entry.name, &of["value"])]
        .into_iter()
        .chain(with.map(|(name, value)| (name.as_str(), value)))
        .map(flag)
        .collect()
}

#[test]
fn every_option_is_a_flag() {
    let folder = tempfile::tempdir().expect("a folder");
    let values = values();
    for entry in catalogue() {
        let path = folder.path().join("x.toml");
        std::fs::write(&path, "name = \"x\"\noutput.size = 64\n").expect("a recipe");
        let recipe = if entry.name == "decode_only" { "decode-only" } else { word(&path) };
        let flags = flags(entry, &values);
        let all: Vec<&str> =
            ["recipe", "--recipe", recipe].into_iter().chain(flags.iter().map(String::as_str)).collect();
        let printed = Recipe::parse(&succeed(&all)).expect("a recipe is printed");
        assert_eq!(
            printed.options.get(entry.name).expect("an option"),
            values[entry.name]["value"],
            "{all:?}"
        );
    }
}

#[test]
fn every_command_that_opens_data_takes_their_options_and_those_that_load_take_all() {
    for (command, all) in [
        ("bench", true),
        ("plan", true),
        ("preview", true),
        ("recipe", true),
        ("inspect", false),
        ("pack", false),
        ("index", false),
        ("verify", false),
    ] {
        let help = succeed(&[command, "--help"]);
        for entry in catalogue().iter().filter(|entry| all || entry.section == "data" && entry.name != "data")
        {
            let flag = format!("--{}", entry.name.replace('_', "-"));
            let is_there = help.split_whitespace().any(|word| word.split(['=', '[']).next() == Some(&flag));
            assert!(is_there, "{command} has no {flag}");
        }
    }
}

#[test]
fn a_flag_that_cannot_be_is_refused_with_its_option_its_value_and_what_it_may_be() {
    let refused = |arguments: &[&str]| {
        let output = feedline(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let text = refused(&["bench", "--dtype", "f64"]);
    assert!(text.contains("option dtype = \"f64\"") && text.contains("`bf16`"), "{text}");
    let text = refused(&["plan", "--batch-size", "many"]);
    assert!(text.contains("--batch-size") && text.contains("give a whole number"), "{text}");
    let text = refused(&["plan", "--batchsize", "4"]);
    assert!(text.contains("--batch-size"), "{text}");
    let text = fail(&["plan", "--shuffle=false", "--shuffle-window", "9"]);
    assert!(text.contains("leave one of them out"), "{text}");
}
