//! Places in one file at which a decode can start, so that a region is not reached bit by bit from the top.
//!
//! Entropy-coded bits have no marks to jump to. A decode passes the start of every row of MCUs anyway, and some places
//! within the row; an [`Index`] keeps those places, and a later decode of the same file reads of each row that it needs
//! only the part around its region. The file is known again by XXH3-64 of all its bytes, so a file that was changed
//! anywhere is decoded from its top and indexed anew.

use super::frame::Frame;

/// Most rows of MCUs that a JPEG can have: 65535 lines, eight a row.
const MAX_ROWS: usize = 8192;
/// Pixels from one place in a row to the next. Half of it is read in vain ahead of a region, on average; a place takes
/// about six bytes.
const SPACING: usize = 64;
/// Most places in a row, which are further apart in wide pictures.
const MAX_PLACES: usize = 16;
/// Bytes of a record ahead of its points: the file's hash, how many components a point holds, and places in a row.
const HEAD: usize = 10;
/// Most bytes of a number in a record: seven bits each of 32.
const MAX_NUMBER: usize = 5;

/// The MCUs of a scan, and which of them are places to start at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grid {
    /// MCUs in a row.
    pub(super) across: usize,
    /// Rows of MCUs.
    pub(super) down: usize,
    /// MCUs from one place in a row to the next.
    pub(super) step: usize,
}

impl Grid {
    /// The grid of a scan that holds all components of `frame`.
    pub(super) fn of(frame: &Frame) -> Self {
        let across = frame.mcus_across();
        let step = (SPACING / (8 * frame.h_max)).max(across.div_ceil(MAX_PLACES)).max(1);
        Self { across, down: frame.mcus_down(), step }
    }

    /// Places in a row, its start among them.
    pub(super) fn places(&self) -> usize {
        self.across.div_ceil(self.step)
    }
}

/// What decoding needs to know to start at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Point {
    /// Bits from the start of the file, stuffing included, so that bytes and bits of it are file offsets.
    at: u32,
    /// DC predictions. The decoder adds and stores them modulo 2^16, so 16 bits are all of them.
    dc: [i16; 4],
}

impl Point {
    /// Bits from the start of the file, `dc` as the decoder has it.
    pub(super) fn new(at: u32, predictions: &[i32; 4]) -> Self {
        Self { at, dc: predictions.map(|dc| dc as i16) }
    }

    /// The file offset of the first byte with a bit of the place.
    pub(super) fn byte(&self) -> usize {
        (self.at >> 3) as usize
    }

    /// Bits of that byte which belong to what is before.
    pub(super) fn bit(&self) -> u32 {
        self.at & 7
    }

    /// The DC predictions there.
    pub(super) fn predictions(&self) -> [i32; 4] {
        self.dc.map(i32::from)
    }
}

/// The places of one file to start at, as far down as it was decoded yet.
///
/// It is empty for files that cannot be started anywhere: progressive ones, those with several scans, and those of
/// more than 512 MiB. There is a place at the start of each row of MCUs and every 64 pixels in it (in pictures of more
/// than 1024 pixels across, 16 in a row). As a record an index takes 10 bytes, and 4 to 7 for each place but the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// XXH3-64 of the whole file; of no meaning while there are no points.
    pub(super) file: u64,
    pub(super) components: u8,
    /// Places in a row.
    pub(super) places: u8,
    /// `points[i]` is place `i + 1`, counted through the rows; the scan's start is place 0.
    pub(super) points: Vec<Point>,
    pub(super) used: IndexUse,
    /// Whether the last decode would have gone another way without the index.
    pub(super) relied: bool,
}

/// What the last decode made of its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexUse {
    /// Rows of MCUs that were not read because the decode started below them.
    pub skipped_rows: usize,
    /// Whether the index is not what it was before: places were noted, or those of another file were dropped.
    pub changed: bool,
    /// Whether the index belonged to other bytes, or led to an error, and was dropped.
    pub stale: bool,
}

impl Index {
    /// Rows whose start is known, the first one apart.
    pub fn rows(&self) -> usize {
        self.points.len() / usize::from(self.places.max(1))
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

    /// Place `number`, counted through the rows: `None` if it is not known, or the scan's start.
    pub(super) fn point(&self, number: usize) -> Option<Point> {
        self.points.get(number.checked_sub(1)?).copied()
    }

    /// Appends the index as bytes that [`Index::read`] takes back; nothing where there is nothing to say.
    pub fn write(&self, record: &mut Vec<u8>) {
        if self.points.is_empty() {
            return;
        }
        record.extend(self.file.to_le_bytes());
        record.extend([self.components, self.places]);
        let mut last = Point::default();
        for point in &self.points {
            // Neighbours are much alike, so their differences fit in a byte or two.
            write_number(record, point.at - last.at);
            for (dc, last) in point.dc.iter().zip(last.dc).take(self.components.into()) {
                let difference = dc.wrapping_sub(last);
                write_number(record, ((difference << 1) ^ (difference >> 15)) as u16 as u32);
            }
            last = *point;
        }
    }

    /// Takes over what [`Index::write`] wrote; false, and empty, where no index looks like this.
    pub fn read(&mut self, record: &[u8]) -> bool {
        self.clear();
        let sound = self.read_points(record).is_some() && !self.points.is_empty();
        if !sound {
            self.clear();
        }
        sound
    }

    fn read_points(&mut self, record: &[u8]) -> Option<()> {
        let (file, [components, places, numbers @ ..]) = record.split_first_chunk::<8>()? else {
            return None;
        };
        let (most, mut numbers) = (usize::from(*places) * MAX_ROWS, numbers);
        if !matches!(components, 1 | 3 | 4) || !(1..=MAX_PLACES).contains(&usize::from(*places)) {
            return None;
        }
        (self.file, self.components, self.places) = (u64::from_le_bytes(*file), *components, *places);
        let mut point = Point::default();
        while !numbers.is_empty() {
            // Every place has bits, so they only grow.
            let bits = read_number(&mut numbers).filter(|&bits| bits > 0)?;
            point.at = point.at.checked_add(bits)?;
            for dc in &mut point.dc[..usize::from(*components)] {
                let folded = u16::try_from(read_number(&mut numbers)?).ok()?;
                *dc = dc.wrapping_add((folded >> 1) as i16 ^ -((folded & 1) as i16));
            }
            if self.points.len() + 1 >= most {
                return None;
            }
            self.points.push(point);
        }
        Some(())
    }

    /// Most bytes of a record.
    pub const MAX_BYTES: usize = HEAD + MAX_ROWS * MAX_PLACES * (MAX_NUMBER + 4 * 3);

    /// Drops what is known, because it is not true of the file.
    pub(super) fn drop_stale(&mut self) {
        self.clear();
        (self.used.stale, self.used.changed) = (true, true);
    }
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn write_number(record: &mut Vec<u8>, mut number: u32) {
    while number > 0x7F {
        record.push(number as u8 | 0x80);
        number >>= 7;
    }
    record.push(number as u8);
}

/// What [`write_number`] wrote, which goes from the front of `record`.
fn read_number(record: &mut &[u8]) -> Option<u32> {
    let mut number = 0u64;
    for at in 0..MAX_NUMBER {
        let (byte, rest) = record.split_first()?;
        *record = rest;
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return u32::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back_and_cut_ones_do_not() {
        for number in (0..32).flat_map(|bit| [1u32 << bit, (1 << bit) - 1, u32::MAX >> bit]) {
            let mut record = Vec::new();
            write_number(&mut record, number);
            assert!(record.len() <= MAX_NUMBER);
            assert_eq!(read_number(&mut &record[..]), Some(number));
            assert_eq!(read_number(&mut &record[..record.len() - 1]), None);
        }
        assert_eq!(read_number(&mut &[0xFF; 6][..]), None);
        assert_eq!(read_number(&mut &[0xFF, 0xFF, 0xFF, 0xFF, 0x7F][..]), None);
    }

    #[test]
    fn every_difference_of_two_predictions_comes_back() {
        let dc = |value: i32| Point::new(0, &[value, -value, i32::from(i16::MIN), i32::from(i16::MAX)]).dc;
        let points: Vec<Point> =
            (0..200).map(|i| Point { at: 7 + 3 * i, dc: dc(i as i32 * 331 - 32768) }).collect();
        let index = Index { file: 5, components: 4, places: 3, points, ..Index::default() };
        let (mut record, mut read) = (Vec::new(), Index::default());
        index.write(&mut record);
        assert!(read.read(&record));
        assert_eq!(read, index);
    }
}
