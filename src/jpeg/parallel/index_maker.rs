//! From what a parallel decode of a scan has seen to a decode index.

use super::blueprint::Blueprint;
use crate::jpeg::entropy::skip_stuffed;
use crate::jpeg::seek::{Grid, Index, Point};

/// Where the bits of a scan that is read from its top, or from where its index ends, lie in the file, and which places of it
/// an index wants to know.
#[derive(Clone, Debug)]
pub(crate) struct IndexMaker {
    grid: Grid,
    components: usize,
    /// MCUs between restart markers; 0 for none.
    interval: usize,
    intervals: Intervals,
    /// The first points, which are known already: all of some rows.
    known: Vec<Point>,
    /// The row of MCUs where reading ends.
    rows: usize,
    /// Whether the file has an index, which is of other bytes or of another grid.
    is_stale: bool,
}

/// The intervals between restart markers.
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    /// The number of the first one that is read.
    pub(super) first: usize,
    /// Of that and those behind it the first byte that is read, counted without stuffing, and its offset in the file.
    pub(super) begins: Vec<(usize, usize)>,
}

impl IndexMaker {
    pub(super) fn new(
        file: &Blueprint,
        intervals: Intervals,
        known: Vec<Point>,
        rows: usize,
        is_stale: bool,
    ) -> Self {
        let (grid, interval) = (Grid::of(&file.frame), file.interval);
        Self { grid, components: file.frame.count, interval, intervals, known, rows, is_stale }
    }

    /// MCUs from one point of a row to the next.
    pub(crate) fn step(&self) -> usize {
        self.grid.step
    }

    /// Points of a row.
    pub(crate) fn points_per_row(&self) -> usize {
        self.grid.points_per_row()
    }

    /// Points that are passed, the scan's start and the one behind the last row among them.
    pub(crate) fn points(&self) -> usize {
        self.rows * self.grid.points_per_row() + 1
    }

    /// The index of the file, of which `places` are the points, without those that are known: a bit, counted without stuffing, and predictions.
    pub(crate) fn index(&self, bytes: &[u8], places: impl Iterator<Item = (u32, [i16; 4])>) -> Option<Index> {
        let last = self.points().min(self.grid.down * self.grid.points_per_row());
        let mut points = self.known.clone();
        points.reserve_exact(last.saturating_sub(points.len()));
        // The latest place, in the file and without stuffing, and its interval.
        let (mut at, mut passed, mut latest) = (0, 0, usize::MAX);
        for (number, (bit, dc)) in places.enumerate().take(last).skip(1 + self.known.len()) {
            // A point ahead of a marker belongs to what is ahead of it.
            let number = (self.grid.mcu(number) - 1).checked_div(self.interval).unwrap_or(0);
            let &(begin, offset) = self.intervals.begins.get(number.checked_sub(self.intervals.first)?)?;
            if number != latest {
                (at, passed, latest) = (offset, begin, number);
            }
            let byte = (bit / 8) as usize;
            at = skip_stuffed(bytes, at, byte.checked_sub(passed)?);
            passed = byte;
            let bits = u32::try_from(at as u64 * 8 + u64::from(bit % 8)).ok()?;
            points.push(Point::new(bits, &dc.map(i32::from)));
        }
        Some(Index::learned(bytes, self.components, self.grid, points, self.is_stale))
    }
}
