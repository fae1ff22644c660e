//! The footer of a Parquet file and its indexes of pages, which are checked before the crate decodes them.

use super::thrift;
use crate::source::read_at::read_at;
use crate::source::read_error::ReadError;
use parquet::file::metadata::{ColumnChunkMask, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use std::fs::File;

/// How a file begins and ends.
const MAGIC: &[u8; 4] = b"PAR1";
/// The length of the footer and the magic, at the end of a file.
const TAIL_BYTES: u64 = 8;

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
    let mut footer = vec![0; bytes as usize];
    read_at(file, start, &mut footer)?;
    thrift::check_footer(&footer).map_err(|error| bad(format!("its footer {error}")))?;
    Ok(ParquetMetaDataReader::decode_metadata(&footer)?)
}

/// Adds the indexes of pages of the columns `leaves`, as far as the file has any.
pub(super) fn with_pages(
    file: &File,
    about: ParquetMetaData,
    leaves: &[usize],
) -> Result<ParquetMetaData, ReadError> {
    for (start, bytes) in page_indexes(&about, leaves, file.metadata()?.len())? {
        let mut index = vec![0; bytes];
        read_at(file, start, &mut index)?;
        thrift::check_offset_index(&index).map_err(|error| bad_index(&error.to_string()))?;
    }
    let mut reader = ParquetMetaDataReader::new_with_metadata(about)
        .with_offset_index_policy(PageIndexPolicy::Optional)
        .with_offset_index_mask(ColumnChunkMask::columns(leaves.iter().copied()));
    reader.read_page_indexes(file)?;
    Ok(reader.finish()?)
}

/// Where in a file of `length` bytes the indexes begin, and how long they are.
fn page_indexes(
    about: &ParquetMetaData,
    leaves: &[usize],
    length: u64,
) -> Result<Vec<(u64, usize)>, ReadError> {
    let (mut found, mut left) = (Vec::new(), length);
    let columns = about.row_groups().iter().flat_map(|group| leaves.iter().map(|&leaf| group.column(leaf)));
    for column in columns {
        let (Some(start), Some(bytes)) = (column.offset_index_offset(), column.offset_index_length()) else {
            continue;
        };
        let range = u64::try_from(start).ok().zip(u64::try_from(bytes).ok());
        let (start, bytes) = range
            .filter(|(start, bytes)| start.checked_add(*bytes).is_some_and(|end| end <= length))
            .ok_or_else(|| bad_index("lies outside of it"))?;
        // Columns that share one would make a small file's indexes huge.
        left = left.checked_sub(bytes).ok_or_else(|| bad_index("has more bytes than the file"))?;
        found.push((start, bytes as usize));
    }
    Ok(found)
}

fn bad_index(what: &str) -> ReadError {
    ReadError::Bad(format!(
        "the index of its pages {what}: copy the file again, or write it without an index of pages"
    ))
}
