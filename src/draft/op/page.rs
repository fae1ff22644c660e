//! The page `docs/ops.md`, made of the ops' schema and the catalogue, so that no sentence stands in two places.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::{CATALOGUE, Op};
use serde_json::Value;
use std::fmt::Write;

const HEAD: &str = "\
# Ops

One operation with explicit parameters each, as `feedline apply` reads them and `feedline plan` writes them: a JSON
object with the op's name under `op`. Names, arguments and defaults are those of torchvision's
`transforms.v2.functional`, and the pixels are those of its uint8 CPU path. Rows and columns count from the left top
corner of the upright image; sizes are `[height, width]`. An unknown op or argument is an error.

<!-- Made from src/draft/op.rs by `UPDATE_DOCS=1 cargo test ops_page`; do not edit. -->
";

#[test]
fn ops_page_is_what_the_code_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ops.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/ops.md is out of date: run UPDATE_DOCS=1 cargo test ops_page");
}

fn page() -> String {
    let schema = serde_json::to_value(schemars::schema_for!(Op)).unwrap();
    let variants = schema["oneOf"].as_array().unwrap();
    assert_eq!(variants.len(), CATALOGUE.len(), "every op has an entry in the catalogue, and only those");
    let mut page = String::from(HEAD);
    for (variant, entry) in variants.iter().zip(CATALOGUE) {
        assert_eq!(variant["properties"]["op"]["const"], entry.name, "the catalogue is in the order of Op");
        let text = sentence(variant);
        let same = match entry.torchvision {
            "" => "torchvision has none.".to_owned(),
            function => format!("torchvision: `{function}`."),
        };
        write!(page, "\n## {}\n\n{text} {same}\n", entry.name).unwrap();
        page.push_str(&arguments(variant, &schema));
        write!(page, "\n```json\n{}\n```\n", entry.example).unwrap();
    }
    page
}

fn arguments(variant: &Value, schema: &Value) -> String {
    let required: Vec<&str> =
        variant["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = variant["properties"].as_object().unwrap();
    let mut rows = String::new();
    for (name, property) in properties.iter().filter(|(name, _)| *name != "op") {
        let default = match required.contains(&name.as_str()) {
            true => "required".to_owned(),
            false => format!("`{}`", property.get("default").unwrap_or(&Value::Null)),
        };
        writeln!(rows, "| `{name}` | {} | {default} | {} |", kind(property, schema), sentence(property))
            .unwrap();
    }
    match rows.is_empty() {
        true => "\nNo arguments.\n".to_owned(),
        false => format!("\n| argument | type | default | meaning |\n|-|-|-|-|\n{rows}"),
    }
}

/// A doc comment as one line.
pub(crate) fn sentence(schema: &Value) -> String {
    schema["description"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The JSON type in words.
pub(crate) fn kind(property: &Value, schema: &Value) -> String {
    if let Some(name) = property["$ref"].as_str() {
        return kind(schema.pointer(name.trim_start_matches('#')).unwrap(), schema);
    }
    if let Some(choices) = property.get("anyOf").or_else(|| property.get("oneOf")).and_then(Value::as_array) {
        let mut kinds: Vec<String> = choices.iter().map(|choice| kind(choice, schema)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    if let Some(literal) = property["const"].as_str() {
        return format!("`\"{literal}\"`");
    }
    match &property["type"] {
        Value::String(one) if one == "array" => {
            let item = kind(&property["items"], schema);
            let plural = match item.strip_prefix("array") {
                _ if property["minItems"] == 1 => item,
                None if property["minItems"].is_null() => {
                    let (name, rest) = item.split_at(item.find(' ').unwrap_or(item.len()));
                    return format!("array of {name}s{rest}");
                }
                Some(nested) if property["minItems"].is_null() => return format!("array of arrays{nested}"),
                Some(nested) => format!("arrays{nested}"),
                None => format!("{item}s"),
            };
            format!("array of {} {plural}", property["minItems"])
        }
        Value::String(one) if one == "object" => {
            let Some(fields) = property["properties"].as_object() else { return "op".to_owned() };
            let field = |(name, field)| format!("`{name}` ({})", kind(field, schema));
            format!("object with {}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::String(one) => one.clone(),
        Value::Array(several) => {
            let one = |name: &Value| {
                let mut property = property.clone();
                property["type"] = name.clone();
                kind(&property, schema)
            };
            several.iter().map(one).collect::<Vec<_>>().join(" or ")
        }
        other => panic!("a type that the page has no words for: {other}"),
    }
}
