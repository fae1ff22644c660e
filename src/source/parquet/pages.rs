//! The pages of a column, with their counts and sizes checked before memory is allocated for them.

use super::chunks::{Chunks, max_unpacked_bytes, varint};
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// So many values a dictionary may always have; one with more must not have more than its row group has rows.
const MAX_DICTIONARY_VALUES: usize = 1 << 20;
/// So many values a page of lists may have, and the list of one row.
pub(super) const MAX_LISTED_VALUES: usize = 1 << 24;
/// So many the pages may have that are read for the list of one row: those of the list, and of others behind it in the last one.
const MAX_VALUES_AT_ONCE: usize = 2 * MAX_LISTED_VALUES;
/// Maximal number of values in a block of deltas; writers make blocks of 128.
const MAX_DELTA_BLOCK: u64 = 1 << 16;

/// The pages of one column of a row group. The decoder that reads them believes the headers of pages, and would
/// allocate gigabytes for the count in a damaged one.
pub(super) struct CheckedPages {
    pages: SerializedPageReader<Chunks>,
    /// Rows of the row group.
    rows: usize,
    /// Levels mark the rows that are null; 0 where none can be.
    max_def_level: i16,
    /// Levels mark where lists begin; 0 where there are none.
    max_rep_level: i16,
    /// Whether pages are inflated here. The crate would inflate them as far as they go.
    is_gzip: bool,
    dictionary: Dictionary,
    listed: Listed,
}

/// How many values the pages have that were read since the list of a row was begun. Where pages do not say how many rows
/// they have, the decoder reads on until another list begins, which a damaged or hostile file may put off for ever.
#[derive(Clone, Default)]
pub(super) struct Listed(Arc<AtomicUsize>);

impl Listed {
    /// Begins the list of another row.
    pub(super) fn begin(&self) {
        self.0.store(0, Relaxed);
    }
}

/// The dictionary page of a column, once it has been read. As long as it is held, no other value can be at the addresses
/// of its values.
#[derive(Clone, Default)]
pub(super) struct Dictionary(Arc<OnceLock<Page>>);

impl Dictionary {
    /// Whether these bytes are a value of the dictionary itself, which rows with equal values share.
    pub(super) fn holds(&self, value: &[u8]) -> bool {
        let page = self.0.get().map(|page| page.buffer().as_ptr_range());
        !value.is_empty() && page.is_some_and(|page| page.contains(&value.as_ptr()))
    }
}

impl CheckedPages {
    pub(super) fn new(
        file: &File,
        column: &ColumnChunkMetaData,
        rows: usize,
        locations: Option<Vec<PageLocation>>,
    ) -> Result<Self> {
        let is_gzip = matches!(column.compression(), Compression::GZIP(_));
        let mut column = column.clone();
        let (max_def_level, max_rep_level) =
            (column.column_descr().max_def_level(), column.column_descr().max_rep_level());
        if is_gzip {
            column = column.into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        }
        let chunks = Arc::new(Chunks::new(file, locations.is_some())?);
        let pages = SerializedPageReader::new(chunks, &column, rows, locations)?;
        let (dictionary, listed) = (Dictionary::default(), Listed::default());
        Ok(Self { pages, rows, max_def_level, max_rep_level, is_gzip, dictionary, listed })
    }

    pub(super) fn dictionary(&self) -> Dictionary {
        self.dictionary.clone()
    }

    pub(super) fn listed(&self) -> Listed {
        self.listed.clone()
    }

    /// Passes over whole pages, which are not even decompressed; returns how many of `rows` lie in the page after them.
    pub(super) fn skip_rows(&mut self, mut rows: usize) -> Result<usize> {
        while let Some(page) = self.peek_next_page()? {
            // A dictionary has none. Where nothing says how many lists a page has, they are read one by one.
            let in_page = match page.num_rows.or(page.num_levels) {
                Some(_) if self.max_rep_level > 0 && page.num_rows.is_none() => break,
                counted => counted.unwrap_or(0),
            };
            if in_page > rows {
                break;
            }
            rows -= in_page;
            self.pages.skip_next_page()?;
        }
        Ok(rows)
    }

    fn checked(&self, page: Option<Page>) -> Result<Option<Page>> {
        let Some(mut page) = page else { return Ok(None) };
        if self.is_gzip {
            inflate(&mut page)?;
        }
        let count = page.num_values() as usize;
        if page.is_dictionary_page() {
            // A value takes 4 bytes at least: those of a number, or of the length of a text.
            if count > self.rows.max(MAX_DICTIONARY_VALUES) || count > page.buffer().len() / 4 {
                return Err(damaged(format!("a dictionary cannot have {count} values here")));
            }
            _ = self.dictionary.0.set(page.clone());
        } else if self.max_rep_level > 0 && count > MAX_LISTED_VALUES {
            return Err(damaged(format!(
                "a page of lists has {count} values, and at most {MAX_LISTED_VALUES} are read: write smaller pages"
            )));
        } else if self.max_rep_level == 0 && count > self.rows {
            return Err(damaged(format!(
                "a page has {count} values, more than its row group has rows ({})",
                self.rows
            )));
        } else if self.max_rep_level > 0
            && self.listed.0.fetch_add(count, Relaxed).saturating_add(count) > MAX_VALUES_AT_ONCE
        {
            return Err(damaged(format!(
                "the list of one row goes on over pages of more than {MAX_VALUES_AT_ONCE} values, and at most \
                 {MAX_LISTED_VALUES} are read: write shorter lists"
            )));
        } else {
            self.check_deltas(&page, count)?;
        }
        Ok(Some(page))
    }

    /// Refuses a page of deltas, which has counts of its own, that has more values than its header claims, or that ends early.
    fn check_deltas(&self, page: &Page, count: usize) -> Result<()> {
        let lists = match page.encoding() {
            Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => 1, // numbers, or lengths
            Encoding::DELTA_BYTE_ARRAY => 2, // lengths of prefixes, then of the rest
            _ => return Ok(()),
        };
        let first = self.values(page, count);
        let end = (0..lists).try_fold(first, |bytes, _| after_deltas(bytes, count as u64));
        end.map(drop).map_err(|why| damaged(format!("a page of {count} values {why}")))
    }

    /// Whether a page of so many rows may have so many values: lists have any number, and an empty one takes a place too.
    fn may_have(&self, rows: usize, values: usize) -> bool {
        if self.max_rep_level > 0 { rows <= values } else { rows == values }
    }

    /// The bytes of a page after its levels; none where it is too short.
    fn values<'a>(&self, page: &'a Page, count: usize) -> &'a [u8] {
        let bytes: &[u8] = page.buffer();
        let (repeats, nulls) = match page {
            Page::DataPage { def_level_encoding, rep_level_encoding, .. } => {
                (*rep_level_encoding, *def_level_encoding)
            }
            _ => return bytes.get(level_bytes(page)..).unwrap_or_default(),
        };
        let rest = after_levels(bytes, repeats, self.max_rep_level, count);
        after_levels(rest, nulls, self.max_def_level, count)
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let rows = self.peek_next_page()?.and_then(|about| about.num_rows);
        let page = self.pages.get_next_page()?;
        let page = self.checked(page)?;
        match (&page, rows) {
            (Some(page), Some(rows)) if !self.may_have(rows, page.num_values() as usize) => {
                Err(damaged(format!(
                    "a page of {rows} rows, as the index of pages or its own header says, has {} values",
                    page.num_values()
                )))
            }
            _ => Ok(page),
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        let page = self.pages.peek_next_page()?;
        match &page {
            Some(PageMetadata { num_rows: Some(rows), num_levels: Some(values), .. })
                if !self.may_have(*rows, *values) =>
            {
                Err(damaged(format!("a page of {rows} rows has {values} values")))
            }
            _ => Ok(page),
        }
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        let page = self.pages.take_deferred_dictionary()?;
        self.checked(page)
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// What comes after `count` levels of a page of the first version.
fn after_levels(bytes: &[u8], encoding: Encoding, most: i16, count: usize) -> &[u8] {
    let bits = (i16::BITS - most.leading_zeros()) as usize;
    let levels = match encoding {
        _ if most == 0 => 0,
        #[expect(deprecated, reason = "old files have levels in this encoding")]
        Encoding::BIT_PACKED => (count * bits).div_ceil(8),
        _ => bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize + 4),
    };
    bytes.get(levels..).unwrap_or_default()
}

/// The length of the levels of a page of the second version, which are never compressed; 0 for others.
fn level_bytes(page: &Page) -> usize {
    match page {
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            *def_levels_byte_len as usize + *rep_levels_byte_len as usize
        }
        _ => 0,
    }
}

/// Inflates a page of a column that is compressed with gzip.
fn inflate(page: &mut Page) -> Result<()> {
    let levels = level_bytes(page);
    let buf = match page {
        Page::DataPageV2 { is_compressed: false, .. } => return Ok(()),
        Page::DataPage { buf, .. } | Page::DataPageV2 { buf, .. } | Page::DictionaryPage { buf, .. } => buf,
    };
    let Some((levels, packed)) = buf.split_at_checked(levels).filter(|(_, packed)| !packed.is_empty()) else {
        return Ok(());
    };
    let limit = max_unpacked_bytes(packed.len() as u64);
    let mut bytes = levels.to_vec();
    let inflated = MultiGzDecoder::new(packed).take(limit + 1).read_to_end(&mut bytes)?;
    if inflated as u64 > limit {
        return Err(damaged(format!("a page of {} bytes inflates to more than {limit} bytes", packed.len())));
    }
    *buf = bytes.into();
    Ok(())
}

fn damaged(what: String) -> ParquetError {
    ParquetError::General(what)
}

/// What comes after a list of numbers in Parquet's encoding DELTA_BINARY_PACKED.
///
/// # Errors
/// Why the list cannot be believed: it has more than `limit` numbers, say, or contradicts itself.
fn after_deltas(mut bytes: &[u8], limit: u64) -> Result<&[u8], String> {
    let cut = || "has a list of deltas that is cut short or damaged".to_owned();
    let mut head = || varint(&mut bytes).ok_or_else(cut);
    let (block, parts, count) = (head()?, head()?, head()?);
    let first = head();
    if count > limit {
        return Err(format!("has a list of {count} deltas"));
    }
    if block > MAX_DELTA_BLOCK {
        return Err(format!("has deltas in blocks of {block}, and at most {MAX_DELTA_BLOCK} are read"));
    }
    let in_part = block.checked_div(parts).filter(|in_part| *in_part > 0);
    let in_part = in_part.ok_or_else(|| format!("has blocks of {block} deltas in {parts} parts"))?;
    if count > 0 {
        first?;
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        varint(&mut bytes).ok_or_else(cut)?; // the smallest difference of the block
        let widths =
            usize::try_from(parts).ok().and_then(|parts| bytes.split_off(..parts)).ok_or_else(cut)?;
        for width in widths {
            if left > 0 {
                // A part has no more than a block, and a width is a byte.
                let packed = (in_part * u64::from(*width) / 8) as usize;
                bytes = bytes.get(packed..).unwrap_or_default();
                left = left.saturating_sub(in_part);
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 128 in 4 parts; 3 numbers in all, so that the first part of 32 differences has 2, of 5 bits.
    fn three_numbers() -> Vec<u8> {
        let mut bytes = vec![0x80, 1, 4, 3, 14, 0, 5, 0, 0, 0];
        bytes.extend([0; 32 * 5 / 8]);
        bytes
    }

    #[test]
    fn a_list_of_deltas_ends_where_its_widths_say() {
        let mut bytes = three_numbers();
        bytes.extend(b"rest");
        assert_eq!(after_deltas(&bytes, 3), Ok(&b"rest"[..]));
        assert_eq!(after_deltas(&bytes, 2), Err("has a list of 3 deltas".to_owned()));
        let one = [0x80, 1, 4, 1, 14, b'x'];
        assert_eq!(after_deltas(&one, 1), Ok(&b"x"[..]));
    }

    #[test]
    fn lists_of_deltas_that_make_no_sense_have_no_end() {
        let huge = [0x80, 1, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0];
        let no_parts = [0x80, 1, 0, 3, 14, 0];
        let endless = [0xFF; 12];
        let cut = &three_numbers()[..5];
        let large_block = [0x80, 0x80, 8, 4, 3, 14, 0, 0, 0, 0, 0];
        for (bytes, says) in [
            (&huge[..], "a list of 34359738367 deltas"),
            (&no_parts, "blocks of 128 deltas in 0 parts"),
            (&endless, "cut short or damaged"),
            (cut, "cut short or damaged"),
            (&large_block, "blocks of 131072, and at most 65536 are read"),
            (&[], "cut short or damaged"),
        ] {
            let why = after_deltas(bytes, 1000).unwrap_err();
            assert!(why.contains(says), "{bytes:?}: {why}");
        }
    }
}
