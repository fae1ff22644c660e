//! One column of a row group, read value by value.

use super::pages::{CheckedPages, Dictionary};
use super::read_error::ReadError;
use crate::source::classes::RawLabel;
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::marker::PhantomData;
use std::sync::Arc;

/// A row group of a file that is open.
#[derive(Clone, Copy)]
pub(super) struct RowGroup<'a> {
    pub(super) file: &'a Arc<File>,
    pub(super) about: &'a ParquetMetaData,
    pub(super) number: usize,
}

impl RowGroup<'_> {
    pub(super) fn rows(&self) -> usize {
        usize::try_from(self.about.row_group(self.number).num_rows()).unwrap_or(0)
    }

    fn pages(&self, leaf: usize) -> Result<CheckedPages, ReadError> {
        let column = self.about.row_group(self.number).column(leaf);
        let locations = self.about.page_index_for_row_group(self.number).page_locations(leaf).cloned();
        let pages = SerializedPageReader::new(Arc::clone(self.file), column, self.rows(), locations)?;
        Ok(CheckedPages::new(pages, self.rows(), column.column_descr().max_def_level() > 0))
    }
}

/// The values of a column that is no list, in the order of rows.
///
/// One is decoded at a time, so that of values which are much larger than what they are made from (a few bytes may
/// stand for a value of a gigabyte) only one is in memory.
pub(super) struct Column<T: DataType> {
    values: ColumnReaderImpl<T>,
    dictionary: Dictionary,
    row: usize,
    rows: usize,
    of_type: PhantomData<T>,
}

impl<T: DataType> Column<T> {
    pub(super) fn new(group: RowGroup<'_>, leaf: usize) -> Result<Self, ReadError> {
        let pages = group.pages(leaf)?;
        let dictionary = pages.dictionary();
        let about = group.about.file_metadata().schema_descr().column(leaf);
        let values = ColumnReaderImpl::new(about, Box::new(pages));
        Ok(Self { values, dictionary, row: 0, rows: group.rows(), of_type: PhantomData })
    }

    pub(super) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Passes over rows; whole pages of them are not even decompressed.
    pub(super) fn skip(&mut self, rows: usize) -> Result<(), ReadError> {
        let skipped = self.values.skip_records(rows)?;
        if skipped < rows {
            return Err(self.ends_at(self.row + skipped));
        }
        self.row += rows;
        Ok(())
    }

    /// The value of the next row; nothing where it is null.
    pub(super) fn next(&mut self) -> Result<Option<T::T>, ReadError> {
        let (mut levels, mut values) = (Vec::with_capacity(1), Vec::with_capacity(1));
        match self.values.read_records(1, Some(&mut levels), None, &mut values)? {
            (1, ..) => self.row += 1,
            _ => return Err(self.ends_at(self.row)),
        }
        Ok(values.pop())
    }

    fn ends_at(&self, row: usize) -> ReadError {
        ReadError::Bad(format!("{row} of {} rows can be read: copy the file again", self.rows))
    }
}

/// The column of labels.
pub(super) enum Labels {
    /// There is none.
    Nothing,
    Text(Column<ByteArrayType>),
    Int32(Column<Int32Type>, ConvertedType),
    Int64(Column<Int64Type>, ConvertedType),
}

impl Labels {
    pub(super) fn new(group: RowGroup<'_>, leaf: Option<usize>) -> Result<Self, ReadError> {
        let Some(leaf) = leaf else { return Ok(Self::Nothing) };
        let about = group.about.file_metadata().schema_descr().column(leaf);
        let converted = about.converted_type();
        Ok(match about.physical_type() {
            Type::BYTE_ARRAY => Self::Text(Column::new(group, leaf)?),
            Type::INT32 => Self::Int32(Column::new(group, leaf)?, converted),
            Type::INT64 => Self::Int64(Column::new(group, leaf)?, converted),
            _ => Self::Nothing,
        })
    }

    /// Hands the label of the next row to `take`.
    pub(super) fn next<R>(&mut self, take: impl FnOnce(RawLabel<'_>) -> R) -> Result<R, ReadError> {
        let index = match self {
            Self::Nothing => None,
            Self::Text(column) => {
                let name = column.next()?;
                return Ok(take(match &name {
                    Some(name) if !name.is_empty() => RawLabel::Name(text(name)?),
                    _ => RawLabel::Nothing,
                }));
            }
            Self::Int32(column, converted) => column.next()?.map(|value| match converted {
                ConvertedType::INT_8 => (value as i8).into(),
                ConvertedType::UINT_8 => (value as u8).into(),
                ConvertedType::INT_16 => (value as i16).into(),
                ConvertedType::UINT_16 => (value as u16).into(),
                ConvertedType::UINT_32 => (value as u32).into(),
                _ => value.into(),
            }),
            // What is too large for an i64 is no class either, and is reported as such.
            Self::Int64(column, ConvertedType::UINT_64) => {
                column.next()?.map(|value| (value as u64).try_into().unwrap_or(i64::MAX))
            }
            Self::Int64(column, _) => column.next()?,
        };
        Ok(take(index.map_or(RawLabel::Nothing, RawLabel::Index)))
    }
}

pub(super) fn text(value: &ByteArray) -> Result<&str, ReadError> {
    Ok(value.as_utf8()?)
}
