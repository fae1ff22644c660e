//! What sources that read fields have in common: their list, its bounds, and what is said of values that are missing.

use super::listed::listed;
use super::{Source, out_of_range};
use crate::error::{Cause, Error, Result};
use crate::field::{self, Field, FieldValue};
use crate::options::MAX_FIELD_BYTES;
use crate::options::nearest::nearest;
use std::sync::Arc;

/// The fields that a source reads. Clones share the list.
#[derive(Clone, Debug)]
pub(super) struct SourceFields {
    pub(super) list: Arc<[Field]>,
    /// Larger values are refused.
    pub(super) max_bytes: u64,
    /// What holds a value, for messages: a member, a column, a feature.
    holder: &'static str,
}

impl SourceFields {
    /// These fields, each of which a `holder` holds.
    ///
    /// # Errors
    /// [`Error::Config`] for fields that cannot be.
    pub(super) fn new(fields: &[Field], holder: &'static str) -> Result<Self> {
        field::check(fields).map_err(Error::config)?;
        Ok(Self { list: fields.into(), max_bytes: MAX_FIELD_BYTES, holder })
    }

    /// Fills `values` with what `find` finds of each field, or else with its default.
    pub(super) fn fill(
        &self,
        source: &impl Source,
        index: usize,
        values: &mut Vec<FieldValue>,
        mut find: impl FnMut(usize, &Field) -> Result<Option<FieldValue>, Cause>,
    ) -> Result<()> {
        values.clear();
        if index >= source.len() {
            return Err(out_of_range(index, source.len()));
        }
        for (number, field) in self.list.iter().enumerate() {
            let value = find(number, field).and_then(|value| match value {
                Some(value) => Ok(value),
                None => field.default_value().cloned().ok_or_else(|| self.missing(field)),
            });
            let value = value.and_then(|value| {
                self.check_bytes(field, 8 * value.list_len().unwrap_or(0) as u64)?;
                match field.refuses(&value) {
                    None => Ok(value),
                    Some(what) => Err(what.into()),
                }
            });
            values.push(value.map_err(|cause| Error::sample(source.key(index), index as u64, cause))?);
        }
        Ok(())
    }

    fn missing(&self, field: &Field) -> Cause {
        let (holder, from) = (self.holder, field.stored_as());
        format!(
            "{field} is missing: the {holder} `{from}` holds nothing for this sample; add it, give the field a default, or \
             let bad samples be skipped (bad_sample)"
        )
        .into()
    }

    /// Refuses a value of so many bytes, or a picture whose file has more than `max_file_bytes`, if that is too many.
    pub(super) fn check_stored(&self, field: &Field, bytes: u64, max_file_bytes: u64) -> Result<(), Cause> {
        match field.kind().is_picture() {
            true => within(field, bytes, max_file_bytes, "max_file_bytes"),
            false => self.check_bytes(field, bytes),
        }
    }

    /// Refuses a value that is no picture of so many bytes if that is too many.
    pub(super) fn check_bytes(&self, field: &Field, bytes: u64) -> Result<(), Cause> {
        within(field, bytes, self.max_bytes, "max_field_bytes")
    }

    /// What is wrong with a field that no record of a data set has, where `there` are the names that it has.
    pub(super) fn unknown<'a>(&self, field: &Field, there: impl IntoIterator<Item = &'a str>) -> String {
        unknown(field, self.holder, there)
    }
}

fn within(field: &Field, bytes: u64, most: u64, option: &str) -> Result<(), Cause> {
    match bytes > most {
        true => Err(format!(
            "{field} has {bytes} bytes, which is above {option} = {most}: raise {option}, or shorten it"
        )
        .into()),
        false => Ok(()),
    }
}

/// The same for one file of a data set.
pub(super) fn unknown<'a>(field: &Field, holder: &str, there: impl IntoIterator<Item = &'a str>) -> String {
    let (from, there): (_, Vec<&str>) = (field.stored_as(), there.into_iter().collect());
    let remedy = match nearest(from, &there) {
        Some(near) => format!("did you mean `{near}`? Say where the field comes from (from)"),
        None => "say where the field comes from (from)".to_owned(),
    };
    let there = if there.is_empty() { "none".to_owned() } else { listed(there) };
    format!("{field}: no {holder} is called `{from}` (there are {there}): {remedy}")
}
