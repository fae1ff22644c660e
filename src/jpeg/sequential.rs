//! Entropy decoding of sequential scans, and the whole way of a file that has just one.

mod block;
#[cfg(target_arch = "x86_64")]
mod bmi2;
mod run;

use super::bits::Cursor;
use super::decode::Scan;
use super::error::JpegError;
use super::frame::Frame;
use super::huffman::Table;
use super::idct;
use super::index::Point;
use super::pending::Pending;
use super::rows::Rows;
use super::stream::Stream;
use super::strips::{Place, Strips};
use super::tables::{Quants, Tables};
use super::trail::{Leg, Trail};
use block::BlockDecoder;
use run::Run;
use std::ops::Range;

pub(super) use block::{BadBlock, Plain, decode_block};

/// A file whose only scan holds everything: decoded, transformed and converted row by row.
pub(super) struct Whole<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the scan's data begin.
    pub(super) from: usize,
    pub(super) frame: &'a Frame,
    pub(super) scan: &'a Scan,
    pub(super) tables: &'a Tables,
    pub(super) quants: &'a Quants,
}

/// The columns of MCUs of which a block may be needed; a range that begins behind them all where none is.
fn touched(units: &[Unit<'_>]) -> Range<usize> {
    let (mut start, mut end) = (usize::MAX, 0);
    for unit in units {
        let blocks = unit.place.columns();
        if !blocks.is_empty() {
            start = start.min(blocks.start / unit.across);
            end = end.max((blocks.end - 1) / unit.across + 1);
        }
    }
    start..end
}

/// The most blocks in an MCU; `Scan::parse` refuses more, and a component alone has one.
const MOST_BLOCKS: usize = 10;

/// One block of every MCU of a row.
#[derive(Clone, Copy)]
struct Unit<'a> {
    component: usize,
    /// For DC and AC.
    tables: (&'a Table, &'a Table),
    /// Blocks of the component in an MCU's row, and which of them this is.
    across: usize,
    x: usize,
    place: Place,
}

impl Unit<'_> {
    /// The column of the block that belongs to an MCU.
    #[inline(always)]
    fn block(&self, mcu: usize) -> usize {
        mcu * self.across + self.x
    }
}

/// An error comes with the column of the MCU that it is in.
type RowResult = Result<(), (JpegError, usize)>;

/// What goes on from MCU to MCU.
#[derive(Default)]
struct State {
    cursor: Cursor,
    predictions: [i32; 4],
}

impl State {
    /// The state at `point`, whose byte is the first of `stream`.
    fn at(point: &Point, stream: &Stream) -> Self {
        let mut cursor = Cursor::default();
        cursor.refill(stream.data());
        cursor.skip(point.bit());
        Self { cursor, predictions: point.predictions() }
    }
}

/// What the rows of a leg are decoded with.
struct Tools<'a, 't> {
    /// The file, as far as the leg may read it.
    bytes: &'a [u8],
    stream: &'a mut Stream,
    strips: &'a mut Strips,
    pending: &'a mut Pending,
    trail: &'a mut Trail<'t>,
}

impl Tools<'_, '_> {
    /// Transforms what waits.
    fn flush(&mut self, quants: &Quants) {
        self.pending.flush(quants, self.strips.samples());
    }
}

impl Whole<'_> {
    /// Decodes what `trail` leads through, down to the last row that `strips` need.
    pub(super) fn decode(
        &self,
        stream: &mut Stream,
        strips: &mut Strips,
        pending: &mut Pending,
        tolerate_truncated: bool,
        trail: &mut Trail<'_>,
        out: &mut dyn Rows,
    ) -> Result<(), JpegError> {
        let needed = strips.mcu_rows();
        let mut next = trail.first_row();
        let mut ended = false;
        while next < needed.end {
            let leg = trail.leg(next);
            next = leg.rows.end;
            let mut tools = Tools {
                bytes: &self.bytes[..leg.end.unwrap_or(self.bytes.len())],
                stream,
                strips,
                pending,
                trail,
            };
            let mut state = self.enter(&leg, &mut tools);
            for row in leg.rows.clone() {
                let columns = if row == leg.rows.start { leg.columns.clone() } else { 0..leg.columns.end };
                if ended {
                    self.fill_row(row, 0, tools.strips);
                } else {
                    match self.decode_row_fast(row, columns, &mut state, &mut tools) {
                        Ok(()) => {}
                        Err((JpegError::Truncated { .. }, column)) if tolerate_truncated => {
                            tools.flush(self.quants);
                            self.fill_row(row, column, tools.strips);
                            ended = true;
                        }
                        Err((error, _)) => return Err(error),
                    }
                    tools.flush(self.quants);
                }
                if row >= needed.start {
                    tools.strips.finish_mcu_row(row, row + 1 == needed.end, out);
                }
            }
        }
        Ok(())
    }

    /// Brings the stream to the start of a leg.
    fn enter(&self, leg: &Leg, tools: &mut Tools<'_, '_>) -> State {
        let (interval, bytes) = (self.tables.restart_interval, tools.bytes);
        match &leg.start {
            Some(point) => {
                let passed = leg.rows.start * self.frame.mcus_across() + leg.columns.start;
                tools.stream.resume(bytes, point.byte(), interval, passed);
                State::at(point, tools.stream)
            }
            None => {
                tools.stream.start(bytes, self.from, interval);
                State::default()
            }
        }
    }

    fn decode_row_fast(
        &self,
        row: usize,
        columns: Range<usize>,
        state: &mut State,
        tools: &mut Tools<'_, '_>,
    ) -> RowResult {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = tools.pending.avx2() {
            return self.decode_row(bmi2::Bmi2(avx2), row, columns, state, tools);
        }
        self.decode_row(Plain, row, columns, state, tools)
    }

    /// Decodes MCUs of one row; an error comes with the column of the MCU that it is in.
    fn decode_row(
        &self,
        decoder: impl BlockDecoder,
        row: usize,
        columns: Range<usize>,
        state: &mut State,
        tools: &mut Tools<'_, '_>,
    ) -> RowResult {
        let Tools { bytes, ref mut stream, ref mut strips, ref mut pending, ref mut trail } = *tools;
        let (stream, strips, pending, trail) = (&mut **stream, &mut **strips, &mut **pending, &mut **trail);
        let State { mut cursor, mut predictions } = *state;
        let units = self.units(row, strips);
        let units = units.get(..self.blocks_in_mcu()).unwrap_or(&units);
        let step = trail.step().unwrap_or(usize::MAX);
        let mut place = (columns.start / step + 1).saturating_mul(step);
        let (needed, touched) = (self.wholly_needed(units), touched(units));
        let mut column = columns.start;
        while column < columns.end {
            if column == place {
                trail.note((row, column), bytes, stream, &cursor, &predictions);
                place += step;
            }
            let left = columns.end.min(place) - column;
            let run = match column {
                _ if needed.contains(&column) => Some(Run::Kept(left.min(needed.end - column))),
                _ if column < touched.start => Some(Run::ReadOver(left.min(touched.start - column))),
                _ if column >= touched.end => Some(Run::ReadOver(left)),
                _ => None,
            };
            if let Some(run) = run {
                let mut new = State { cursor, predictions };
                let done = run.decode(decoder, units, column, &mut new, stream, pending);
                if pending.room() < units.len() {
                    pending.flush(self.quants, strips.samples());
                }
                if done > 0 {
                    State { cursor, predictions } = new;
                    column += done;
                    continue;
                }
            }
            let state = State { cursor, predictions };
            let state = self.decode_mcu(decoder, units, column, state, (bytes, stream, strips, pending));
            State { cursor, predictions } = state.map_err(|error| (error, column))?;
            column += 1;
        }
        if columns.end == self.frame.mcus_across() {
            trail.note((row + 1, 0), bytes, stream, &cursor, &predictions);
        }
        *state = State { cursor, predictions };
        Ok(())
    }

    /// Decodes one MCU, of which some blocks may be needed, and any error is found.
    fn decode_mcu(
        &self,
        decoder: impl BlockDecoder,
        units: &[Unit<'_>],
        column: usize,
        State { mut cursor, mut predictions }: State,
        (bytes, stream, strips, pending): (&[u8], &mut Stream, &mut Strips, &mut Pending),
    ) -> Result<State, JpegError> {
        if stream.restart_is_due() {
            cursor = stream.restart(bytes, cursor)?;
            predictions = [0; 4];
        }
        for unit in units {
            let prediction = &mut predictions[unit.component];
            let (data, slot) = (stream.data(), pending.slot());
            let target = unit.place.target(unit.block(column));
            let result = match target {
                Some(target) if target.size > 1 => {
                    decoder.decode::<true>(&mut cursor, data, unit.tables, prediction, slot)
                }
                // DC is written all the same, and is all that one sample a block needs.
                _ => decoder.decode::<false>(&mut cursor, data, unit.tables, prediction, slot),
            };
            let Ok(has_ac) = result else { return Err(stream.fault(bytes, &cursor)) };
            if let Some(target) = target {
                pending.push(has_ac, unit.component, target, self.quants, strips.samples());
            }
        }
        if stream.overread(&cursor) {
            return Err(stream.fault(bytes, &cursor));
        }
        Ok(State { cursor, predictions })
    }

    /// The columns of MCUs of which every block is needed in full size.
    fn wholly_needed(&self, units: &[Unit<'_>]) -> Range<usize> {
        let whole = 0..self.frame.mcus_across();
        units.iter().fold(whole, |common, unit| {
            let blocks = if unit.place.size() == 8 { unit.place.columns() } else { 0..0 };
            let from = blocks.start.saturating_sub(unit.x).div_ceil(unit.across);
            let to = (blocks.end + unit.across - 1).saturating_sub(unit.x) / unit.across;
            common.start.max(from)..common.end.min(to)
        })
    }

    fn blocks_in_mcu(&self) -> usize {
        let components = self.scan.used().iter().map(|part| self.frame.components[part.index & 3]);
        components.map(|component| component.h * component.v).sum()
    }

    /// What the blocks of each MCU of a row have in common, in their order in the stream; unused ones at the end.
    fn units(&self, row: usize, strips: &Strips) -> [Unit<'_>; MOST_BLOCKS] {
        let (dc, ac) = (&self.tables.dc[0], &self.tables.ac[0]);
        let mut units =
            [Unit { component: 0, tables: (dc, ac), across: 1, x: 0, place: Place::default() }; _];
        let mut next = units.iter_mut();
        for part in self.scan.used() {
            let (component, index) = (&self.frame.components[part.index & 3], part.index & 3);
            for block in 0..component.h * component.v {
                let (across, x, y) = (component.h, block % component.h, block / component.h);
                let tables = (&self.tables.dc[part.dc & 3], &self.tables.ac[part.ac & 3]);
                let place = strips.place(index, row * component.v + y);
                if let Some(unit) = next.next() {
                    *unit = Unit { component: index, tables, across, x, place };
                }
            }
        }
        units
    }

    /// Fills the MCUs of a row from `column` on with mid-grey.
    fn fill_row(&self, row: usize, column: usize, strips: &mut Strips) {
        for (index, component) in self.frame.used().iter().enumerate() {
            for y in row * component.v..(row + 1) * component.v {
                for x in column * component.h..self.frame.mcus_across() * component.h {
                    if let Some(target) = strips.target(index, x, y) {
                        idct::fill(128, target, strips.samples());
                    }
                }
            }
        }
    }
}
