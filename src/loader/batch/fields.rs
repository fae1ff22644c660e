//! The fields of a batch: captions, metadata and numbers beside the images, row by row.

use crate::field::{Field, FieldType, FieldValue};

/// The values of one field in the rows of a batch.
///
/// Text, JSON and bytes lie one after the other in one buffer, with the offset of each row; numbers in an array. Lists of numbers
/// are an array `[rows, length]` where the field has a length, else one array with the offset of each row.
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
    rows: usize,
    /// Of lists that are all as long.
    length: Option<usize>,
    /// One longer than there are rows; empty for numbers, and for lists that have a length.
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
            FieldType::Integer | FieldType::Integers => Column::Integers(Vec::with_capacity(rows)),
            FieldType::Float | FieldType::Floats => Column::Floats(Vec::with_capacity(rows)),
        };
        let length = field.list_length();
        let is_ragged = match column {
            Column::Text(_) | Column::Bytes(_) => true,
            Column::Integers(_) | Column::Floats(_) => field.kind().is_list() && length.is_none(),
        };
        let mut offsets = Vec::with_capacity(if is_ragged { rows + 1 } else { 0 });
        if is_ragged {
            offsets.push(0);
        }
        Self { name: field.name().to_owned(), kind: field.kind(), rows: 0, length, offsets, column }
    }

    /// Adds the value of the next row, which is of the field's type.
    pub(super) fn push(&mut self, value: FieldValue) {
        self.rows += 1;
        match (&mut self.column, value) {
            (Column::Text(all), FieldValue::Text(text) | FieldValue::Json(text)) => all.push_str(&text),
            (Column::Bytes(all), FieldValue::Bytes(bytes)) => all.extend(bytes),
            (Column::Integers(all), FieldValue::Integer(number)) => all.push(number),
            (Column::Floats(all), FieldValue::Float(number)) => all.push(number),
            (Column::Integers(all), FieldValue::Integers(list)) => all.extend(list),
            (Column::Floats(all), FieldValue::Floats(list)) => all.extend(list),
            (_, value) => unreachable!("{} of the field {}, which is {}", value.kind(), self.name, self.kind),
        }
        if !self.offsets.is_empty() {
            self.offsets.push(self.values());
        }
    }

    /// How many bytes or numbers all rows have.
    fn values(&self) -> usize {
        match &self.column {
            Column::Text(all) => all.len(),
            Column::Bytes(all) => all.len(),
            Column::Integers(all) => all.len(),
            Column::Floats(all) => all.len(),
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
        self.rows
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
        if self.kind.is_list() {
            return None;
        }
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

    /// Where the bytes of each row begin in [`BatchField::data`], or its list in [`BatchField::integers`] or
    /// [`BatchField::floats`], and at the end their number: one more than there are rows. Empty for numbers, and for lists that
    /// all have the field's length.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// How many numbers the list of each row has, where the field says so.
    pub fn list_length(&self) -> Option<usize> {
        self.length
    }

    /// The numbers of a row's list; `None` for other types than [`FieldType::Integers`], and where there is no such row.
    pub fn integer_list(&self, row: usize) -> Option<&[i64]> {
        self.integers()?.get(self.list(row)?)
    }

    /// The numbers of a row's list; `None` for other types than [`FieldType::Floats`], and where there is no such row.
    pub fn float_list(&self, row: usize) -> Option<&[f64]> {
        self.floats()?.get(self.list(row)?)
    }

    /// Where the list of a row lies among the numbers of all.
    fn list(&self, row: usize) -> Option<std::ops::Range<usize>> {
        match self.length {
            _ if !self.kind.is_list() || row >= self.rows => None,
            Some(length) => Some(row * length..(row + 1) * length),
            None => Some(*self.offsets.get(row)?..*self.offsets.get(row + 1)?),
        }
    }

    /// The numbers of all rows, and those of lists one after the other; `None` for other types than [`FieldType::Integer`] and
    /// [`FieldType::Integers`].
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.column {
            Column::Integers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The numbers of all rows, and those of lists one after the other; `None` for other types than [`FieldType::Float`] and
    /// [`FieldType::Floats`].
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
    fn lists_are_an_array_or_have_offsets() {
        let mut fixed = BatchField::new(&Field::floats("a").length(2), 2);
        [vec![0.5, 1.0], vec![2.0, 3.0]].into_iter().for_each(|list| fixed.push(list.into()));
        assert_eq!((fixed.floats(), fixed.offsets()), (Some(&[0.5, 1.0, 2.0, 3.0][..]), &[][..]));
        assert_eq!((fixed.len(), fixed.list_length()), (2, Some(2)));
        assert_eq!((fixed.float_list(1), fixed.float_list(2)), (Some(&[2.0, 3.0][..]), None));
        let mut ragged = BatchField::new(&Field::integers("b"), 3);
        [vec![7, 8], vec![], vec![9]].into_iter().for_each(|list: Vec<i64>| ragged.push(list.into()));
        assert_eq!((ragged.integers(), ragged.offsets()), (Some(&[7, 8, 9][..]), &[0, 2, 2, 3][..]));
        assert_eq!((ragged.integer_list(1), ragged.integer_list(2)), (Some(&[][..]), Some(&[9][..])));
        assert_eq!(
            (ragged.len(), ragged.list_length(), ragged.float_list(0), ragged.bytes(0)),
            (3, None, None, None)
        );
    }

    #[test]
    fn a_batch_without_rows_has_fields_without_rows() {
        for field in [Field::text("a"), Field::bytes("b"), Field::integer("c"), Field::float("d")] {
            let empty = BatchField::new(&field, 0);
            assert!(empty.is_empty() && empty.texts().next().is_none(), "{field}");
        }
    }
}
