//! One column of a row group, read value by value.

use super::pages::{CheckedPages, Dictionary};
use crate::source::read_error::ReadError;
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{AsBytes, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::ParquetMetaData;
use std::fs::File;

/// What the values of a stretch may take, and those that are passed over ahead of them in a page: far beyond what a stretch is
/// meant to hold, since a single image may be large.
pub(super) const MAX_STRETCH_BYTES: u64 = 2 << 30;

/// A row group of a file that is open.
#[derive(Clone, Copy)]
pub(super) struct RowGroup<'a> {
    pub(super) file: &'a File,
    pub(super) about: &'a ParquetMetaData,
    pub(super) number: usize,
}

impl RowGroup<'_> {
    pub(super) fn rows(&self) -> usize {
        usize::try_from(self.about.row_group(self.number).num_rows()).unwrap_or(0)
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
}

impl<T: DataType> Column<T> {
    /// The values from row `first` on.
    pub(super) fn new(group: RowGroup<'_>, leaf: usize, first: usize) -> Result<Self, ReadError> {
        let (about, rows) = (group.about.row_group(group.number).column(leaf), group.rows());
        // Only where rows are skipped is the index of pages of use; it has been checked for the images.
        let index = group.about.page_index_for_row_group(group.number);
        let locations = index.page_locations(leaf).filter(|_| first > 0).cloned();
        let mut pages = CheckedPages::new(group.file, about, rows, locations)?;
        let left = pages.skip_rows(first)?;
        let dictionary = pages.dictionary();
        let values = ColumnReaderImpl::new(about.column_descr_ptr(), Box::new(pages));
        let mut column = Self { values, dictionary, row: first - left, rows };
        let mut passed = 0;
        // One by one here too: of some encodings the crate decodes all values that it skips at once.
        for _ in 0..left {
            let value = column.next()?;
            let bytes = value.as_ref().map_or(&[][..], AsBytes::as_bytes);
            // Values of a dictionary are not made anew.
            passed += if column.dictionary.holds(bytes) { 0 } else { bytes.len() as u64 };
            if passed > MAX_STRETCH_BYTES {
                return Err(ReadError::Bad(format!(
                    "the {} rows ahead of them take more than {MAX_STRETCH_BYTES} bytes: write smaller pages",
                    column.row
                )));
            }
        }
        Ok(column)
    }

    pub(super) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The value of the next row; nothing where it is null.
    pub(super) fn next(&mut self) -> Result<Option<T::T>, ReadError> {
        let (mut levels, mut values) = (Vec::with_capacity(1), Vec::with_capacity(1));
        if self.values.read_records(1, Some(&mut levels), None, &mut values)?.0 != 1 {
            let Self { row, rows, .. } = self;
            return Err(ReadError::Bad(format!("{row} of {rows} rows can be read: copy the file again")));
        }
        self.row += 1;
        Ok(values.pop())
    }
}

/// A number of 32 bits, of which the file may say that it has fewer, or no sign.
pub(super) fn widened(value: i32, converted: ConvertedType) -> i64 {
    match converted {
        ConvertedType::INT_8 => (value as i8).into(),
        ConvertedType::UINT_8 => (value as u8).into(),
        ConvertedType::INT_16 => (value as i16).into(),
        ConvertedType::UINT_16 => (value as u16).into(),
        ConvertedType::UINT_32 => (value as u32).into(),
        _ => value.into(),
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
            Type::BYTE_ARRAY => Self::Text(Column::new(group, leaf, 0)?),
            Type::INT32 => Self::Int32(Column::new(group, leaf, 0)?, converted),
            Type::INT64 => Self::Int64(Column::new(group, leaf, 0)?, converted),
            _ => Self::Nothing,
        })
    }

    /// The label of the next row: an index or a name, or neither.
    pub(super) fn next(&mut self) -> Result<(Option<i64>, Option<ByteArray>), ReadError> {
        let index = match self {
            Self::Nothing => None,
            Self::Text(column) => return Ok((None, column.next()?.filter(|name| !name.is_empty()))),
            Self::Int32(column, converted) => column.next()?.map(|value| widened(value, *converted)),
            // What is too large for an i64 is no class either, and is reported as such.
            Self::Int64(column, ConvertedType::UINT_64) => {
                column.next()?.map(|value| (value as u64).try_into().unwrap_or(i64::MAX))
            }
            Self::Int64(column, _) => column.next()?,
        };
        Ok((index, None))
    }
}
