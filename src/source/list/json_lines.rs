//! Lists as JSON lines: an object on each line.

use super::{Columns, Row};
use crate::source::classes::RawLabel;
use serde_json::{Map, Value};

/// Passes each object to `take`, with the number of its line.
pub(super) fn read(
    bytes: &[u8],
    columns: &Columns,
    take: &mut dyn FnMut(u64, Row<'_>) -> Result<(), String>,
) -> Result<(), (u64, String)> {
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let object: Map<String, Value> = serde_json::from_slice(line).map_err(|error| {
            let what = error.to_string();
            let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
            (number, format!("column {}: {what}; write one JSON object on each line", error.column()))
        })?;
        row(&object, columns).and_then(|row| take(number, row)).map_err(|what| (number, what))?;
    }
    Ok(())
}

fn row<'v>(object: &'v Map<String, Value>, columns: &Columns) -> Result<Row<'v>, String> {
    let names: Vec<&str> = object.keys().map(String::as_str).collect();
    let path = names[columns.of_path(&names)?];
    let Some(text) = object[path].as_str().filter(|text| !text.is_empty() && !text.contains('\0')) else {
        return Err(format!("`{path}` is {}, which is no path: write the path as text", object[path]));
    };
    let Some(label) = columns.of_label(&names)?.map(|label| names[label]) else {
        return Ok(Row { path: text, label: RawLabel::Nothing });
    };
    let said = match &object[label] {
        Value::Null => RawLabel::Nothing,
        Value::String(name) => RawLabel::Name(name),
        value => match value.as_i64() {
            Some(class) => RawLabel::Index(class),
            None => return Err(format!("`{label}` is {value}, which is no class: write an index or a name")),
        },
    };
    Ok(Row { path: text, label: said })
}
