//! Where the rows of MCUs of one file begin, so that a region far down is not reached bit by bit from the top.
//!
//! Entropy-coded bits have no marks to jump to. A decode passes the start of every row anyway; an [`Index`] keeps
//! those places, and a later decode of the same file starts at the row that it needs. The file is known again by
//! XXH3-64 of all its bytes, so a file that was changed anywhere is decoded from its top and indexed anew.

use super::bits::{self, Cursor};
use super::stream::Stream;
use twox_hash::XxHash3_64;

/// Most rows of MCUs that a JPEG can have: 65535 lines, eight a row.
const MAX_ROWS: usize = 8192;
/// Bytes of a record ahead of its points: the file's hash, and how many components a point holds.
const HEAD: usize = 9;

/// What decoding needs to know to start at a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Point {
    /// Bits from the start of the file, stuffing included, so that bytes and bits of it are file offsets.
    at: u32,
    /// DC predictions. The decoder adds and stores them modulo 2^16, so 16 bits are all of them.
    dc: [i16; 4],
}

impl Point {
    /// The file offset of the first byte with a bit of the row.
    pub(super) fn byte(&self) -> usize {
        (self.at >> 3) as usize
    }

    /// Bits of that byte which belong to the row before.
    pub(super) fn bit(&self) -> u32 {
        self.at & 7
    }

    /// The DC predictions at the row's start.
    pub(super) fn predictions(&self) -> [i32; 4] {
        self.dc.map(i32::from)
    }
}

/// The starts of one file's rows of MCUs, as far down as it was decoded yet.
///
/// It is empty for files that cannot be started anywhere: progressive ones, those with several scans, and those of
/// more than 512 MiB. As a record it takes 9 bytes, and for each row but the first 4 and 2 a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// XXH3-64 of the whole file; of no meaning while there are no points.
    file: u64,
    components: u8,
    /// `points[i]` is the start of row `i + 1`; the scan's start is that of row 0.
    points: Vec<Point>,
    used: IndexUse,
    /// Whether the last decode would have gone another way without the index.
    relied: bool,
}

/// What the last decode made of its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexUse {
    /// Rows of MCUs that were not read because the decode started below them.
    pub skipped_rows: usize,
    /// Whether the index is not what it was before: rows were noted, or those of another file were dropped.
    pub changed: bool,
    /// Whether the index belonged to other bytes, or led to an error, and was dropped.
    pub stale: bool,
}

impl Index {
    /// Rows whose start is known, the first one apart.
    pub fn rows(&self) -> usize {
        self.points.len()
    }

    /// What the last decode made of it.
    pub fn last_use(&self) -> IndexUse {
        self.used
    }

    /// Forgets everything; the memory is kept.
    pub fn clear(&mut self) {
        self.points.clear();
        self.begin();
    }

    /// Begins another decode, which has made nothing of it yet.
    pub(super) fn begin(&mut self) {
        self.used = IndexUse::default();
        self.relied = false;
    }

    /// Whether an error of the last decode may be the index's fault.
    pub(super) fn was_relied_on(&self) -> bool {
        self.relied
    }

    /// Appends the index as bytes that [`Index::read`] takes back; nothing where there is nothing to say.
    pub fn write(&self, record: &mut Vec<u8>) {
        if self.points.is_empty() {
            return;
        }
        record.extend(self.file.to_le_bytes());
        record.push(self.components);
        for point in &self.points {
            record.extend(point.at.to_le_bytes());
            let used = &point.dc[..usize::from(self.components).min(4)];
            used.iter().for_each(|dc| record.extend(dc.to_le_bytes()));
        }
    }

    /// Takes over what [`Index::write`] wrote; false, and empty, where no index looks like this.
    pub fn read(&mut self, record: &[u8]) -> bool {
        self.clear();
        let Some((file, [components, points @ ..])) = record.split_first_chunk::<8>() else { return false };
        let count = usize::from(*components);
        let size = 4 + 2 * count;
        if !matches!(count, 1 | 3 | 4) || points.is_empty() || !points.len().is_multiple_of(size) {
            return false;
        }
        (self.file, self.components) = (u64::from_le_bytes(*file), *components);
        for bytes in points.chunks_exact(size) {
            let mut point = Point {
                at: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
                ..Point::default()
            };
            for (dc, two) in point.dc.iter_mut().zip(bytes[4..].chunks_exact(2)) {
                *dc = i16::from_le_bytes([two[0], two[1]]);
            }
            self.points.push(point);
        }
        // Every row has bits, so the starts only grow.
        let sound =
            self.points.len() < MAX_ROWS && self.points.windows(2).all(|pair| pair[0].at < pair[1].at);
        if !sound {
            self.clear();
        }
        sound
    }

    /// Most bytes of a record.
    pub const MAX_BYTES: usize = HEAD + MAX_ROWS * 12;

    /// Drops what is known, because it is not true of the file.
    pub(super) fn drop_stale(&mut self) {
        self.clear();
        (self.used.stale, self.used.changed) = (true, true);
    }
}

/// The scan that an index is used for.
#[derive(Clone, Copy)]
pub(super) struct Scanned<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the scan's data begin.
    pub(super) from: usize,
    pub(super) components: usize,
    /// Rows of MCUs of the file.
    pub(super) rows: usize,
}

/// One decode's way along an index: where it starts, and the rows that it notes.
#[derive(Default)]
pub(super) struct Trail<'a> {
    index: Option<&'a mut Index>,
    /// The row to start at, and its start if that is not the scan's.
    pub(super) row: usize,
    pub(super) start: Option<Point>,
    /// Bytes of the file that the rows to be decoded lie in, as far as that is known.
    pub(super) end: Option<usize>,
    /// A place whose offset is known both in the file and in the stream's piece that begins at `piece`.
    in_file: usize,
    in_piece: usize,
    piece: usize,
    /// Rows of MCUs of the file.
    rows: usize,
}

impl<'a> Trail<'a> {
    /// Looks up where to start for rows `needed`, after making sure that the index is one of this very file.
    pub(super) fn new(index: &'a mut Index, scanned: &Scanned<'_>, needed: &std::ops::Range<usize>) -> Self {
        let noted = needed.end.min(scanned.rows - 1) > index.rows();
        let starts = index.rows() > 0 && (needed.start > 0 || needed.end <= index.rows());
        if !noted && !starts {
            return Self::default();
        }
        let file = XxHash3_64::oneshot(scanned.bytes);
        let fits = |point: &Point| (scanned.from..=scanned.bytes.len()).contains(&point.byte());
        let theirs = index.file == file
            && usize::from(index.components) == scanned.components
            && index.rows() < scanned.rows
            && index.points.iter().all(fits);
        if index.rows() > 0 && !theirs {
            index.drop_stale();
        }
        (index.file, index.components) = (file, scanned.components as u8);
        let row = needed.start.min(index.rows());
        let start = row.checked_sub(1).map(|at| index.points[at]);
        // The last byte of the last row may be the first of the next, and FF is never alone.
        let end = index.points.get(needed.end - 1).map(|next| (next.byte() + 2).min(scanned.bytes.len()));
        index.used.skipped_rows = row;
        index.relied = row > 0 || end.is_some();
        Self { index: Some(index), row, start, end, piece: usize::MAX, rows: scanned.rows, ..Self::default() }
    }

    /// Notes that row `row` begins at `cursor`, if that is news.
    #[inline]
    pub(super) fn note(
        &mut self,
        row: usize,
        bytes: &[u8],
        stream: &Stream,
        cursor: &Cursor,
        predictions: &[i32; 4],
    ) {
        let Some(index) = &mut self.index else { return };
        if row != index.points.len() + 1 || row >= self.rows {
            return;
        }
        if self.piece != stream.begin() {
            (self.piece, self.in_file, self.in_piece) = (stream.begin(), stream.begin(), 0);
        }
        let consumed = cursor.consumed();
        self.in_file = bits::skip_stuffed(bytes, self.in_file, consumed / 8 - self.in_piece);
        self.in_piece = consumed / 8;
        let Ok(at) = u32::try_from(self.in_file as u64 * 8 + consumed as u64 % 8) else { return };
        index.points.push(Point { at, dc: predictions.map(|dc| dc as i16) });
        index.used.changed = true;
    }
}
