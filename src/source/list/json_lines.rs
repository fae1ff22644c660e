//! Lists as JSON lines: an object on each line.

use super::{Columns, Row};
use crate::field::{Field, FieldType};
use crate::source::classes::RawLabel;
use crate::source::field_values::unknown;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Most names of members that are kept for a message.
const MAX_NAMES: usize = 64;

/// Passes each object to `take`, with the number of its line.
pub(super) fn read(
    bytes: &[u8],
    columns: &Columns,
    take: &mut dyn FnMut(u64, Row<'_>) -> Result<(), String>,
) -> Result<(), (u64, String)> {
    // Fields that no object had so far, and the names that were there in their place.
    let (mut missing, mut names, mut last): (Vec<&Field>, _, _) =
        (columns.fields.iter().collect(), BTreeSet::new(), 1);
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
        missing.retain(|field| !object.contains_key(field.stored_as()));
        if !missing.is_empty() {
            let room = MAX_NAMES.saturating_sub(names.len());
            names.extend(object.into_iter().map(|(name, _)| name).take(room));
        }
        last = number;
    }
    match missing.first() {
        Some(field) => Err((last, unknown(field, "member of any object", names.iter().map(String::as_str)))),
        None => Ok(()),
    }
}

fn row<'v>(object: &'v Map<String, Value>, columns: &Columns) -> Result<Row<'v>, String> {
    let names: Vec<&str> = object.keys().map(String::as_str).collect();
    let path = names[columns.of_path(&names)?];
    let Some(text) = object[path].as_str().filter(|text| !text.is_empty() && !text.contains('\0')) else {
        return Err(format!("`{path}` is {}, which is no path: write the path as text", object[path]));
    };
    let fields = columns.fields.iter().map(|field| value(object, field)).collect::<Result<_, _>>()?;
    let Some(label) = columns.of_label(&names)?.map(|label| names[label]) else {
        return Ok(Row { path: text, label: RawLabel::Nothing, fields });
    };
    let said = match &object[label] {
        Value::Null => RawLabel::Nothing,
        Value::String(name) if columns.separator.is_some() => columns.label(name),
        Value::String(name) if name.is_empty() => RawLabel::Nothing,
        Value::String(name) => RawLabel::Name(name),
        Value::Array(list) => several(list).ok_or_else(|| {
            format!("`{label}` is {}, which is no list of classes: write indices, or names", object[label])
        })?,
        value => match value.as_i64() {
            Some(class) => RawLabel::Index(class),
            None => return Err(format!("`{label}` is {value}, which is no class: write an index or a name")),
        },
    };
    Ok(Row { path: text, label: said, fields })
}

/// The classes of a list, all by index or all by name.
fn several(list: &[Value]) -> Option<RawLabel<'_>> {
    let indices = list.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>().map(RawLabel::Indices);
    indices.or_else(|| list.iter().map(Value::as_str).collect::<Option<Vec<&str>>>().map(RawLabel::Names))
}

/// The value of a field, as text.
fn value<'v>(object: &'v Map<String, Value>, field: &Field) -> Result<Option<Cow<'v, str>>, String> {
    let value = match object.get(field.stored_as()) {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value,
    };
    match (field.kind(), value) {
        (FieldType::Json, value) => Ok(Some(Cow::Owned(value.to_string()))),
        (kind, Value::String(text)) if matches!(kind.stored(), FieldType::Text | FieldType::Bytes) => {
            Ok(Some(Cow::Borrowed(text)))
        }
        (FieldType::Integers | FieldType::Floats, Value::Array(list))
            if list.iter().all(Value::is_number) =>
        {
            Ok(Some(Cow::Owned(value.to_string())))
        }
        (FieldType::Integer | FieldType::Float, Value::Number(number)) => {
            Ok(Some(Cow::Owned(number.to_string())))
        }
        (kind, value) => Err(format!(
            "{field} is {kind}, and `{}` is {value}: write a value of that type, or declare the field as json",
            field.stored_as()
        )),
    }
}
