//! Sequential files with a single scan, decoded row by row.

use super::run::Run;
use super::state::State;
#[cfg(target_arch = "x86_64")]
use crate::jpeg::entropy::bit_ops::Bmi2;
use crate::jpeg::entropy::bit_ops::Plain;
use crate::jpeg::entropy::block::BlockDecoder;
use crate::jpeg::entropy::{Stream, Tables, Unit};
use crate::jpeg::error::JpegError;
use crate::jpeg::header::{Frame, Scan};
use crate::jpeg::lenient;
use crate::jpeg::output::{Planes, Rows};
use crate::jpeg::seek::{SeekPlan, Segment};
use crate::jpeg::transform::{BlockQueue, Quants, TargetRow};
use std::ops::Range;

/// A file whose only scan holds all components: it is decoded, transformed and converted row by row.
pub(super) struct SingleScan<'a> {
    pub(super) bytes: &'a [u8],
    /// Offset of the scan's data.
    pub(super) from: usize,
    pub(super) frame: &'a Frame,
    pub(super) scan: &'a Scan,
    pub(super) tables: &'a Tables,
    pub(super) quants: &'a Quants,
}

/// The columns of MCUs of which a block may be needed; if there are none, a range that begins after all columns.
fn touched(units: &[Unit<'_>]) -> Range<usize> {
    let (mut start, mut end) = (usize::MAX, 0);
    for unit in units {
        let blocks = unit.targets.columns();
        if !blocks.is_empty() {
            start = start.min(blocks.start / unit.across);
            end = end.max((blocks.end - 1) / unit.across + 1);
        }
    }
    start..end
}

/// Maximum blocks in an MCU; `Scan::parse` refuses more, and a single component has one.
const MAX_BLOCKS: usize = 10;

/// The decoder's parts, as the rows of a segment need them.
struct RowContext<'a, 't> {
    /// The file, as far as the segment may read it.
    bytes: &'a [u8],
    stream: &'a mut Stream,
    planes: &'a mut Planes,
    queue: &'a mut BlockQueue,
    plan: &'a mut SeekPlan<'t>,
}

impl RowContext<'_, '_> {
    /// Transforms the queued blocks.
    fn flush(&mut self, quants: &Quants) {
        self.queue.flush(quants, self.planes.samples());
    }
}

impl SingleScan<'_> {
    /// Decodes the segments of `plan`, down to the last row that `planes` need.
    pub(super) fn decode(
        &self,
        stream: &mut Stream,
        planes: &mut Planes,
        queue: &mut BlockQueue,
        plan: &mut SeekPlan<'_>,
        out: &mut dyn Rows,
    ) -> Result<(), JpegError> {
        let needed = planes.mcu_rows();
        let mut next = plan.first_row();
        let mut to_the_end = false;
        while next < needed.end {
            let segment = plan.segment(next);
            next = segment.rows.end;
            to_the_end = next == self.frame.mcus_down() && segment.end.is_none();
            let mut context = RowContext {
                bytes: &self.bytes[..segment.end.unwrap_or(self.bytes.len())],
                stream,
                planes,
                queue,
                plan,
            };
            let mut state = self.enter(&segment, &mut context);
            for row in segment.rows.clone() {
                let columns =
                    if row == segment.rows.start { segment.columns.clone() } else { 0..segment.columns.end };
                self.decode_row_fast(row, columns, &mut state, &mut context)?;
                context.flush(self.quants);
                if row >= needed.start {
                    context.planes.finish_mcu_row(row, row + 1 == needed.end, out);
                }
            }
            if to_the_end {
                stream.end_scan(self.bytes, &state.cursor);
            }
        }
        if to_the_end {
            lenient::check_trailer(self.bytes, stream.end())?;
        }
        Ok(())
    }

    /// Brings the stream to the start of a segment.
    fn enter(&self, segment: &Segment, context: &mut RowContext<'_, '_>) -> State {
        let (interval, bytes) = (self.tables.restart_interval, context.bytes);
        match &segment.start {
            Some(point) => {
                let passed = segment.rows.start * self.frame.mcus_across() + segment.columns.start;
                context.stream.resume(bytes, point.byte(), interval, passed);
                State::at(point, context.stream)
            }
            None => {
                context.stream.start(bytes, self.from, interval);
                State::default()
            }
        }
    }

    fn decode_row_fast(
        &self,
        row: usize,
        columns: Range<usize>,
        state: &mut State,
        context: &mut RowContext<'_, '_>,
    ) -> Result<(), JpegError> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = context.queue.vectors().avx2() {
            return self.decode_row(Bmi2(avx2), row, columns, state, context);
        }
        self.decode_row(Plain, row, columns, state, context)
    }

    /// Decodes MCUs of one row.
    fn decode_row(
        &self,
        decoder: impl BlockDecoder,
        row: usize,
        columns: Range<usize>,
        state: &mut State,
        context: &mut RowContext<'_, '_>,
    ) -> Result<(), JpegError> {
        let RowContext { bytes, ref mut stream, ref mut planes, ref mut queue, ref mut plan } = *context;
        let (stream, planes, queue, plan) = (&mut **stream, &mut **planes, &mut **queue, &mut **plan);
        let State { mut cursor, mut predictions } = *state;
        let units = self.units(row, planes);
        let units = units.get(..self.blocks_in_mcu()).unwrap_or(&units);
        let step = plan.step(row).unwrap_or(usize::MAX);
        let mut next_point = (columns.start / step + 1).saturating_mul(step);
        let (needed, touched) = (self.wholly_needed(units), touched(units));
        let mut column = columns.start;
        while column < columns.end {
            if column == next_point {
                plan.record((row, column), bytes, stream, &cursor, &predictions);
                next_point += step;
            }
            let left = columns.end.min(next_point) - column;
            let run = match column {
                _ if needed.contains(&column) => Some(Run::Kept(left.min(needed.end - column))),
                _ if column < touched.start => Some(Run::Skipped(left.min(touched.start - column))),
                _ if column >= touched.end => Some(Run::Skipped(left)),
                _ => None,
            };
            if let Some(run) = run {
                let mut new = State { cursor, predictions };
                let done = run.decode(decoder, units, column, &mut new, stream, queue);
                if queue.room() < units.len() {
                    queue.flush(self.quants, planes.samples());
                }
                if done > 0 {
                    State { cursor, predictions } = new;
                    column += done;
                    continue;
                }
            }
            let state = State { cursor, predictions };
            let state = self.decode_mcu(decoder, units, column, state, (bytes, stream, planes, queue));
            State { cursor, predictions } = state?;
            column += 1;
        }
        if columns.end == self.frame.mcus_across() {
            plan.record((row + 1, 0), bytes, stream, &cursor, &predictions);
        }
        *state = State { cursor, predictions };
        Ok(())
    }

    /// Decodes one MCU, of which some blocks may be needed, and reports its error.
    fn decode_mcu(
        &self,
        decoder: impl BlockDecoder,
        units: &[Unit<'_>],
        column: usize,
        State { mut cursor, mut predictions }: State,
        (bytes, stream, planes, queue): (&[u8], &mut Stream, &mut Planes, &mut BlockQueue),
    ) -> Result<State, JpegError> {
        if stream.restart_is_due() {
            cursor = stream.restart(bytes, cursor)?;
            predictions = [0; 4];
        }
        for unit in units {
            let prediction = &mut predictions[unit.component];
            let (data, slot) = (stream.data(), queue.slot());
            let target = unit.targets.target(unit.block(column));
            let result = match target {
                Some(target) if target.size > 1 => {
                    decoder.decode::<true>(&mut cursor, data, unit.tables, prediction, slot)
                }
                // DC is written in any case, and a block of one sample needs no more.
                _ => decoder.decode::<false>(&mut cursor, data, unit.tables, prediction, slot),
            };
            let Ok(has_ac) = result else { return Err(stream.fault(bytes, &cursor)) };
            if let Some(target) = target {
                queue.push(has_ac, unit.component, target, self.quants, planes.samples());
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
            let blocks = if unit.targets.size() == 8 { unit.targets.columns() } else { 0..0 };
            let from = blocks.start.saturating_sub(unit.x).div_ceil(unit.across);
            let to = (blocks.end + unit.across - 1).saturating_sub(unit.x) / unit.across;
            common.start.max(from)..common.end.min(to)
        })
    }

    fn blocks_in_mcu(&self) -> usize {
        let components = self.scan.used().iter().map(|part| self.frame.components[part.index & 3]);
        components.map(|component| component.h * component.v).sum()
    }

    /// The units of a row in their order in the stream; unused ones at the end.
    fn units(&self, row: usize, planes: &Planes) -> [Unit<'_>; MAX_BLOCKS] {
        let (dc, ac) = (&self.tables.dc[0], &self.tables.ac[0]);
        let mut units =
            [Unit { component: 0, tables: (dc, ac), across: 1, x: 0, targets: TargetRow::default() }; _];
        let mut next = units.iter_mut();
        for part in self.scan.used() {
            let (component, index) = (&self.frame.components[part.index & 3], part.index & 3);
            for block in 0..component.h * component.v {
                let (across, x, y) = (component.h, block % component.h, block / component.h);
                let tables = (&self.tables.dc[part.dc & 3], &self.tables.ac[part.ac & 3]);
                let targets = planes.target_row(index, row * component.v + y);
                if let Some(unit) = next.next() {
                    *unit = Unit { component: index, tables, across, x, targets };
                }
            }
        }
        units
    }
}
