//! Points in one file at which a decode can start, so that a region is not reached bit by bit from the top.
//!
//! Entropy-coded bits have no marks to jump to. But a decode passes the start of every row of MCUs, and more points
//! within the row; an [`Index`] keeps them, and a later decode of the same file reads only the part around its region of
//! each row that it needs. The file is identified by XXH3-64 of all its bytes, so a file that has changed anywhere is
//! decoded from its top and indexed again.

use crate::jpeg::header::Frame;

/// Maximum rows of MCUs in a JPEG: 65535 lines, eight per row.
const MAX_ROWS: usize = 8192;
/// Pixels from one point in a row to the next. On average half of them are read in vain before a region; a point takes
/// about six bytes.
const SPACING: usize = 64;
/// Maximum points in a row; in wide images they are further apart.
const MAX_POINTS_PER_ROW: usize = 16;
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
        let across = frame.mcus_across();
        let step = (SPACING / (8 * frame.h_max)).max(across.div_ceil(MAX_POINTS_PER_ROW)).max(1);
        Self { across, down: frame.mcus_down(), step }
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
/// than 512 MiB. There is a point at the start of each row of MCUs and every 64 pixels in it (in images of more than 1024
/// pixels across, 16 in a row). As a record an index takes 10 bytes, and 4 to 7 for each point but the first.
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
    /// Whether the index was dropped, because it belonged to other bytes or led to an error.
    pub stale: bool,
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

    /// Begins another decode, which has not used the index yet.
    pub(crate) fn begin(&mut self) {
        self.used = IndexUse::default();
        self.relied = false;
    }

    /// Point `i`, counted through the rows: `None` if it is not known, or is the scan's start.
    pub(crate) fn point(&self, i: usize) -> Option<Point> {
        self.points.get(i.checked_sub(1)?).copied()
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
