//! The footer of a Parquet file and the indexes of its pages of images, which are checked before the crate decodes them.

use super::thrift;
use crate::source::read_at::read_at;
use crate::source::read_error::ReadError;
use bytes::Bytes;
use parquet::file::metadata::{
    ColumnChunkMask, ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
};
use std::fs::File;

/// How a file begins and ends.
const MAGIC: &[u8; 4] = b"PAR1";
/// The length of the footer and the magic, at the end of a file.
const TAIL_BYTES: u64 = 8;
/// Maximal size of a footer, which is read as a whole. Those of data sets of images have some megabytes.
const MAX_FOOTER_BYTES: u32 = 256 << 20;

/// What the footer says, without the indexes of pages.
pub(super) fn read(file: &File) -> Result<ParquetMetaData, ReadError> {
    let bad = |what: String| ReadError::Bad(format!("{what}: copy the file again, or name Parquet files"));
    let length = file.metadata()?.len();
    let end =
        length.checked_sub(TAIL_BYTES).ok_or_else(|| bad(format!("{length} bytes are no Parquet file")))?;
    let mut tail = [0; TAIL_BYTES as usize];
    read_at(file, end, &mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    if magic != *MAGIC {
        return Err(bad("it does not end as a Parquet file".to_owned()));
    }
    let bytes = u32::from_le_bytes([a, b, c, d]);
    let start = end
        .checked_sub(bytes.into())
        .ok_or_else(|| bad(format!("a file of {length} bytes cannot have a footer of {bytes}")))?;
    if bytes > MAX_FOOTER_BYTES {
        return Err(bad(format!("a footer of {bytes} bytes is above {MAX_FOOTER_BYTES}")));
    }
    let mut footer = vec![0; bytes as usize];
    read_at(file, start, &mut footer)?;
    thrift::check_footer(&footer).map_err(|error| bad(format!("its footer {error}")))?;
    Ok(ParquetMetaDataReader::decode_metadata(&footer)?)
}

/// Adds the indexes of pages of the column `leaf`, as far as the file has any.
///
/// The crate reads all of them at once, and whatever lies between the first and the last. So they are handed to it one right
/// after the other, with row groups that say that they lie so.
pub(super) fn with_pages(
    file: &File,
    about: ParquetMetaData,
    leaf: usize,
) -> Result<ParquetMetaData, ReadError> {
    let places = page_indexes(&about, leaf, file.metadata()?.len())?;
    let (mut indexes, mut groups, mut about) = (Vec::new(), Vec::new(), about.into_builder());
    for (group, place) in about.take_row_groups().into_iter().zip(places) {
        let mut group = group.into_builder();
        let mut columns = group.take_columns();
        let column = &mut columns[leaf];
        if let Some((start, bytes)) = place {
            let index = indexes.len()..indexes.len() + bytes;
            indexes.resize(index.end, 0);
            read_at(file, start, &mut indexes[index.clone()])?;
            thrift::check_offset_index(&indexes[index]).map_err(|error| bad_index(&error.to_string()))?;
        }
        let bytes = place.map(|(_, bytes)| bytes);
        *column = column
            .clone()
            .into_builder()
            .set_offset_index_offset(bytes.map(|bytes| (indexes.len() - bytes) as i64))
            .set_offset_index_length(bytes.map(|bytes| bytes as i32))
            .build()?;
        groups.push(group.set_column_metadata(columns).build()?);
    }
    // The crate expects them in a file, at whose end something else lies.
    indexes.extend([0; TAIL_BYTES as usize]);
    let mut reader = ParquetMetaDataReader::new_with_metadata(about.set_row_groups(groups).build())
        .with_offset_index_policy(PageIndexPolicy::Optional)
        .with_offset_index_mask(ColumnChunkMask::columns([leaf]));
    reader.read_page_indexes(&Bytes::from(indexes))?;
    Ok(reader.finish()?)
}

/// Where in a file of `length` bytes each row group's index begins, and how long it is; nothing where there is none, which some
/// writers say with zeros.
fn page_indexes(
    about: &ParquetMetaData,
    leaf: usize,
    length: u64,
) -> Result<Vec<Option<(u64, usize)>>, ReadError> {
    let mut left = length;
    let mut place = |column: &ColumnChunkMetaData| {
        let said = column.offset_index_offset().zip(column.offset_index_length());
        let Some((start, bytes)) = said.filter(|&(start, bytes)| start > 0 && bytes > 0) else {
            return Ok(None);
        };
        let (start, bytes) = (start as u64, bytes as u64);
        if start.checked_add(bytes).is_none_or(|end| end > length) {
            return Err(bad_index("lies outside of it"));
        }
        // Row groups that share one would make a small file's indexes huge.
        left = left.checked_sub(bytes).ok_or_else(|| bad_index("has more bytes than the file"))?;
        Ok(Some((start, bytes as usize)))
    };
    about.row_groups().iter().map(|group| place(group.column(leaf))).collect()
}

fn bad_index(what: &str) -> ReadError {
    ReadError::Bad(format!(
        "the index of its pages {what}: copy the file again, or write it without an index of pages"
    ))
}
