//! Entropy decoding of sequential scans, and the whole way of a file that has just one.

#[cfg(target_arch = "x86_64")]
mod bmi2;

use super::bits::Cursor;
use super::decode::{PixelsMut, Scan};
use super::error::JpegError;
use super::frame::Frame;
use super::huffman::{END_OF_BLOCK, Table};
use super::idct;
use super::index::Point;
use super::pending::{Pending, Slot};
use super::stream::Stream;
use super::strips::{Place, Strips};
use super::tables::{Quant, Tables, ZIGZAG};
use super::trail::{Leg, Trail};
use std::ops::Range;

/// Where a value goes after an advance to `k`: to the coefficient before. What an "end of block" or a broken run would
/// write lands in the room after a block (see [`Slot`]), so the hot loop needs no test for it.
const PLACE: [u8; 256] = {
    let mut place = [64; 256];
    let mut k = 0;
    while k < 64 {
        place[k + 1] = ZIGZAG[k];
        k += 1;
    }
    place
};

/// A code that does not exist, or a run past the end of the block.
pub(super) struct BadBlock;

/// Decodes one block. `STORE` writes its coefficients into `block`, which must be zero; otherwise they are only read
/// over, for blocks outside the wanted region. Returns whether there was anything besides DC.
#[inline(always)]
pub(super) fn decode_block<const STORE: bool>(
    cursor: &mut Cursor,
    data: &[u8],
    dc: &Table,
    ac: &Table,
    prediction: &mut i32,
    block: &mut Slot,
) -> Result<bool, BadBlock> {
    cursor.refill(data);
    let difference = dc.difference(cursor).ok_or(BadBlock)?;
    *prediction = prediction.wrapping_add(difference);
    block[0] = *prediction as i16;
    let mut k = 1;
    'block: loop {
        cursor.refill(data);
        for _ in 0..3 {
            let entry = ac.lookup(cursor);
            if !entry.is_complete() {
                let (advance, value) = ac.long(cursor, data);
                k += advance;
                store::<STORE>(block, k, value);
                if k > 63 {
                    break 'block;
                }
                continue 'block;
            }
            let first = k + entry.advance();
            store::<STORE>(block, first, entry.value());
            k = first + entry.second_advance();
            store::<STORE>(block, k, entry.last_value(cursor));
            if k > 63 {
                if first > 63 && entry.second_advance() != 0 {
                    // A second symbol after a full block is the next block's first one.
                    ac.skip_one(cursor);
                    k = first;
                } else {
                    entry.skip(cursor);
                }
                break 'block;
            }
            entry.skip(cursor);
        }
    }
    if k == 64 || k >= END_OF_BLOCK { Ok(k != 1 + END_OF_BLOCK) } else { Err(BadBlock) }
}

#[inline(always)]
fn store<const STORE: bool>(block: &mut Slot, k: u32, value: i16) {
    if STORE {
        block[usize::from(PLACE[k as u8 as usize]) & 127] = value;
    }
}

/// Decodes the blocks of `mcus` MCUs one after another into `blocks`, which must be zero but for DC and have room for
/// one block more. The cursor stays in registers from block to block.
#[inline(always)]
fn decode_mcus(
    cursor: &mut Cursor,
    data: &[u8],
    units: &[Unit<'_>],
    predictions: &mut [i32; 4],
    mcus: usize,
    blocks: &mut [[i16; 64]],
) -> Result<(), BadBlock> {
    let (mut local, mut at) = (*cursor, 0);
    for _ in 0..mcus {
        for unit in units {
            let slot = blocks.get_mut(at..at + 2).and_then(|two| two.as_flattened_mut().first_chunk_mut());
            let (slot, (dc, ac)) = (slot.ok_or(BadBlock)?, unit.tables);
            decode_block::<true>(&mut local, data, dc, ac, &mut predictions[unit.component & 3], slot)?;
            at += 1;
        }
    }
    *cursor = local;
    Ok(())
}

/// One instruction set's [`decode_block`] and [`decode_mcus`].
trait BlockDecoder: Copy {
    /// See [`decode_mcus`].
    fn decode_mcus(
        self,
        cursor: &mut Cursor,
        data: &[u8],
        units: &[Unit<'_>],
        predictions: &mut [i32; 4],
        mcus: usize,
        blocks: &mut [[i16; 64]],
    ) -> Result<(), BadBlock>;

    /// See [`decode_block`]; `tables` are those for DC and AC.
    fn decode<const STORE: bool>(
        self,
        cursor: &mut Cursor,
        data: &[u8],
        tables: (&Table, &Table),
        prediction: &mut i32,
        block: &mut Slot,
    ) -> Result<bool, BadBlock>;
}

/// Plain Rust.
#[derive(Clone, Copy)]
struct Plain;

impl BlockDecoder for Plain {
    #[inline(always)]
    fn decode_mcus(
        self,
        cursor: &mut Cursor,
        data: &[u8],
        units: &[Unit<'_>],
        predictions: &mut [i32; 4],
        mcus: usize,
        blocks: &mut [[i16; 64]],
    ) -> Result<(), BadBlock> {
        decode_mcus(cursor, data, units, predictions, mcus, blocks)
    }

    #[inline(always)]
    fn decode<const STORE: bool>(
        self,
        cursor: &mut Cursor,
        data: &[u8],
        (dc, ac): (&Table, &Table),
        prediction: &mut i32,
        block: &mut Slot,
    ) -> Result<bool, BadBlock> {
        decode_block::<STORE>(cursor, data, dc, ac, prediction, block)
    }
}

/// A file whose only scan holds everything: decoded, transformed and converted row by row.
pub(super) struct Whole<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the scan's data begin.
    pub(super) from: usize,
    pub(super) frame: &'a Frame,
    pub(super) scan: &'a Scan,
    pub(super) tables: &'a Tables,
    pub(super) quants: &'a [Quant; 4],
}

/// Decodes `mcus` MCUs whose blocks are all needed, and hands the blocks on to `pending`. False where something is wrong
/// with one of them: then nothing has changed but `state`, and whoever decodes them singly will find what it is.
fn run_of_mcus(
    decoder: impl BlockDecoder,
    units: &[Unit<'_>],
    column: usize,
    mcus: usize,
    state: &mut State,
    stream: &mut Stream,
    pending: &mut Pending,
) -> bool {
    let (State { cursor, predictions }, blocks) = (state, pending.blocks());
    let good = decoder.decode_mcus(cursor, stream.data(), units, predictions, mcus, blocks).is_ok();
    if !good || stream.overread(cursor) {
        blocks.as_flattened_mut().fill(0);
        return false;
    }
    stream.pass(mcus);
    for column in column..column + mcus {
        for unit in units {
            let target = unit.place.target(column * unit.across + unit.x).unwrap_or_default();
            pending.take(unit.component, target);
        }
    }
    true
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
    fn flush(&mut self, quants: &[Quant; 4]) {
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
        out: &mut PixelsMut<'_>,
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
                    tools.strips.finish_mcu_row(row, row + 1 == needed.end, out.data, out.stride);
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
        let needed = self.wholly_needed(units);
        let mut column = columns.start;
        while column < columns.end {
            if column == place {
                trail.note((row, column), bytes, stream, &cursor, &predictions);
                place += step;
            }
            if needed.contains(&column) {
                let end = columns.end.min(needed.end).min(place);
                let mcus = (end - column).min(pending.room() / units.len().max(1)).min(stream.mcus_left());
                let mut run = State { cursor, predictions };
                if mcus > 0 && run_of_mcus(decoder, units, column, mcus, &mut run, stream, pending) {
                    State { cursor, predictions } = run;
                    column += mcus;
                    if pending.room() < units.len() {
                        pending.flush(self.quants, strips.samples());
                    }
                    continue;
                }
            }
            if stream.restart_is_due() {
                cursor = stream.restart(bytes, cursor).map_err(|error| (error, column))?;
                predictions = [0; 4];
            }
            for unit in units {
                let prediction = &mut predictions[unit.component];
                let (data, slot) = (stream.data(), pending.slot());
                let target = unit.place.target(column * unit.across + unit.x);
                let result = match target {
                    Some(target) if target.size > 1 => {
                        decoder.decode::<true>(&mut cursor, data, unit.tables, prediction, slot)
                    }
                    // DC is written all the same, and is all that one sample a block needs.
                    _ => decoder.decode::<false>(&mut cursor, data, unit.tables, prediction, slot),
                };
                let Ok(has_ac) = result else { return Err((stream.fault(bytes, &cursor), column)) };
                if let Some(target) = target {
                    pending.push(has_ac, unit.component, target, self.quants, strips.samples());
                }
            }
            if stream.overread(&cursor) {
                return Err((stream.fault(bytes, &cursor), column));
            }
            column += 1;
        }
        if columns.end == self.frame.mcus_across() {
            trail.note((row + 1, 0), bytes, stream, &cursor, &predictions);
        }
        *state = State { cursor, predictions };
        Ok(())
    }

    /// The columns of MCUs of which every block is needed in full size.
    fn wholly_needed(&self, units: &[Unit<'_>]) -> Range<usize> {
        let whole = 0..self.frame.mcus_across();
        units.iter().fold(whole, |common, unit| {
            let blocks = unit.place.columns_of_size(8);
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
