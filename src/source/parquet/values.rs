//! The values of one column in a stretch of rows: what is decoded together, and kept.

use super::chunks::max_unpacked_bytes;
use super::column::{Column, MAX_STRETCH_BYTES, RowGroup, widened};
use super::columns::{FieldColumn, Stored};
use crate::field::{Field, FieldType, FieldValue};
use crate::source::read_error::ReadError;
use parquet::basic::ConvertedType;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// Values by row in their stretch; nothing where a row is null.
pub(super) enum Values {
    /// Images, or whatever else is bytes or text.
    Bytes(ByteValues),
    Integers(Vec<Option<i64>>),
    Floats(Vec<Option<f64>>),
    IntegerLists(Vec<Option<Vec<i64>>>),
    FloatLists(Vec<Option<Vec<f64>>>),
}

/// The bytes of a stretch, one after the other. Rows that share a value of the column's dictionary share its bytes.
#[derive(Default)]
pub(super) struct ByteValues {
    bytes: Vec<u8>,
    /// The range of each row's value; nothing where the row holds none.
    rows: Vec<Option<Range<usize>>>,
}

impl Values {
    /// Decodes these rows of a column, of a file of so many bytes.
    pub(super) fn read(
        group: RowGroup<'_>,
        FieldColumn { leaf, stored, lists }: FieldColumn,
        rows: &Range<usize>,
        file_bytes: u64,
    ) -> Result<Self, ReadError> {
        let signed = |value: i64| match value < 0 {
            true => Err(ReadError::Bad(format!("a number is above {}: store it as text", i64::MAX))),
            false => Ok(value),
        };
        if lists {
            return Ok(match stored {
                Stored::Int32(kind) => {
                    Self::IntegerLists(each_list::<Int32Type, _>(group, leaf, rows, |value| {
                        Ok(widened(value, kind))
                    })?)
                }
                Stored::Int64(ConvertedType::UINT_64) => {
                    Self::IntegerLists(each_list::<Int64Type, _>(group, leaf, rows, signed)?)
                }
                Stored::Int64(_) => Self::IntegerLists(each_list::<Int64Type, _>(group, leaf, rows, Ok)?),
                Stored::Float => {
                    Self::FloatLists(each_list::<FloatType, _>(group, leaf, rows, |value| Ok(value.into()))?)
                }
                _ => Self::FloatLists(each_list::<DoubleType, _>(group, leaf, rows, Ok)?),
            });
        }
        Ok(match stored {
            Stored::Bytes => Self::Bytes(ByteValues::read(group, leaf, rows, file_bytes)?),
            Stored::Boolean => {
                Self::Integers(each::<BoolType, _>(group, leaf, rows, |value| Ok(value.into()))?)
            }
            Stored::Int32(kind) => {
                Self::Integers(each::<Int32Type, _>(group, leaf, rows, |value| Ok(widened(value, kind)))?)
            }
            Stored::Int64(ConvertedType::UINT_64) => {
                Self::Integers(each::<Int64Type, _>(group, leaf, rows, signed)?)
            }
            Stored::Int64(_) => Self::Integers(each::<Int64Type, _>(group, leaf, rows, Ok)?),
            Stored::Float => Self::Floats(each::<FloatType, _>(group, leaf, rows, |value| Ok(value.into()))?),
            Stored::Double => Self::Floats(each::<DoubleType, _>(group, leaf, rows, Ok)?),
        })
    }

    /// The bytes of a row; nothing where it is null, and where the values are numbers.
    pub(super) fn bytes(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Bytes(values) => values.bytes.get(values.rows.get(row)?.clone()?),
            _ => None,
        }
    }

    /// The value of a row for a field, which is of a type that the column serves.
    pub(super) fn value(&self, row: usize, field: &Field) -> Result<Option<FieldValue>, String> {
        let is_float = field.kind() == FieldType::Float;
        let integer = |number| match is_float {
            true => FieldValue::Float(number as f64),
            false => FieldValue::Integer(number),
        };
        match self {
            Self::Bytes(_) => self.bytes(row).map(|bytes| field.parse(bytes)).transpose(),
            Self::Integers(numbers) => Ok(numbers.get(row).copied().flatten().map(integer)),
            Self::Floats(numbers) => Ok(numbers.get(row).copied().flatten().map(FieldValue::Float)),
            Self::IntegerLists(lists) => {
                let list = lists.get(row).cloned().flatten();
                Ok(list.map(|list| match field.kind() {
                    FieldType::Floats => {
                        list.into_iter().map(|number| number as f64).collect::<Vec<f64>>().into()
                    }
                    _ => FieldValue::Integers(list),
                }))
            }
            Self::FloatLists(lists) => Ok(lists.get(row).cloned().flatten().map(FieldValue::Floats)),
        }
    }

    /// The bytes of memory that they take.
    pub(super) fn memory_bytes(&self) -> u64 {
        let bytes = match self {
            Self::Bytes(values) => values.bytes.capacity() + size_of_val(&values.rows[..]),
            Self::Integers(numbers) => size_of_val(&numbers[..]),
            Self::Floats(numbers) => size_of_val(&numbers[..]),
            Self::IntegerLists(lists) => lists_bytes(lists),
            Self::FloatLists(lists) => lists_bytes(lists),
        };
        bytes as u64
    }
}

impl ByteValues {
    fn read(
        group: RowGroup<'_>,
        leaf: usize,
        rows: &Range<usize>,
        file_bytes: u64,
    ) -> Result<Self, ReadError> {
        let mut column = Column::<ByteArrayType>::new(group, leaf, rows.start)?;
        let (mut values, mut shared) = (Self::default(), HashMap::<_, Range<usize>>::new());
        // A page of a few bytes may say "as the one before" of a large image many times.
        let limit = max_unpacked_bytes(file_bytes).min(MAX_STRETCH_BYTES) as usize;
        for _ in rows.clone() {
            let value = column.next()?;
            let row = match &value {
                None => None,
                Some(value) if column.dictionary().holds(value.data()) => {
                    Some(match shared.entry(value.data().as_ptr()) {
                        Entry::Occupied(range) => range.get().clone(),
                        Entry::Vacant(entry) => entry.insert(values.add(value.data(), limit)?).clone(),
                    })
                }
                Some(value) => Some(values.add(value.data(), limit)?),
            };
            values.rows.push(row);
        }
        values.bytes.shrink_to_fit();
        Ok(values)
    }

    /// Adds a value where all of them take no more than `limit` then.
    fn add(&mut self, value: &[u8], limit: usize) -> Result<Range<usize>, ReadError> {
        let start = self.bytes.len();
        if value.len() > limit.saturating_sub(start) {
            return Err(ReadError::Bad(format!(
                "they take more than {limit} bytes, where a stretch of images is meant to hold a few MiB: write smaller \
                 pages and row groups"
            )));
        }
        self.bytes.extend_from_slice(value);
        Ok(start..self.bytes.len())
    }
}

fn each<T: DataType, V>(
    group: RowGroup<'_>,
    leaf: usize,
    rows: &Range<usize>,
    convert: impl Fn(T::T) -> Result<V, ReadError>,
) -> Result<Vec<Option<V>>, ReadError> {
    let mut column = Column::<T>::new(group, leaf, rows.start)?;
    rows.clone().map(|_| column.next()?.map(&convert).transpose()).collect()
}

fn each_list<T: DataType, V>(
    group: RowGroup<'_>,
    leaf: usize,
    rows: &Range<usize>,
    convert: impl Fn(T::T) -> Result<V, ReadError>,
) -> Result<Vec<Option<Vec<V>>>, ReadError> {
    let (mut column, mut bytes) = (Column::<T>::new(group, leaf, rows.start)?, 0);
    let list = |_| {
        let Some(list) = column.next_list()? else { return Ok(None) };
        bytes += size_of::<V>() * list.len();
        if bytes as u64 > MAX_STRETCH_BYTES {
            return Err(ReadError::Bad(format!(
                "the lists take more than {MAX_STRETCH_BYTES} bytes: write smaller pages"
            )));
        }
        list.into_iter().map(&convert).collect::<Result<_, _>>().map(Some)
    };
    rows.clone().map(list).collect()
}

fn lists_bytes<V>(lists: &[Option<Vec<V>>]) -> usize {
    size_of_val(lists) + lists.iter().flatten().map(|list| size_of_val(&list[..])).sum::<usize>()
}
