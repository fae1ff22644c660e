//! One Parquet file: where it can be cut, its labels, and the images of a stretch of rows.

use super::columns::{Columns, Wanted};
use crate::source::classes::RawLabel;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

/// What a stretch of images is meant to hold: large enough that reading in order opens a file seldom, small enough that
/// reading one image alone does not decode much more.
const STRETCH_BYTES: u64 = 4 << 20;
/// Rows that are decoded at once, of images and of labels.
const IMAGE_ROWS: usize = 16;
const LABEL_ROWS: usize = 8192;

/// A file whose footer has been read.
#[derive(Debug)]
pub(super) struct ParquetFile {
    pub(super) path: PathBuf,
    about: ArrowReaderMetadata,
    pub(super) columns: Columns,
}

/// Consecutive rows of one row group, which are decoded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) group: usize,
    pub(super) rows: Range<usize>,
}

/// The images of a stretch, and the bytes of memory that they take.
pub(super) struct Images {
    parts: Vec<BinaryArray>,
    pub(super) bytes: u64,
}

/// Takes path and label of a row, or says what is wrong with them.
pub(super) type Take<'a> = dyn FnMut(Option<&str>, RawLabel<'_>) -> Result<(), String> + 'a;

/// Why a file cannot be used.
pub(super) enum Stop {
    Io(io::Error),
    Bad(String),
}

impl From<ParquetError> for Stop {
    fn from(error: ParquetError) -> Self {
        Stop::Bad(format!("{error}: copy the file again, or name Parquet files"))
    }
}

impl ParquetFile {
    pub(super) fn open(path: &Path, wanted: &Wanted) -> Result<Self, Stop> {
        let file = File::open(path).map_err(Stop::Io)?;
        // Without the types that Arrow's writers note besides: bytes and text then come in one form each.
        let options = ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_offset_index_policy(PageIndexPolicy::Optional);
        let about = ArrowReaderMetadata::load(&file, options)?;
        let columns = Columns::of(about.metadata().file_metadata(), wanted).map_err(Stop::Bad)?;
        let file = Self { path: path.to_owned(), about, columns };
        file.refuse_other_counts()?;
        file.refuse_other_compressions()?;
        Ok(file)
    }

    fn refuse_other_compressions(&self) -> Result<(), Stop> {
        let Columns { image, path, label, .. } = self.columns;
        let leaves = [Some(image), path, label].into_iter().flatten();
        let mut found = leaves.flat_map(|leaf| {
            self.about.metadata().row_groups().iter().map(move |group| group.column(leaf).compression())
        });
        match found.find(|found| matches!(found, Compression::BROTLI(_) | Compression::LZO)) {
            None => Ok(()),
            Some(found) => Err(Stop::Bad(format!(
                "it is compressed with {found}, which is not read: write it with snappy, zstd, lz4, gzip or none"
            ))),
        }
    }

    /// Rows are counted in three places; believing a damaged one could mean to wait for ever.
    fn refuse_other_counts(&self) -> Result<(), Stop> {
        let about = self.about.metadata();
        let groups = || about.row_groups().iter();
        let sum = groups().try_fold(0i64, |sum, group| sum.checked_add(group.num_rows()));
        let agree = groups().all(|group| {
            group.num_rows() >= 0 && group.column(self.columns.image).num_values() == group.num_rows()
        });
        if agree && sum == Some(about.file_metadata().num_rows()) {
            return Ok(());
        }
        Err(Stop::Bad(
            "its footer contradicts itself about the number of rows: copy the file again".to_owned(),
        ))
    }

    /// All rows of the file in order, cut so that each stretch holds some megabytes of images: between pages where the
    /// file says where those lie, else evenly.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        for (group, about) in self.about.metadata().row_groups().iter().enumerate() {
            let rows = usize::try_from(about.num_rows()).unwrap_or(0);
            let index = self.about.metadata().page_index_for_row_group(group);
            let pages = index.page_locations(self.columns.image).map_or(&[][..], Vec::as_slice);
            let pages = pages.iter().map(|page| (page.first_row_index, page.compressed_page_size));
            let bytes = about.column(self.columns.image).uncompressed_size();
            let cuts = between_pages(pages, rows).unwrap_or_else(|| evenly(rows, bytes.max(0) as u64));
            let ends = cuts.iter().skip(1).copied().chain([rows]);
            let cut = cuts.iter().copied().zip(ends).map(|(start, end)| Stretch { group, rows: start..end });
            stretches.extend(cut.filter(|stretch| !stretch.rows.is_empty()));
        }
        stretches
    }

    /// Hands path and label of each row to `take`, in order; neither is there where the file has no such column.
    pub(super) fn labels(&self, take: &mut Take<'_>) -> Result<(), Stop> {
        let leaves = self.columns.path.into_iter().chain(self.columns.label);
        let mut rows = 0;
        for batch in self.reader(leaves, LABEL_ROWS, None)? {
            let batch = batch.map_err(|error| Stop::from(ParquetError::from(error)))?;
            let path = self.columns.path.and_then(|leaf| self.column(&batch, leaf));
            let label = self.columns.label.and_then(|leaf| self.column(&batch, leaf));
            for row in 0..batch.num_rows() {
                let path = path.as_ref().and_then(|column| text(column, row));
                take(path, label.as_ref().map_or(RawLabel::Nothing, |column| said(column, row)))
                    .map_err(Stop::Bad)?;
            }
            rows += batch.num_rows();
        }
        let promised = self.about.metadata().file_metadata().num_rows();
        match rows as i64 == promised {
            true => Ok(()),
            false => Err(Stop::Bad(format!("{rows} of {promised} rows can be read: copy the file again"))),
        }
    }

    /// Decodes the images of a stretch.
    pub(super) fn images(&self, stretch: &Stretch) -> Result<Images, Stop> {
        let mut images = Images { parts: Vec::new(), bytes: 0 };
        for batch in self.reader([self.columns.image], IMAGE_ROWS, Some(stretch))? {
            let batch = batch.map_err(|error| Stop::from(ParquetError::from(error)))?;
            let column = self.column(&batch, self.columns.image);
            let Some(part) = column.as_ref().and_then(|column| column.as_binary_opt::<i32>()) else {
                return Err(Stop::Bad("the column of images holds no bytes: name another one".to_owned()));
            };
            images.bytes += part.get_array_memory_size() as u64;
            images.parts.push(part.clone());
        }
        Ok(images)
    }

    fn reader(
        &self,
        leaves: impl IntoIterator<Item = usize>,
        batch_rows: usize,
        stretch: Option<&Stretch>,
    ) -> Result<ParquetRecordBatchReader, Stop> {
        // A file of its own for each reader: readers that share one share its position too.
        let file = File::open(&self.path).map_err(Stop::Io)?;
        let schema = self.about.parquet_schema();
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.about.clone())
            .with_batch_size(batch_rows)
            .with_projection(ProjectionMask::leaves(schema, leaves));
        if let Some(Stretch { group, rows }) = stretch {
            let all = usize::try_from(self.about.metadata().row_group(*group).num_rows()).unwrap_or(0);
            let selection = RowSelection::from_consecutive_ranges([rows.clone()].into_iter(), all);
            builder = builder.with_row_groups(vec![*group]).with_row_selection(selection);
        }
        Ok(builder.build()?)
    }

    /// The column of a leaf in a batch, where a nested one lies in a column of its parent's name. Rows that the parent
    /// has not are null.
    fn column(&self, batch: &RecordBatch, leaf: usize) -> Option<ArrayRef> {
        let path = self.about.parquet_schema().column(leaf).path().parts().to_vec();
        let column = batch.column_by_name(path.first()?)?;
        match (path.get(1), column.as_struct_opt()) {
            (Some(name), Some(parent)) => parent.column_by_name(name).cloned(),
            _ => Some(column.clone()),
        }
    }
}

impl Images {
    /// The bytes of an image, by its row in the stretch; nothing where the row holds none.
    pub(super) fn get(&self, mut row: usize) -> Option<&[u8]> {
        for part in &self.parts {
            match row.checked_sub(part.len()) {
                Some(behind) => row = behind,
                None => return part.is_valid(row).then(|| part.value(row)),
            }
        }
        None
    }
}

/// Runs what reads a file. The crate that decodes Parquet may panic over a damaged one, and that is the file's fault: it
/// must cost a sample and not the run.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
    let given_up =
        |_| Err(Stop::Bad("it is damaged so that decoding gave up: copy the file again".to_owned()));
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(given_up)
}

/// Where stretches begin, so that each has whole pages; nothing where the pages say no sense.
fn between_pages(pages: impl Iterator<Item = (i64, i32)>, rows: usize) -> Option<Vec<usize>> {
    let (mut cuts, mut bytes, mut before) = (Vec::new(), 0, -1);
    for (first_row, page_bytes) in pages {
        let row = usize::try_from(first_row).ok().filter(|row| *row < rows && first_row > before)?;
        before = first_row;
        if cuts.is_empty() || bytes >= STRETCH_BYTES {
            cuts.push(row);
            bytes = 0;
        }
        bytes += u64::try_from(page_bytes).ok()?;
    }
    (cuts.first() == Some(&0)).then_some(cuts)
}

/// Where stretches begin, so that each has as many rows.
fn evenly(rows: usize, bytes: u64) -> Vec<usize> {
    let stretches = bytes.div_ceil(STRETCH_BYTES).clamp(1, rows.max(1) as u64) as usize;
    (0..rows).step_by(rows.div_ceil(stretches).max(1)).collect()
}

fn text(column: &ArrayRef, row: usize) -> Option<&str> {
    let text = column.as_string_opt::<i32>()?;
    text.is_valid(row).then(|| text.value(row)).filter(|text| !text.is_empty())
}

fn said(column: &ArrayRef, row: usize) -> RawLabel<'_> {
    if column.is_null(row) {
        return RawLabel::Nothing;
    }
    RawLabel::Index(match column.data_type() {
        DataType::Int8 => column.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        // What is too large for an i64 is no class either, and is said to be so.
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).try_into().unwrap_or(i64::MAX),
        _ => return text(column, row).map_or(RawLabel::Nothing, RawLabel::Name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_cut_between_pages_and_hold_some_megabytes() {
        let page = |row| (row, 3 << 20);
        assert_eq!(between_pages([0, 5, 9, 12, 20].map(page).into_iter(), 25), Some(vec![0, 9, 20]));
        assert_eq!(between_pages([0].map(page).into_iter(), 25), Some(vec![0]));
    }

    #[test]
    fn a_decoder_that_panics_is_an_error_of_the_file() {
        let stopped = guarded::<()>(|| panic!("this panic is part of a test"));
        assert!(matches!(stopped, Err(Stop::Bad(what)) if what.contains("copy the file again")));
    }

    #[test]
    fn pages_that_make_no_sense_are_not_believed() {
        for rows in [&[][..], &[1, 2], &[0, 5, 5], &[0, 5, 3], &[0, 25], &[0, -1]] {
            assert_eq!(between_pages(rows.iter().map(|row| (*row, 4 << 20)), 25), None, "{rows:?}");
        }
        assert_eq!(between_pages([(0, -1)].into_iter(), 25), None);
    }

    #[test]
    fn without_pages_rows_are_cut_evenly() {
        assert_eq!(evenly(100, 10 << 20), [0, 34, 68]);
        assert_eq!(evenly(2, 100 << 20), [0, 1]);
        assert_eq!(evenly(100, 0), [0]);
        assert!(evenly(0, 1 << 30).is_empty());
    }
}
