//! Points in one file at which a decode can start, so that a region is not reached bit by bit from the top.
//!
//! Entropy-coded bits have no marks to jump to. But a decode passes the start of every row of MCUs, and more points
//! within the row; an [`Index`] keeps them, and a later decode of the same file reads only the part around its region of
//! each row that it needs. The file is identified by XXH3-64 of all its bytes, so a file that has changed anywhere is
//! decoded from its top and indexed again.

use crate::jpeg::header::Frame;
#[cfg(feature = "cuda")]
use twox_hash::XxHash3_64;

/// Maximum rows of MCUs in a JPEG: 65535 lines, eight per row.
const MAX_ROWS: usize = 8192;
/// Pixels from one point in a row to the next. On average half of them are read in vain before a region; a point takes
/// about six bytes.
const SPACING: usize = 64;
/// Maximum points in a row; in images of more than 4096 pixels across they are further apart. Earlier builds had
/// 16: see [`Index::is_of`].
const MAX_POINTS_PER_ROW: usize = 64;
const _: () = assert!(MAX_POINTS_PER_ROW <= u8::MAX as usize, "a record has a byte for them");
/// Bytes of a record before its points: the file's hash, the components of a point, and the points in a row.
const HEAD: usize = 10;
/// Maximum bytes of an integer in a record: 32 bits, seven in each byte.
const MAX_VARINT: usize = 5;

/// The MCUs of a scan, and which of them are points to start at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    /// MCUs in a row.
    pub(crate) across: usize,
    /// Rows of MCUs.
    pub(crate) down: usize,
    /// MCUs from one point in a row to the next.
    pub(crate) step: usize,
}

impl Grid {
    /// The grid of a scan that holds all components of `frame`.
    pub(crate) fn of(frame: &Frame) -> Self {
        Self::new(frame.mcus_across(), frame.mcus_down(), frame.h_max, MAX_POINTS_PER_ROW)
    }

    /// The grid of so many MCUs, each `width` blocks wide, with at most `most` points in a row.
    fn new(across: usize, down: usize, width: usize, most: usize) -> Self {
        let step = (SPACING / (8 * width)).max(across.div_ceil(most)).max(1);
        Self { across, down, step }
    }

    /// The number of the MCU that a point, counted through the rows, is the start of.
    #[cfg(feature = "cuda")]
    pub(crate) fn mcu(&self, point: usize) -> usize {
        point / self.points_per_row() * self.across + point % self.points_per_row() * self.step
    }

    /// Points in a row, its start among them.
    pub(crate) fn points_per_row(&self) -> usize {
        self.across.div_ceil(self.step)
    }
}

/// The state from which decoding can start in the middle of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point {
    /// Bits from the start of the file, stuffing included, so that bytes and bits of it are file offsets.
    at: u32,
    /// DC predictions. The decoder adds and stores them modulo 2^16, so 16 bits are all of them.
    dc: [i16; 4],
}

impl Point {
    /// A point `at` bits from the start of the file, with the decoder's predictions.
    pub(crate) fn new(at: u32, predictions: &[i32; 4]) -> Self {
        Self { at, dc: predictions.map(|dc| dc as i16) }
    }

    /// Bits from the start of the file.
    pub(crate) fn bits(&self) -> u32 {
        self.at
    }

    /// The file offset of the byte that holds the first bit.
    pub(crate) fn byte(&self) -> usize {
        (self.at >> 3) as usize
    }

    /// Bits of that byte before the first bit.
    pub(crate) fn bit(&self) -> u32 {
        self.at & 7
    }

    /// The DC predictions there.
    pub(crate) fn predictions(&self) -> [i32; 4] {
        self.dc.map(i32::from)
    }
}

/// The points of one file at which a decode can start, down to the last row that was decoded.
///
/// It is empty for files in which no decode can start: progressive ones, those with several scans, and those of more
/// than 512 MiB. There is a point at the start of each row of MCUs and every 64 pixels in it (in images of more than 4096
/// pixels across, at most 64 in a row). As a record an index takes 10 bytes, and 4 to 7 for each point but the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// XXH3-64 of the whole file; meaningless while there are no points.
    pub(crate) file: u64,
    pub(crate) components: u8,
    /// Points in a row.
    pub(crate) points_per_row: u8,
    /// `points[i]` is point `i + 1`, counted through the rows; the scan's start is point 0.
    pub(crate) points: Vec<Point>,
    pub(crate) used: IndexUse,
    /// Whether the last decode relied on the index.
    pub(crate) relied: bool,
}

/// How the last decode used its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexUse {
    /// Rows of MCUs that were not read because the decode started below them.
    pub skipped_rows: usize,
    /// Whether the decode changed the index: it added points, or dropped those of another file.
    pub changed: bool,
    /// Whether the index was dropped, because it belonged to other bytes, was written by a build with fewer points in
    /// a row, or led to an error.
    pub stale: bool,
    /// Whether the file is damaged, so that no index of it is kept.
    pub damaged: bool,
}

impl Index {
    /// Rows whose start is known, without the first.
    pub fn rows(&self) -> usize {
        self.points.len() / usize::from(self.points_per_row.max(1))
    }

    /// How the last decode used it.
    pub fn last_use(&self) -> IndexUse {
        self.used
    }

    /// Removes all points; the memory is kept.
    pub fn clear(&mut self) {
        self.points.clear();
        self.begin();
    }

    /// Removes all points, since the file is damaged: what the fast decoder passes in it is no place to start.
    pub(crate) fn drop_damaged(&mut self) {
        self.used = IndexUse { damaged: true, ..IndexUse::default() };
        self.points.clear();
    }

    /// Begins another decode, which has not used the index yet.
    pub(crate) fn begin(&mut self) {
        self.used = IndexUse::default();
        self.relied = false;
    }

    /// Point `i`, counted through the rows: `None` if it is not known, or is the scan's start.
    pub(crate) fn point(&self, i: usize) -> Option<Point> {
        self.points.get(i.checked_sub(1)?).copied()
    }

    /// The index of a file with these points, counted from 1; `is_stale` where it takes the place of one of other bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn learned(
        bytes: &[u8],
        components: usize,
        grid: Grid,
        points: Vec<Point>,
        is_stale: bool,
    ) -> Self {
        let used = IndexUse { changed: true, stale: is_stale, ..IndexUse::default() };
        let (file, points_per_row) = (XxHash3_64::oneshot(bytes), grid.points_per_row() as u8);
        Self { file, components: components as u8, points_per_row, points, used, relied: false }
    }

    /// Notes that another decoder has used it, and so has not read so many rows.
    #[cfg(feature = "cuda")]
    pub(crate) fn note_use(&mut self, skipped_rows: usize) {
        self.begin();
        self.used.skipped_rows = skipped_rows;
    }

    /// Notes that it takes the place of one that was wrong.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn note_stale(&mut self) {
        self.used.stale = true;
    }

    /// Whether its points are those of a file with this hash, on this grid.
    ///
    /// The points in a row tell the grid: where that of earlier builds, which had at most 16 in a row, is not today's,
    /// today's has more than 16.
    pub(crate) fn is_of(&self, file: u64, components: usize, grid: Grid) -> bool {
        self.file == file
            && usize::from(self.components) == components
            && usize::from(self.points_per_row) == grid.points_per_row()
    }

    /// Whether there are points, and they are those of other bytes or of another grid.
    #[cfg(feature = "cuda")]
    pub(crate) fn is_stale(&self, bytes: &[u8], components: usize, grid: Grid) -> bool {
        !self.points.is_empty() && !self.is_of(XxHash3_64::oneshot(bytes), components, grid)
    }

    /// How many points it holds, where it is the index of this very file, whose scan begins at `from`.
    #[cfg(feature = "cuda")]
    pub(crate) fn held(&self, bytes: &[u8], (from, components): (usize, usize), grid: Grid) -> usize {
        let (per_row, held) = (grid.points_per_row(), self.points.len());
        // A file that is cut short may have its last point at its end.
        let inside = |point: &Point| (from..=bytes.len()).contains(&point.byte());
        let is_its_own = held < grid.down * per_row
            && self.points.first().is_some_and(inside)
            && self.points.last().is_some_and(inside)
            && self.is_of(XxHash3_64::oneshot(bytes), components, grid);
        if is_its_own { held } else { 0 }
    }

    /// The first points.
    #[cfg(feature = "cuda")]
    pub(crate) fn first_points(&self, count: usize) -> &[Point] {
        &self.points[..count.min(self.points.len())]
    }

    /// Appends the index as bytes that [`Index::read`] reads; an empty index appends none.
    pub fn write(&self, record: &mut Vec<u8>) {
        if self.points.is_empty() {
            return;
        }
        record.extend(self.file.to_le_bytes());
        record.extend([self.components, self.points_per_row]);
        let mut last = Point::default();
        for point in &self.points {
            // Neighbours are similar, so their differences fit in a byte or two.
            write_varint(record, point.at - last.at);
            for (dc, last) in point.dc.iter().zip(last.dc).take(self.components.into()) {
                let difference = dc.wrapping_sub(last);
                write_varint(record, ((difference << 1) ^ (difference >> 15)) as u16 as u32);
            }
            last = *point;
        }
    }

    /// Reads a record of [`Index::write`]; if it is not sound, the index becomes empty and the result is false.
    pub fn read(&mut self, record: &[u8]) -> bool {
        self.clear();
        let sound = self.read_points(record).is_some() && !self.points.is_empty();
        if !sound {
            self.clear();
        }
        sound
    }

    fn read_points(&mut self, record: &[u8]) -> Option<()> {
        let (file, [components, points_per_row, varints @ ..]) = record.split_first_chunk::<8>()? else {
            return None;
        };
        let (max_points, mut varints) = (usize::from(*points_per_row) * MAX_ROWS, varints);
        if !matches!(components, 1 | 3 | 4)
            || !(1..=MAX_POINTS_PER_ROW).contains(&usize::from(*points_per_row))
        {
            return None;
        }
        (self.file, self.components) = (u64::from_le_bytes(*file), *components);
        self.points_per_row = *points_per_row;
        let mut point = Point::default();
        while !varints.is_empty() {
            // Every point is at least a bit after the one before.
            let bits = read_varint(&mut varints).filter(|&bits| bits > 0)?;
            point.at = point.at.checked_add(bits)?;
            for dc in &mut point.dc[..usize::from(*components)] {
                let folded = u16::try_from(read_varint(&mut varints)?).ok()?;
                *dc = dc.wrapping_add((folded >> 1) as i16 ^ -((folded & 1) as i16));
            }
            if self.points.len() + 1 >= max_points {
                return None;
            }
            self.points.push(point);
        }
        Some(())
    }

    /// Maximum bytes of a record.
    pub const MAX_BYTES: usize = HEAD + MAX_ROWS * MAX_POINTS_PER_ROW * (MAX_VARINT + 4 * 3);

    /// Removes all points, because they are wrong for the file.
    pub(crate) fn drop_stale(&mut self) {
        self.clear();
        (self.used.stale, self.used.changed) = (true, true);
    }
}

/// Seven bits per byte, the lowest first; the top bit is set if more follow.
fn write_varint(record: &mut Vec<u8>, mut value: u32) {
    while value > 0x7F {
        record.push(value as u8 | 0x80);
        value >>= 7;
    }
    record.push(value as u8);
}

/// Reads and removes the integer that [`write_varint`] wrote at the front of `record`.
fn read_varint(record: &mut &[u8]) -> Option<u32> {
    let mut value = 0u64;
    for at in 0..MAX_VARINT {
        let (byte, rest) = record.split_first()?;
        *record = rest;
        value |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_length_come_back_and_cut_ones_do_not() {
        for value in (0..32).flat_map(|bit| [1u32 << bit, (1 << bit) - 1, u32::MAX >> bit]) {
            let mut record = Vec::new();
            write_varint(&mut record, value);
            assert!(record.len() <= MAX_VARINT);
            assert_eq!(read_varint(&mut &record[..]), Some(value));
            assert_eq!(read_varint(&mut &record[..record.len() - 1]), None);
        }
        assert_eq!(read_varint(&mut &[0xFF; 6][..]), None);
        assert_eq!(read_varint(&mut &[0xFF, 0xFF, 0xFF, 0xFF, 0x7F][..]), None);
    }

    #[test]
    fn no_grid_has_the_points_in_a_row_of_another_grid_of_earlier_builds() {
        for (width, across) in (1..=4).flat_map(|width| (1..=MAX_ROWS).map(move |across| (width, across))) {
            let [grid, earlier] = [MAX_POINTS_PER_ROW, 16].map(|most| Grid::new(across, 1, width, most));
            let (ours, theirs) = (grid.points_per_row(), earlier.points_per_row());
            assert!(ours <= MAX_POINTS_PER_ROW && theirs <= 16, "{grid:?}, {earlier:?}");
            assert!(grid == earlier || ours > 16, "{grid:?}, {earlier:?}");
            // Three blocks are no divisor of 64 pixels.
            assert!(width == 3 || (grid == earlier) == (across * width <= 128), "{grid:?}, {earlier:?}");
        }
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn the_points_of_an_earlier_grid_are_stale_and_none_is_used() {
        let bytes = [7; 9000];
        for (across, is_stale) in [(256, true), (128, false)] {
            let [grid, earlier] = [MAX_POINTS_PER_ROW, 16].map(|most| Grid::new(across, 2, 1, most));
            let count = 2 * earlier.points_per_row() - 1;
            let points = (0..count as u32).map(|i| Point::new((i + 1) * 800, &[0; 4])).collect();
            let index = Index::learned(&bytes, 3, earlier, points, false);
            let held = |grid| index.held(&bytes, (20, 3), grid);
            assert!(held(earlier) == count && !index.is_stale(&bytes, 3, earlier));
            assert_eq!(index.is_stale(&bytes, 3, grid), is_stale);
            assert_eq!(held(grid), if is_stale { 0 } else { count });
            assert!(index.is_stale(&bytes[1..], 3, earlier) && index.is_stale(&bytes, 1, earlier));
            assert!(!Index::default().is_stale(&bytes, 3, grid));
        }
    }

    #[test]
    fn a_record_gives_no_more_points_than_its_bytes_hold_and_a_grid_has() {
        let record = |per_row: u8, points: usize| {
            let mut record = vec![0; HEAD];
            (record[8], record[9]) = (1, per_row);
            // A bit on, the same DC: no point takes fewer bytes.
            record.extend([1, 0].repeat(points));
            record
        };
        let (mut index, most) = (Index::default(), MAX_POINTS_PER_ROW * MAX_ROWS - 1);
        // Half a million points take Miri most of an hour.
        if !cfg!(miri) {
            assert!(index.read(&record(64, most)) && index.points.len() == most);
            assert!(!index.read(&record(64, most + 1)) && index.points.is_empty());
        }
        assert!(!index.read(&record(65, 10)) && !index.read(&record(255, 10)) && !index.read(&record(0, 10)));
        assert!(record(64, most).len() <= Index::MAX_BYTES);
        // Memory grows with the points that were read: twelve bytes for two of the record at most, and room for as many.
        let mut small = Index::default();
        assert!(small.read(&record(64, 100)) && small.points.capacity() <= 200);
        assert_eq!(size_of::<Point>(), 12);
    }

    #[test]
    fn every_difference_of_two_predictions_comes_back() {
        let dc = |value: i32| Point::new(0, &[value, -value, i32::from(i16::MIN), i32::from(i16::MAX)]).dc;
        let points: Vec<Point> =
            (0..200).map(|i| Point { at: 7 + 3 * i, dc: dc(i as i32 * 331 - 32768) }).collect();
        let index = Index { file: 5, components: 4, points_per_row: 3, points, ..Index::default() };
        let (mut record, mut read) = (Vec::new(), Index::default());
        index.write(&mut record);
        assert!(read.read(&record));
        assert_eq!(read, index);
    }
}
