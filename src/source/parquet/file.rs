//! One Parquet file: where it can be cut, its labels, and the images of a stretch of rows.

use super::chunks::max_unpacked_bytes;
use super::column::{Column, LabelValue, Labels, RowGroup};
use super::columns::{Columns, FieldColumn, Stored, Wanted};
use super::footer;
use super::values::Values;
use crate::regular_file;
use crate::source::classes::RawLabel;
use crate::source::file_version::FileVersion;
use crate::source::read_error::ReadError;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What a stretch of images is meant to hold: large enough that reading in order opens a file seldom, small enough that
/// reading one image alone does not decode much more.
const STRETCH_BYTES: u64 = 4 << 20;
/// Maximal number of rows of a stretch, however small its images are according to the footer.
const STRETCH_ROWS: usize = 1 << 14;

/// So many rows a file may always have; one with more must not have more than it has bytes.
const MAX_ROWS: u64 = 1 << 20;
/// Maximal size of a path, and of a label that is text.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// What the paths and labels of a file may take: as much as the file, or 1 GiB.
const MAX_TEXTS_BYTES: u64 = 1 << 30;

/// A file whose footer has been read.
#[derive(Debug)]
pub(super) struct ParquetFile {
    pub(super) path: PathBuf,
    pub(super) version: FileVersion,
    file_bytes: u64,
    about: ParquetMetaData,
    pub(super) columns: Columns,
    /// All rows in order, cut so that each stretch holds some megabytes of images.
    pub(super) stretches: Vec<Stretch>,
}

/// Consecutive rows of one row group, which are decoded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) group: usize,
    pub(super) rows: Range<usize>,
}

/// Takes path and label of a row, or returns what is wrong with them.
pub(super) type Take<'a> = dyn FnMut(Option<&str>, RawLabel<'_>) -> Result<(), String> + 'a;

impl ParquetFile {
    pub(super) fn open(path: &Path, wanted: &Wanted) -> Result<Self, ReadError> {
        let file = regular_file::open(path)?;
        // Ahead of what is read: what changes meanwhile is no file of this version.
        let (file_bytes, version) = (file.metadata()?.len(), FileVersion::of(&file)?);
        let about = footer::read(&file)?;
        let columns = Columns::of(about.file_metadata(), wanted).map_err(ReadError::Bad)?;
        let about = footer::with_pages(&file, about, columns.image)?;
        let mut file =
            Self { path: path.to_owned(), version, file_bytes, about, columns, stretches: Vec::new() };
        file.refuse_other_counts()?;
        file.refuse_other_compressions()?;
        file.stretches = file.cut()?;
        Ok(file)
    }

    fn refuse_other_compressions(&self) -> Result<(), ReadError> {
        let mut found = self.columns.leaves().into_iter().flat_map(|leaf| {
            self.about.row_groups().iter().map(move |group| group.column(leaf).compression())
        });
        match found.find(|found| matches!(found, Compression::BROTLI(_) | Compression::LZO)) {
            None => Ok(()),
            Some(found) => Err(ReadError::Bad(format!(
                "it is compressed with {found}, which is not read: write it with snappy, zstd, lz4, gzip or none"
            ))),
        }
    }

    /// Rows are counted in three places; believing a damaged one could mean to wait for ever.
    fn refuse_other_counts(&self) -> Result<(), ReadError> {
        let about = &self.about;
        let groups = || about.row_groups().iter();
        let sum = groups().try_fold(0i64, |sum, group| sum.checked_add(group.num_rows()));
        let agree = groups().all(|group| {
            group.num_rows() >= 0 && group.column(self.columns.image).num_values() == group.num_rows()
        });
        let Some(rows) = sum.filter(|sum| agree && *sum == about.file_metadata().num_rows()) else {
            return Err(ReadError::Bad(
                "its footer contradicts itself about the number of rows: copy the file again".to_owned(),
            ));
        };
        match rows as u64 > self.file_bytes.max(MAX_ROWS) {
            true => Err(ReadError::Bad(format!(
                "its footer claims {rows} rows, more than a file of {} bytes can hold: copy the file again",
                self.file_bytes
            ))),
            false => Ok(()),
        }
    }

    /// Cuts the rows between pages where the file has an index of them, else evenly.
    fn cut(&self) -> Result<Vec<Stretch>, ReadError> {
        let mut stretches = Vec::new();
        for (group, about) in self.about.row_groups().iter().enumerate() {
            let rows = usize::try_from(about.num_rows()).unwrap_or(0);
            let index = self.about.page_index_for_row_group(group);
            let pages = index.page_locations(self.columns.image).map_or(&[][..], Vec::as_slice);
            let column = about.column(self.columns.image);
            let cuts = match pages {
                [] => evenly(rows, column.uncompressed_size(), self.file_bytes),
                _ => between_pages(pages, column.byte_range().0, rows).ok_or_else(|| {
                    let what = "the index of its pages contradicts itself";
                    ReadError::Bad(format!("{what}: write the file anew, or without an index of pages"))
                })?,
            };
            let ends = cuts.iter().skip(1).copied().chain([rows]);
            let cut = cuts.iter().copied().zip(ends).map(|(start, end)| Stretch { group, rows: start..end });
            stretches.extend(cut.filter(|stretch| !stretch.rows.is_empty()));
        }
        Ok(stretches)
    }

    /// Hands path and label of each row to `take`, in order; neither is there where the file has no such column.
    pub(super) fn labels(&self, take: &mut Take<'_>) -> Result<(), ReadError> {
        let file = self.reopen()?;
        let mut texts = 0;
        for number in 0..self.about.num_row_groups() {
            let group = RowGroup { file: &file, about: &self.about, number };
            let paths = self.columns.path.map(|leaf| Column::<ByteArrayType>::new(group, leaf, 0));
            let (mut paths, mut labels) = (paths.transpose()?, Labels::new(group, self.columns.label)?);
            for _ in 0..group.rows() {
                let path = paths.as_mut().map_or(Ok(None), Column::next)?;
                let said = labels.next()?;
                let label = match &said {
                    LabelValue::Index(index) => index.map_or(RawLabel::Nothing, RawLabel::Index),
                    LabelValue::Indices(list) => list.clone().map_or(RawLabel::Nothing, RawLabel::Indices),
                    LabelValue::Name(name) => {
                        name.as_ref().map(text).transpose()?.map_or(RawLabel::Nothing, RawLabel::Name)
                    }
                    LabelValue::NameList(list) => {
                        let names = list.iter().flatten().map(text).collect::<Result<_, _>>()?;
                        if list.is_some() { RawLabel::Names(names) } else { RawLabel::Nothing }
                    }
                };
                let of_label = match &label {
                    RawLabel::Name(name) => name.len(),
                    RawLabel::Names(names) => names.iter().map(|name| name.len()).sum(),
                    RawLabel::Indices(list) => size_of_val(&list[..]),
                    RawLabel::Index(_) | RawLabel::Nothing => 0,
                };
                texts += (path.as_ref().map_or(0, ByteArray::len) + of_label) as u64;
                if texts > self.file_bytes.max(MAX_TEXTS_BYTES) {
                    return Err(ReadError::Bad(format!(
                        "its paths and labels take more than {texts} bytes of memory: write shorter ones"
                    )));
                }
                take(path.as_ref().map(text).transpose()?, label).map_err(ReadError::Bad)?;
            }
        }
        Ok(())
    }

    /// Decodes the images of a stretch, or with a number the values of that field.
    pub(super) fn values(&self, field: Option<usize>, stretch: &Stretch) -> Result<Values, ReadError> {
        let file = self.reopen()?;
        let group = RowGroup { file: &file, about: &self.about, number: stretch.group };
        let images = FieldColumn { leaf: self.columns.image, stored: Stored::Bytes, lists: false };
        let column = field.map_or(images, |field| self.columns.fields[field]);
        Values::read(group, column, &stretch.rows, self.file_bytes)
    }

    /// The file, opened anew for each thread that reads: those that shared one would share its position too.
    fn reopen(&self) -> Result<File, ReadError> {
        let file = regular_file::open(&self.path)?;
        self.version.check(&file)?;
        Ok(file)
    }
}

/// A path or a name.
fn text(value: &ByteArray) -> Result<&str, ReadError> {
    match value.len() > MAX_TEXT_BYTES {
        true => Err(ReadError::Bad(format!(
            "a path or label has {} bytes, and at most {MAX_TEXT_BYTES} are read: write a shorter one",
            value.len()
        ))),
        false => Ok(value.as_utf8()?),
    }
}

/// The first rows of stretches of whole pages, of a column whose bytes begin at `start`; nothing where the index of pages
/// contradicts itself.
fn between_pages(pages: &[PageLocation], start: u64, rows: usize) -> Option<Vec<usize>> {
    let (mut cuts, mut bytes, mut before, mut end) = (Vec::new(), 0, None, start);
    for page in pages {
        let row = usize::try_from(page.first_row_index).ok()?;
        let (offset, size) =
            (u64::try_from(page.offset).ok()?, u64::try_from(page.compressed_page_size).ok()?);
        if row >= rows || before.is_some_and(|before| row <= before) || offset < end {
            return None;
        }
        (before, end) = (Some(row), offset.checked_add(size)?);
        let rows_since = cuts.last().map_or(STRETCH_ROWS, |cut| row - cut);
        if bytes >= STRETCH_BYTES || rows_since >= STRETCH_ROWS {
            cuts.push(row);
            bytes = 0;
        }
        bytes += size;
    }
    (cuts.first() == Some(&0)).then_some(cuts)
}

/// The first rows of stretches of equal length, of a column that claims to have so many bytes. It has no more than can be
/// unpacked from its file: stretches without end would each decode a page up to their rows.
fn evenly(rows: usize, bytes: i64, file_bytes: u64) -> Vec<usize> {
    let bytes = (bytes.max(0) as u64).min(max_unpacked_bytes(file_bytes));
    let stretches = bytes.div_ceil(STRETCH_BYTES).clamp(1, rows.max(1) as u64) as usize;
    (0..rows).step_by(rows.div_ceil(stretches).clamp(1, STRETCH_ROWS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of `size` bytes that begin at these rows.
    fn cuts(firsts: &[i64], size: i32, rows: usize) -> Option<Vec<usize>> {
        let page = |(at, first_row_index): (usize, &i64)| PageLocation {
            offset: 4 + at as i64 * i64::from(size),
            compressed_page_size: size,
            first_row_index: *first_row_index,
        };
        between_pages(&firsts.iter().enumerate().map(page).collect::<Vec<_>>(), 4, rows)
    }

    #[test]
    fn stretches_are_cut_between_pages_and_hold_some_megabytes() {
        assert_eq!(cuts(&[0, 5, 9, 12, 20], 3 << 20, 25), Some(vec![0, 9, 20]));
        assert_eq!(cuts(&[0], 3 << 20, 25), Some(vec![0]));
    }

    #[test]
    fn stretches_of_small_pages_have_no_more_rows_than_may_be() {
        assert_eq!(cuts(&[0, 8_000, 16_000, 20_000, 40_000], 9, 50_000), Some(vec![0, 20_000, 40_000]));
    }

    #[test]
    fn pages_that_make_no_sense_are_not_believed() {
        for rows in [&[][..], &[1, 2], &[0, 5, 5], &[0, 5, 3], &[0, 25], &[0, -1]] {
            assert_eq!(cuts(rows, 4 << 20, 25), None, "{rows:?}");
        }
        assert_eq!(cuts(&[0], -1, 25), None);
        let at = |offset, first_row_index| PageLocation { offset, compressed_page_size: 9, first_row_index };
        assert_eq!(between_pages(&[at(4, 0), at(4, 5)], 4, 25), None, "one page twice");
        assert_eq!(between_pages(&[at(3, 0)], 4, 25), None, "a page of another column");
    }

    #[test]
    fn without_pages_rows_are_cut_evenly() {
        let file = 4 << 20;
        assert_eq!(evenly(100, 10 << 20, file), [0, 34, 68]);
        assert_eq!(evenly(2, 100 << 20, file), [0, 1]);
        assert_eq!((evenly(100, 0, file), evenly(100, -1, file)), (vec![0], vec![0]));
        assert_eq!(evenly(40_000, 0, file), [0, 16_384, 32_768]);
        assert!(evenly(0, 1 << 30, file).is_empty());
        // 64 MiB may be unpacked from any file.
        assert_eq!(evenly(1 << 14, i64::MAX, 1000).len(), 16);
    }
}
