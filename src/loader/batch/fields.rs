//! The fields of a batch: captions, metadata and numbers beside the images, row by row.

use crate::field::{Field, FieldType, FieldValue};

/// The values of one field in the rows of a batch.
///
/// Text, JSON and bytes lie one after the other in one buffer, with the offset of each row; numbers in an array.
///
/// ```
/// use feedline::field::Field;
/// use feedline::loader::Loader;
/// use feedline::source::Shards;
/// # let folder = tempfile::tempdir()?;
/// # let photo = std::fs::read("data/photos/cat/0000.jpg")?;
/// # let mut archive = tar::Builder::new(std::fs::File::create(folder.path().join("a.tar"))?);
/// # for (name, bytes) in [("1.jpg", &photo[..]), ("1.txt", b"a cat")] {
/// #     let mut header = tar::Header::new_gnu();
/// #     header.set_size(bytes.len() as u64);
/// #     archive.append_data(&mut header, name, bytes)?;
/// # }
/// # archive.finish()?;
///
/// let source = Shards::options().fields([Field::text("caption").from("txt")]).folder(folder.path())?;
/// let loader = Loader::builder(source).decode_only().batch_size(1).build()?;
/// for batch in loader.epoch(0) {
///     let batch = batch?;
///     let captions = batch.field("caption").expect("it was asked for");
///     assert_eq!(captions.text(0), Some("a cat"));
///     assert_eq!(captions.offsets(), [0, 5]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BatchField {
    name: String,
    kind: FieldType,
    /// One longer than there are rows; empty for numbers.
    offsets: Vec<usize>,
    column: Column,
}

#[derive(Clone, Debug, PartialEq)]
enum Column {
    /// Also that of JSON.
    Text(String),
    Bytes(Vec<u8>),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

impl BatchField {
    /// No values yet, of `rows` to come.
    pub(super) fn new(field: &Field, rows: usize) -> Self {
        let column = match field.kind() {
            FieldType::Text | FieldType::Json => Column::Text(String::new()),
            FieldType::Bytes | FieldType::Image | FieldType::Depth => Column::Bytes(Vec::new()),
            FieldType::Integer => Column::Integers(Vec::with_capacity(rows)),
            FieldType::Float => Column::Floats(Vec::with_capacity(rows)),
        };
        let is_ragged = matches!(column, Column::Text(_) | Column::Bytes(_));
        let mut offsets = Vec::with_capacity(if is_ragged { rows + 1 } else { 0 });
        if is_ragged {
            offsets.push(0);
        }
        Self { name: field.name().to_owned(), kind: field.kind(), offsets, column }
    }

    /// Adds the value of the next row, which is of the field's type.
    pub(super) fn push(&mut self, value: FieldValue) {
        match (&mut self.column, value) {
            (Column::Text(all), FieldValue::Text(text) | FieldValue::Json(text)) => {
                all.push_str(&text);
                self.offsets.push(all.len());
            }
            (Column::Bytes(all), FieldValue::Bytes(bytes)) => {
                all.extend(bytes);
                self.offsets.push(all.len());
            }
            (Column::Integers(all), FieldValue::Integer(number)) => all.push(number),
            (Column::Floats(all), FieldValue::Float(number)) => all.push(number),
            (_, value) => unreachable!("{} of the field {}, which is {}", value.kind(), self.name, self.kind),
        }
    }

    /// What the field is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub fn kind(&self) -> FieldType {
        self.kind
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.column {
            Column::Text(_) | Column::Bytes(_) => self.offsets.len().saturating_sub(1),
            Column::Integers(numbers) => numbers.len(),
            Column::Floats(numbers) => numbers.len(),
        }
    }

    /// True when the batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a row, which for [`FieldType::Json`] is JSON; `None` for other types, and where there is no such row.
    pub fn text(&self, row: usize) -> Option<&str> {
        match &self.column {
            Column::Text(all) => all.get(*self.offsets.get(row)?..*self.offsets.get(row + 1)?),
            _ => None,
        }
    }

    /// The texts of all rows; none for other types than [`FieldType::Text`] and [`FieldType::Json`].
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map_while(|row| self.text(row))
    }

    /// The value of a row; `None` for other types than [`FieldType::Json`], and where there is no such row.
    pub fn json(&self, row: usize) -> Option<serde_json::Value> {
        // It was checked when it was read.
        (self.kind == FieldType::Json).then(|| serde_json::from_str(self.text(row)?).ok())?
    }

    /// The bytes of a row, of a text as well; `None` for numbers, and where there is no such row.
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        self.data().get(*self.offsets.get(row)?..*self.offsets.get(row + 1)?)
    }

    /// The bytes of all rows, one after the other; empty for numbers.
    pub fn data(&self) -> &[u8] {
        match &self.column {
            Column::Text(all) => all.as_bytes(),
            Column::Bytes(all) => all,
            Column::Integers(_) | Column::Floats(_) => &[],
        }
    }

    /// Where the bytes of each row begin in [`BatchField::data`], and at the end their number: one more than there are
    /// rows. Empty for numbers.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The numbers of all rows; `None` for other types than [`FieldType::Integer`].
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.column {
            Column::Integers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The numbers of all rows; `None` for other types than [`FieldType::Float`].
    pub fn floats(&self) -> Option<&[f64]> {
        match &self.column {
            Column::Floats(numbers) => Some(numbers),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_different_lengths_are_found_by_their_offsets() {
        let mut captions = BatchField::new(&Field::text("caption"), 3);
        for text in ["ä cat", "", "a dog"] {
            captions.push(text.into());
        }
        assert_eq!((captions.len(), captions.offsets()), (3, &[0, 6, 6, 11][..]));
        assert_eq!(captions.texts().collect::<Vec<_>>(), ["ä cat", "", "a dog"]);
        assert_eq!((captions.text(2), captions.text(3)), (Some("a dog"), None));
        assert_eq!(captions.bytes(2), Some(&b"a dog"[..]));
        assert_eq!((captions.integers(), captions.json(0)), (None, None));
    }

    #[test]
    fn numbers_are_an_array_and_json_is_a_value() {
        let mut scores = BatchField::new(&Field::float("score"), 2);
        [0.5, 2.0].into_iter().for_each(|score: f64| scores.push(score.into()));
        assert_eq!((scores.floats(), scores.len(), scores.offsets()), (Some(&[0.5, 2.0][..]), 2, &[][..]));
        assert_eq!((scores.text(0), scores.bytes(0), scores.data()), (None, None, &[][..]));
        let mut about = BatchField::new(&Field::json("about"), 1);
        about.push(FieldValue::Json("{\"a\": [1]}".into()));
        assert_eq!(about.json(0), Some(serde_json::json!({"a": [1]})));
    }

    #[test]
    fn a_batch_without_rows_has_fields_without_rows() {
        for field in [Field::text("a"), Field::bytes("b"), Field::integer("c"), Field::float("d")] {
            let empty = BatchField::new(&field, 0);
            assert!(empty.is_empty() && empty.texts().next().is_none(), "{field}");
        }
    }
}
