//! A segment of a file: some rows of MCUs, with the length of each of their groups.

use super::error::{CoefficientsError, corrupt};
use super::group::Bytes;
use super::header::Header;
use super::layout::groups_in_mcu_row;
use std::ops::Range;

/// A segment that is read from its first group to its last.
pub(super) struct Segment<'a> {
    /// The rows of MCUs that it holds.
    pub(super) rows: Range<usize>,
    /// The lengths of the groups that are left, two bytes each.
    lengths: &'a [[u8; 2]],
    /// The file, and where in it the first of these groups begins.
    file: &'a [u8],
    at: usize,
}

impl<'a> Segment<'a> {
    /// The segment that holds a row of MCUs.
    ///
    /// # Errors
    /// One that is cut off, has a wrong checksum, or other lengths than its groups have.
    pub(super) fn of_row(bytes: &'a [u8], header: &Header, row: usize) -> Result<Self, CoefficientsError> {
        let number = row / header.rows;
        let place = header.segment(bytes, number)?;
        let rows = number * header.rows..((number + 1) * header.rows).min(header.frame.mcus_down());
        let groups: usize = rows.clone().map(|row| groups_in_mcu_row(&header.frame, row)).sum();
        let segment = &bytes[place.clone()];
        let Some((sum, rest)) = segment.split_first_chunk() else { return corrupt("a segment is empty") };
        if crc32c::crc32c(rest) != u32::from_le_bytes(*sum) {
            return corrupt("the checksum of a segment is wrong");
        }
        let Some((lengths, groups)) = rest.split_at_checked(2 * groups) else {
            return corrupt("a segment has fewer groups than its rows need");
        };
        let lengths = lengths.as_chunks().0;
        if total(lengths) != groups.len() {
            return corrupt("the groups of a segment are not as long as it is");
        }
        Ok(Self { rows, lengths, file: bytes, at: place.end - groups.len() })
    }

    /// Passes over groups.
    pub(super) fn skip(&mut self, groups: usize) {
        let (passed, left) = self.lengths.split_at(groups.min(self.lengths.len()));
        self.lengths = left;
        self.at += total(passed);
    }

    /// The next group.
    pub(super) fn next(&mut self) -> Result<Bytes<'a>, CoefficientsError> {
        let place = self.next_place()?;
        let group = Bytes::new(&self.file[place.start..], place.len());
        group.ok_or(CoefficientsError::Truncated { place: "a segment" })
    }

    /// Where in the file the next group lies.
    pub(super) fn next_place(&mut self) -> Result<Range<usize>, CoefficientsError> {
        let Some((length, left)) = self.lengths.split_first() else {
            return corrupt("a segment has fewer groups than its rows need");
        };
        let from = self.at;
        self.at += usize::from(u16::from_le_bytes(*length));
        self.lengths = left;
        Ok(from..self.at)
    }
}

fn total(lengths: &[[u8; 2]]) -> usize {
    lengths.iter().map(|&length| usize::from(u16::from_le_bytes(length))).sum()
}
