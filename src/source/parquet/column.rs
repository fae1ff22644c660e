//! One column of a row group, read value by value.

use super::pages::{CheckedPages, Dictionary, Listed, MAX_LISTED_VALUES};
use crate::source::read_error::ReadError;
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{AsBytes, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::ColumnDescPtr;
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

/// The values of a column, or its lists of them, in the order of rows.
///
/// One is decoded at a time, so that of values which are much larger than what they are made from (a few bytes may
/// stand for a value of a gigabyte) only one is in memory.
pub(super) struct Column<T: DataType> {
    values: ColumnReaderImpl<T>,
    dictionary: Dictionary,
    listed: Listed,
    row: usize,
    rows: usize,
    lists: Option<ListLevels>,
}

/// The definition levels of a column of lists.
#[derive(Clone, Copy)]
pub(super) struct ListLevels {
    /// Of a value.
    value: i16,
    /// From which on a list has an entry; the level below it is that of an empty list.
    entry: i16,
}

impl ListLevels {
    /// Those of a column whose rows are lists of values; `None` for all others.
    pub(super) fn of(column: &ColumnDescPtr) -> Option<Self> {
        let value = column.max_def_level();
        let entry = value - i16::from(column.self_type().is_optional());
        // A list of lists repeats twice, and one of structures has a longer path.
        (column.max_rep_level() == 1 && column.path().parts().len() <= 3).then_some(Self { value, entry })
    }
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
        let (dictionary, listed) = (pages.dictionary(), pages.listed());
        let values = ColumnReaderImpl::new(about.column_descr_ptr(), Box::new(pages));
        let lists = ListLevels::of(&about.column_descr_ptr());
        let mut column = Self { values, dictionary, listed, row: first - left, rows, lists };
        let mut passed = 0;
        // One by one here too: of some encodings the crate decodes all values that it skips at once.
        for _ in 0..left {
            let values = match column.lists {
                Some(_) => column.next_list()?.unwrap_or_default(),
                None => column.next()?.into_iter().collect(),
            };
            // Values of a dictionary are not made anew.
            let made = values.iter().map(AsBytes::as_bytes).filter(|bytes| !column.dictionary.holds(bytes));
            passed += made.map(|bytes| bytes.len() as u64).sum::<u64>();
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
            return Err(self.ended());
        }
        self.row += 1;
        Ok(values.pop())
    }

    /// The list of the next row, of a column of lists; nothing where it is null.
    pub(super) fn next_list(&mut self) -> Result<Option<Vec<T::T>>, ReadError> {
        let Some(ListLevels { value, entry }) = self.lists else { return Ok(None) };
        let (mut levels, mut repeats, mut values) = (Vec::new(), Vec::new(), Vec::new());
        self.listed.begin();
        if self.values.read_records(1, Some(&mut levels), Some(&mut repeats), &mut values)?.0 != 1 {
            return Err(self.ended());
        }
        let row = self.row;
        self.row += 1;
        if levels.len() > MAX_LISTED_VALUES {
            let count = levels.len();
            return Err(ReadError::Bad(format!(
                "the list of row {row} has {count} values, and at most {MAX_LISTED_VALUES} are read: write shorter lists"
            )));
        }
        if levels.iter().any(|level| (entry..value).contains(level)) {
            return Err(ReadError::Bad(format!(
                "the list of row {row} has a null in it: write lists without nulls"
            )));
        }
        let is_there = levels.first().is_some_and(|level| *level >= entry - 1);
        Ok(is_there.then_some(values))
    }

    fn ended(&self) -> ReadError {
        let Self { row, rows, .. } = self;
        ReadError::Bad(format!("{row} of {rows} rows can be read: copy the file again"))
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

    /// The label of the next row.
    pub(super) fn next(&mut self) -> Result<LabelValue, ReadError> {
        Ok(match self {
            Self::Nothing => LabelValue::Indices(None),
            Self::Text(column) => match column.lists {
                Some(_) => LabelValue::NameList(column.next_list()?),
                None => LabelValue::Name(column.next()?.filter(|name| !name.is_empty())),
            },
            Self::Int32(column, converted) => of_numbers(column, |value| widened(value, *converted))?,
            Self::Int64(column, converted) => match converted {
                // What is too large for an i64 is no class either, and is reported as such.
                ConvertedType::UINT_64 => {
                    of_numbers(column, |value| (value as u64).try_into().unwrap_or(i64::MAX))?
                }
                _ => of_numbers(column, |value| value)?,
            },
        })
    }
}

/// The label of a row; nothing where it is null.
pub(super) enum LabelValue {
    Index(Option<i64>),
    Indices(Option<Vec<i64>>),
    Name(Option<ByteArray>),
    NameList(Option<Vec<ByteArray>>),
}

fn of_numbers<T: DataType>(
    column: &mut Column<T>,
    convert: impl Fn(T::T) -> i64,
) -> Result<LabelValue, ReadError> {
    Ok(match column.lists {
        Some(_) => {
            LabelValue::Indices(column.next_list()?.map(|list| list.into_iter().map(convert).collect()))
        }
        None => LabelValue::Index(column.next()?.map(convert)),
    })
}
