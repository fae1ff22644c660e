//! Field values that were fetched with a record's image, kept until its sample asks for them.

use feedline::field::FieldValue;
use std::collections::HashMap;

/// Limits of what is kept, in records and in bytes; what is dropped is fetched again.
const MAX_WAITING: usize = 4096;
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Values of records that were read and whose sample has not asked for them.
#[derive(Default)]
pub(crate) struct Waiting {
    values: HashMap<usize, Vec<FieldValue>>,
    bytes: usize,
}

impl Waiting {
    /// Keeps those of the record `index`, where they are not too many.
    pub(crate) fn keep(&mut self, index: usize, values: Vec<FieldValue>) {
        self.take(index);
        let bytes = bytes_of(&values);
        if bytes > MAX_WAITING_BYTES {
            return;
        }
        if self.values.len() >= MAX_WAITING || self.bytes + bytes > MAX_WAITING_BYTES {
            *self = Self::default();
        }
        self.bytes += bytes;
        self.values.insert(index, values);
    }

    /// Gives those of the record `index` away.
    pub(crate) fn take(&mut self, index: usize) -> Option<Vec<FieldValue>> {
        let values = self.values.remove(&index)?;
        self.bytes -= bytes_of(&values);
        Some(values)
    }
}

fn bytes_of(values: &[FieldValue]) -> usize {
    let own = |value: &FieldValue| match value {
        FieldValue::Text(text) | FieldValue::Json(text) => text.len(),
        FieldValue::Bytes(bytes) => bytes.len(),
        FieldValue::Integers(list) => size_of_val(list.as_slice()),
        FieldValue::Floats(list) => size_of_val(list.as_slice()),
        // A single number.
        _ => 0,
    };
    values.iter().map(own).sum()
}
