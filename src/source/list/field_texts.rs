//! The values of fields that a list holds, close together in memory.

use crate::field::Field;
use std::borrow::Cow;

/// Texts by record and field. Each costs its length and nine bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldTexts {
    text: String,
    ends: Vec<u64>,
    present: Vec<bool>,
}

impl FieldTexts {
    /// Adds a record's texts, in the order of `fields`; nothing where it has none.
    ///
    /// # Errors
    /// A text that is not of its field's type.
    pub(super) fn push(&mut self, fields: &[Field], texts: &[Option<Cow<'_, str>>]) -> Result<(), String> {
        for (field, text) in fields.iter().zip(texts) {
            if let Some(text) = text {
                field.parse(text.as_bytes())?;
                self.text.push_str(text);
            }
            self.ends.push(self.text.len() as u64);
            self.present.push(text.is_some());
        }
        Ok(())
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.present.shrink_to_fit();
    }

    /// The text at this position, counted through the fields of one record after the other.
    pub(super) fn get(&self, at: usize) -> Option<&str> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let text = &self.text[start as usize..self.ends[at] as usize];
        self.present[at].then_some(text)
    }
}
