//! What the rows of a list say beside the paths: classes and the values of fields.

use super::field_texts::FieldTexts;
use crate::error::{Cause, Result};
use crate::field::FieldValue;
use crate::source::Source;
use crate::source::classes::Classes;
use crate::source::field_values::SourceFields;

/// Classes and fields of all rows.
#[derive(Clone, Debug)]
pub(in crate::source) struct RowValues {
    pub(in crate::source) classes: Classes,
    pub(in crate::source) fields: SourceFields,
    pub(super) texts: FieldTexts,
}

impl RowValues {
    /// See [`Source::values`]; `source` is the source of these rows, and `read` reads the file that a row names.
    pub(in crate::source) fn values(
        &self,
        source: &impl Source,
        index: usize,
        values: &mut Vec<FieldValue>,
        read: impl Fn(&str) -> Result<Vec<u8>, Cause>,
    ) -> Result<()> {
        self.fields.fill(source, index, values, |number, field| {
            let Some(text) = self.texts.get(index * self.fields.list.len() + number) else { return Ok(None) };
            if field.kind().is_picture() {
                let bytes = read(text).map_err(|cause| format!("{field}, the file {text}: {cause}"))?;
                return Ok(Some(FieldValue::Bytes(bytes)));
            }
            self.fields.check_bytes(field, text.len() as u64)?;
            Ok(Some(field.parse(text.as_bytes())?))
        })
    }
}
