//! What a Parquet file says of itself: its footer, and where its pages lie.

use super::thrift;
use crate::source::read_error::ReadError;
use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::BufReader;

/// Reads it, with the index of pages where there is one. The work is bounded by the length of the file.
pub(super) fn read(file: &File) -> std::result::Result<ParquetMetaData, ReadError> {
    let about = ParquetMetaDataReader::new().parse_and_finish(&Footer(file))?;
    check_page_indexes(file, &about)?;
    let mut reader =
        ParquetMetaDataReader::new_with_metadata(about).with_offset_index_policy(PageIndexPolicy::Optional);
    reader.read_page_indexes(file)?;
    Ok(reader.finish()?)
}

/// The crate believes whatever says where pages lie, any number of times.
fn check_page_indexes(file: &File, about: &ParquetMetaData) -> std::result::Result<(), ReadError> {
    let bad = |what: &str| ReadError::Bad(format!("the index of its pages {what}: copy the file again"));
    let (length, mut indexes) = (file.metadata()?.len(), 0);
    for column in about.row_groups().iter().flat_map(|group| group.columns()) {
        let (Some(start), Some(bytes)) = (column.offset_index_offset(), column.offset_index_length()) else {
            continue;
        };
        let range = u64::try_from(start).ok().zip(u64::try_from(bytes).ok());
        let inside =
            range.filter(|(start, bytes)| start.checked_add(*bytes).is_some_and(|end| end <= length));
        let (start, bytes) = inside.ok_or_else(|| bad("lies outside of it"))?;
        indexes += bytes;
        if indexes > length {
            return Err(bad("has more bytes than the file"));
        }
        thrift::check(&file.get_bytes(start, bytes as usize)?)?;
    }
    Ok(())
}

/// A file of which the footer is read.
struct Footer<'a>(&'a File);

impl Length for Footer<'_> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Footer<'_> {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.0.get_bytes(start, length)?;
        thrift::check(&bytes)?;
        Ok(bytes)
    }
}
