//! What shards of a source hold beside images and classes, and where in each record it lies.

use super::Format;
use crate::field::{Field, FieldType, FieldValue};
use crate::label::Label;
use crate::source::Source;
use crate::source::packed::holds::{CLASS_ENDINGS, HeldField, Holds};
use std::path::Path;

/// Where the JSON about a record lies in tar files: its key, its class by name, and its objects.
pub(super) const JSON: &str = "json";
/// The ending of a semantic mask in tar files, by which WebDataset decodes it as an image.
const MASK: &str = "seg.png";
/// The longest name of a field that becomes a part of a file's name.
const MAX_ENDING_BYTES: usize = 64;
/// How the places of fields begin whose own names cannot be used.
const NUMBERED: &str = "field-";

/// What shards of `source` hold.
pub(super) fn of(source: &dyn Source, format: Format) -> Holds {
    let [objects, masks] = match format {
        Format::Tar | Format::Coefficients => [JSON, MASK],
        Format::TfRecord => ["image/objects", "image/segmentation/class/encoded"],
    };
    let mut holds = Holds { masks: source.has_masks().then(|| masks.to_owned()), ..Holds::default() };
    for index in 0..source.len() {
        match source.label(index) {
            Label::Classes(_) => holds.class_lists = true,
            Label::Objects(of_record) => {
                holds.objects.get_or_insert_with(|| objects.to_owned());
                holds.skeleton = holds.skeleton.or_else(|| of_record.skeleton.as_deref().cloned());
            }
            _ => {}
        }
    }
    let fields = source.fields().iter().enumerate();
    holds.fields = fields.map(|(number, field)| held(number, field, format)).collect();
    holds
}

fn held(number: usize, field: &Field, format: Format) -> HeldField {
    let (name, kind) = (field.name().to_owned(), field.kind());
    let from = match format {
        Format::Tar | Format::Coefficients => {
            let is_ending = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
            let usable = name.len() <= MAX_ENDING_BYTES && name.bytes().all(is_ending);
            let named = format!("{name}.{}", ending(kind));
            match usable && !name.starts_with(NUMBERED) && named != MASK && !CLASS_ENDINGS.contains(&&*named)
            {
                true => named,
                false => format!("{NUMBERED}{number}.{}", ending(kind)),
            }
        }
        Format::TfRecord => match name.starts_with("image/") || name.starts_with(NUMBERED) {
            true => format!("{NUMBERED}{number}"),
            false => name.clone(),
        },
    };
    let stored = field.stored_as();
    // The packer's folders are nobody else's business.
    let folder = Path::new(stored).file_name().filter(|_| kind.is_picture());
    let source = (stored != name)
        .then(|| folder.map_or(stored.into(), |folder| folder.to_string_lossy()).into_owned());
    HeldField { name, kind, from, source, length: field.list_length() }
}

/// What a file with a value of this type ends in; WebDataset decodes `txt` and `json` by themselves.
fn ending(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Text => "txt",
        FieldType::Json | FieldType::Integer | FieldType::Float | FieldType::Integers | FieldType::Floats => {
            "json"
        }
        FieldType::Depth => "png",
        _ => "bin",
    }
}

/// A value as the bytes of a file. Numbers are JSON, but for infinities and what is no number, which Python's module reads.
pub(super) fn bytes_of(value: &FieldValue) -> Vec<u8> {
    match value {
        FieldValue::Text(text) | FieldValue::Json(text) => text.clone().into_bytes(),
        FieldValue::Bytes(bytes) => bytes.clone(),
        FieldValue::Integer(number) => number.to_string().into_bytes(),
        FieldValue::Float(number) => fraction(*number).into_bytes(),
        FieldValue::Integers(list) => in_brackets(list.iter().map(i64::to_string)),
        FieldValue::Floats(list) => in_brackets(list.iter().copied().map(fraction)),
    }
}

fn fraction(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => format!("{number:?}"),
    }
}

fn in_brackets(numbers: impl Iterator<Item = String>) -> Vec<u8> {
    format!("[{}]", numbers.collect::<Vec<_>>().join(", ")).into_bytes()
}
