//! The plan of one decode: the segments of the scan that it reads, and the points that it adds to the index.

use super::index::{Grid, Index, Point};
use crate::jpeg::entropy::{Cursor, Stream, skip_stuffed};
use std::ops::Range;
use twox_hash::XxHash3_64;

/// The scan that an index is used for.
#[derive(Clone, Copy)]
pub(crate) struct Scanned<'a> {
    pub(crate) bytes: &'a [u8],
    /// Offset of the scan's data.
    pub(crate) from: usize,
    pub(crate) components: usize,
    pub(crate) grid: Grid,
}

/// Rows of MCUs that are read without a jump, or a part of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) rows: Range<usize>,
    /// The MCUs of the first row. The rows after it start at their first MCU and end at the same column.
    pub(crate) columns: Range<usize>,
    /// The point of the first MCU, unless that is the scan's start.
    pub(crate) start: Option<Point>,
    /// The length of the file up to the end of the segment, if that is known.
    pub(crate) end: Option<usize>,
}

/// The segments that cover the MCUs which a decode needs.
pub(crate) struct SeekPlan<'a> {
    index: Option<&'a mut Index>,
    grid: Grid,
    /// The needed MCUs.
    rows: Range<usize>,
    columns: Range<usize>,
    /// Length of the file.
    length: usize,
    /// A byte whose offset is known both in the file and in the stream's piece that begins at `piece`.
    in_file: usize,
    in_piece: usize,
    piece: usize,
}

impl<'a> SeekPlan<'a> {
    /// The plan for the MCUs in `rows` and `columns`. `index` is used only if it belongs to this very file.
    pub(crate) fn new(
        index: Option<&'a mut Index>,
        scanned: &Scanned<'_>,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Self {
        let (grid, length) = (scanned.grid, scanned.bytes.len());
        let mut plan =
            Self { index: None, grid, rows, columns, length, in_file: 0, in_piece: 0, piece: usize::MAX };
        let Some(index) = index else { return plan };
        let grows = (plan.rows.end * grid.points_per_row()).min(grid.down * grid.points_per_row() - 1)
            > index.points.len();
        let part = plan.rows.start > 0 || plan.rows.end <= index.rows() || plan.columns.len() < grid.across;
        let helps = part && index.rows() > 0;
        if !grows && !helps {
            return plan;
        }
        let file = XxHash3_64::oneshot(scanned.bytes);
        let fits =
            |point: Option<&Point>| point.is_none_or(|point| (scanned.from..=length).contains(&point.byte()));
        let theirs = index.is_of(file, scanned.components, grid)
            && index.points.len() < grid.down * grid.points_per_row()
            && fits(index.points.first())
            && fits(index.points.last());
        if !index.points.is_empty() && !theirs {
            index.drop_stale();
        }
        (index.file, index.components) = (file, scanned.components as u8);
        index.points_per_row = grid.points_per_row() as u8;
        plan.index = Some(index);
        let first = plan.segment(plan.first_row());
        if let Some(index) = &mut plan.index {
            index.used.skipped_rows = first.rows.start;
            index.relied = first.start.is_some() || first.end.is_some();
        }
        plan
    }

    /// The row to begin at.
    pub(crate) fn first_row(&self) -> usize {
        self.index.as_ref().map_or(0, |index| index.rows().min(self.rows.start))
    }

    /// The segment that starts in `row`, which is the first row or the end of the segment before.
    pub(crate) fn segment(&self, row: usize) -> Segment {
        let (Grid { across, step, .. }, per_row) = (self.grid, self.grid.points_per_row());
        let whole = Segment { rows: row..self.rows.end, columns: 0..across, start: None, end: None };
        let Some(index) = &self.index else { return whole };
        let wanted = if row < self.rows.start { 0 } else { self.columns.start / step };
        let i = (row * per_row + wanted).min(index.points.len());
        let (column, start) = ((i - row * per_row) * step, index.point(i));
        // Two bytes more: the last byte may be the first of what follows, and FF is never alone.
        let ends_at = |i: usize| index.point(i).map(|next| (next.byte() + 2).min(self.length));
        // A row whose end was never reached may be damaged there, and that must be noticed.
        let passed = row >= self.rows.start && row < index.rows();
        let beyond = self.columns.end.div_ceil(step);
        if passed && (column > 0 || beyond < per_row) {
            let columns = column..self.columns.end;
            return Segment { rows: row..row + 1, columns, start, end: ends_at(row * per_row + beyond) };
        }
        Segment { columns: column..across, start, end: ends_at(self.rows.end * per_row), ..whole }
    }

    /// MCUs from one point of `row` to the next; `None` where all of them are known, so that nothing has to stop at one.
    pub(crate) fn step(&self, row: usize) -> Option<usize> {
        let last = (row + 1) * self.grid.points_per_row() - 1;
        self.index.as_ref().filter(|index| index.points.len() < last).map(|_| self.grid.step)
    }

    /// Records that MCU `column` of `row`, which is the first of its row or a multiple of the step, begins at `cursor`.
    #[inline]
    pub(crate) fn record(
        &mut self,
        (row, column): (usize, usize),
        bytes: &[u8],
        stream: &Stream,
        cursor: &Cursor,
        predictions: &[i32; 4],
    ) {
        let Some(index) = &mut self.index else { return };
        let i = row * self.grid.points_per_row() + column / self.grid.step;
        if i != index.points.len() + 1 || row >= self.grid.down {
            return;
        }
        if self.piece != stream.begin() {
            (self.piece, self.in_file, self.in_piece) = (stream.begin(), stream.begin(), 0);
        }
        let consumed = cursor.consumed();
        self.in_file = skip_stuffed(bytes, self.in_file, consumed / 8 - self.in_piece);
        self.in_piece = consumed / 8;
        let Ok(at) = u32::try_from(self.in_file as u64 * 8 + consumed as u64 % 8) else { return };
        // Only a record that is not as it was written has a point beyond: places of a file come one after the other.
        if index.points.last().is_some_and(|last| last.bits() >= at) {
            return;
        }
        index.points.push(Point::new(at, predictions));
        index.used.changed = true;
    }
}
