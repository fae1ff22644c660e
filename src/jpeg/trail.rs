//! One decode's way along an index: where it starts and stops reading, and the places that it notes.

use super::bits::{self, Cursor};
use super::index::{Grid, Index, Point};
use super::stream::Stream;
use std::ops::Range;
use twox_hash::XxHash3_64;

/// The scan that an index is used for.
#[derive(Clone, Copy)]
pub(super) struct Scanned<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the scan's data begin.
    pub(super) from: usize,
    pub(super) components: usize,
    pub(super) grid: Grid,
}

/// Rows of MCUs that are read without a jump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leg {
    pub(super) rows: Range<usize>,
    /// The MCUs of each row; only the first row's begin at the range's start, the others' with their first.
    pub(super) columns: Range<usize>,
    /// Where the first one is, if not at the scan's start.
    pub(super) start: Option<Point>,
    /// Bytes of the file that they lie in, as far as that is known.
    pub(super) end: Option<usize>,
}

/// The way through the MCUs that a decode needs.
pub(super) struct Trail<'a> {
    index: Option<&'a mut Index>,
    grid: Grid,
    /// What is needed.
    rows: Range<usize>,
    columns: Range<usize>,
    /// Length of the file.
    length: usize,
    /// A place whose offset is known both in the file and in the stream's piece that begins at `piece`.
    in_file: usize,
    in_piece: usize,
    piece: usize,
}

impl<'a> Trail<'a> {
    /// The way to the MCUs in `rows` and `columns`, along `index` after making sure that it is one of this very file.
    pub(super) fn new(
        index: Option<&'a mut Index>,
        scanned: &Scanned<'_>,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Self {
        let (grid, length) = (scanned.grid, scanned.bytes.len());
        let mut trail =
            Self { index: None, grid, rows, columns, length, in_file: 0, in_piece: 0, piece: usize::MAX };
        let Some(index) = index else { return trail };
        let noted = (trail.rows.end * grid.places()).min(grid.down * grid.places() - 1) > index.points.len();
        let part =
            trail.rows.start > 0 || trail.rows.end <= index.rows() || trail.columns.len() < grid.across;
        let helps = part && index.rows() > 0;
        if !noted && !helps {
            return trail;
        }
        let file = XxHash3_64::oneshot(scanned.bytes);
        let fits =
            |point: Option<&Point>| point.is_none_or(|point| (scanned.from..=length).contains(&point.byte()));
        let theirs = index.file == file
            && usize::from(index.components) == scanned.components
            && usize::from(index.places) == grid.places()
            && index.points.len() < grid.down * grid.places()
            && fits(index.points.first())
            && fits(index.points.last());
        if !index.points.is_empty() && !theirs {
            index.drop_stale();
        }
        (index.file, index.components) = (file, scanned.components as u8);
        index.places = grid.places() as u8;
        trail.index = Some(index);
        let first = trail.leg(trail.first_row());
        if let Some(index) = &mut trail.index {
            index.used.skipped_rows = first.rows.start;
            index.relied = first.start.is_some() || first.end.is_some();
        }
        trail
    }

    /// The row to begin at.
    pub(super) fn first_row(&self) -> usize {
        self.index.as_ref().map_or(0, |index| index.rows().min(self.rows.start))
    }

    /// What to read from `row` on, which is the first one or the end of the leg before.
    pub(super) fn leg(&self, row: usize) -> Leg {
        let (Grid { across, step, .. }, places) = (self.grid, self.grid.places());
        let whole = Leg { rows: row..self.rows.end, columns: 0..across, start: None, end: None };
        let Some(index) = &self.index else { return whole };
        let wanted = if row < self.rows.start { 0 } else { self.columns.start / step };
        let place = (row * places + wanted).min(index.points.len());
        let (column, start) = ((place - row * places) * step, index.point(place));
        // Two bytes more: the last byte may be the first of what follows, and FF is never alone.
        let ends_at = |place: usize| index.point(place).map(|next| (next.byte() + 2).min(self.length));
        // A row whose end was never reached may be damaged there, and that must not go unnoticed.
        let passed = row >= self.rows.start && row < index.rows();
        let beyond = self.columns.end.div_ceil(step);
        if passed && (column > 0 || beyond < places) {
            let columns = column..self.columns.end;
            return Leg { rows: row..row + 1, columns, start, end: ends_at(row * places + beyond) };
        }
        Leg { columns: column..across, start, end: ends_at(self.rows.end * places), ..whole }
    }

    /// MCUs from one place that is noted to the next; none are where there is no index.
    pub(super) fn step(&self) -> Option<usize> {
        self.index.as_ref().map(|_| self.grid.step)
    }

    /// Notes that MCU `column` of `row`, which is the first of its row or a multiple of the step, begins at `cursor`.
    #[inline]
    pub(super) fn note(
        &mut self,
        (row, column): (usize, usize),
        bytes: &[u8],
        stream: &Stream,
        cursor: &Cursor,
        predictions: &[i32; 4],
    ) {
        let Some(index) = &mut self.index else { return };
        let place = row * self.grid.places() + column / self.grid.step;
        if place != index.points.len() + 1 || row >= self.grid.down {
            return;
        }
        if self.piece != stream.begin() {
            (self.piece, self.in_file, self.in_piece) = (stream.begin(), stream.begin(), 0);
        }
        let consumed = cursor.consumed();
        self.in_file = bits::skip_stuffed(bytes, self.in_file, consumed / 8 - self.in_piece);
        self.in_piece = consumed / 8;
        let Ok(at) = u32::try_from(self.in_file as u64 * 8 + consumed as u64 % 8) else { return };
        index.points.push(Point::new(at, predictions));
        index.used.changed = true;
    }
}
