//! Huffman-coded scans, sequential and progressive, through damage as libjpeg-turbo decodes them.

use super::blocks::Mcu;
use super::input::Input;
use super::segments::{Kind, Part, Scan};
use super::tables::{LOOKAHEAD, Lookup, Tables};
use super::{Damage, Fatal};
use crate::jpeg::entropy::extend;
use crate::jpeg::transform::ZIGZAG;

/// Bits that a buffer holds once it is filled.
const FULL: u32 = 57;
/// Bytes of data for each block of an MCU without which it is not decoded in the fast way.
const FAST_BYTES: usize = 512;

/// The index in a block of the k-th coefficient; the last for all beyond, which only damaged data name.
fn position(k: usize) -> usize {
    ZIGZAG.get(k).map_or(63, |&position| position.into())
}

/// Where symbols and bits come from.
trait Source {
    /// The symbol of the next code.
    fn symbol(&mut self, lookup: &Lookup) -> u8;
    /// The next bits, at most 15.
    fn take(&mut self, bits: u32) -> u32;
}

/// Bits that are read from the data, not yet used.
#[derive(Clone, Copy, Default)]
struct Buffer {
    bits: u64,
    /// The count of them; those above are used.
    left: u32,
}

impl Buffer {
    fn push(&mut self, byte: u8) {
        self.bits = self.bits << 8 | u64::from(byte);
        self.left += 8;
    }

    fn peek(&self, bits: u32) -> u32 {
        ((self.bits >> (self.left - bits)) as u32) & ((1 << bits) - 1)
    }

    fn take(&mut self, bits: u32) -> u32 {
        if bits == 0 {
            return 0;
        }
        let value = self.peek(bits);
        self.left -= bits;
        value
    }
}

/// The decoder's position in a segment of data, from one MCU to the next.
#[derive(Default)]
struct State {
    buffer: Buffer,
    /// Whether bits were wanted that the segment does not have: the MCUs after it stay as they are.
    is_spent: bool,
}

/// Reads up to markers, and zeros from there on.
struct Slow<'s, 'a> {
    input: &'s mut Input<'a>,
    state: &'s mut State,
}

impl Slow<'_, '_> {
    /// Fills the buffer, with at least `wanted` bits.
    fn fill(&mut self, wanted: u32) {
        let State { buffer, is_spent } = self.state;
        while buffer.left < FULL {
            let Some(byte) = self.input.data_byte() else { break };
            buffer.push(byte);
        }
        if wanted > buffer.left {
            if !*is_spent {
                self.input.warn(Damage::PrematureEndOfSegment);
                *is_spent = true;
            }
            buffer.bits <<= FULL - buffer.left;
            buffer.left = FULL;
        }
    }
}

impl Source for Slow<'_, '_> {
    fn symbol(&mut self, lookup: &Lookup) -> u8 {
        if self.state.buffer.left < LOOKAHEAD {
            self.fill(0);
        }
        let mut length = 1;
        if self.state.buffer.left >= LOOKAHEAD {
            let (short, symbol) = lookup.short(self.state.buffer.peek(LOOKAHEAD));
            if short <= LOOKAHEAD {
                self.state.buffer.left -= short;
                return symbol;
            }
            length = short;
        }
        let mut code = self.take(length);
        while lookup.is_longer(code, length) {
            code = code << 1 | self.take(1);
            length += 1;
        }
        lookup.symbol(code, length).unwrap_or_else(|| {
            self.input.warn(Damage::BadHuffmanCode);
            0
        })
    }

    fn take(&mut self, bits: u32) -> u32 {
        if self.state.buffer.left < bits {
            self.fill(bits);
        }
        self.state.buffer.take(bits)
    }
}

/// Reads up to the first FF that no zero follows, and zeros from there on.
///
/// libjpeg-turbo decodes an MCU in this way first, and once more in the slow one if it came upon such an FF. What the
/// first attempt wrote stays, and differs where more than one FF comes before a zero.
struct Fast<'a> {
    data: &'a [u8],
    at: usize,
    buffer: Buffer,
    is_at_marker: bool,
}

impl Fast<'_> {
    fn fill(&mut self) {
        if self.buffer.left > 16 {
            return;
        }
        for _ in 0..6 {
            let next = |at: usize| self.data.get(at).copied().unwrap_or_default();
            match (next(self.at), next(self.at + 1)) {
                (0xFF, 0) => {
                    self.buffer.push(0xFF);
                    self.at += 2;
                }
                (0xFF, _) => {
                    self.buffer.push(0);
                    self.is_at_marker = true;
                }
                (byte, _) => {
                    self.buffer.push(byte);
                    self.at += 1;
                }
            }
        }
    }
}

impl Source for Fast<'_> {
    fn symbol(&mut self, lookup: &Lookup) -> u8 {
        self.fill();
        let (mut length, symbol) = lookup.short(self.buffer.peek(LOOKAHEAD));
        if length <= LOOKAHEAD {
            self.buffer.left -= length;
            return symbol;
        }
        let mut code = self.buffer.take(length);
        while lookup.is_longer(code, length) {
            code = code << 1 | self.buffer.take(1);
            length += 1;
        }
        lookup.symbol(code, length).unwrap_or_default()
    }

    fn take(&mut self, bits: u32) -> u32 {
        self.fill();
        self.buffer.take(bits)
    }
}

/// One scan.
pub(super) struct Huffman {
    kind: Kind,
    /// First and last coefficient, and the lowest bit that the scan knows.
    start: usize,
    end: usize,
    low: u32,
    /// Each component's lookups; those that the scan does not use are missing.
    dc: [Option<Lookup>; 4],
    ac: [Option<Lookup>; 4],
    state: State,
    predictions: [i32; 4],
    /// Blocks to come whose band has already ended.
    run: u32,
    has_restarts: bool,
}

impl Huffman {
    /// Checks the tables of a scan.
    pub(super) fn new(scan: &Scan, progressive: bool, tables: &Tables) -> Result<Self, Fatal> {
        let kind = scan.kind(progressive);
        let mut huffman = Self {
            kind,
            start: scan.start,
            end: scan.end,
            low: scan.low,
            dc: [const { None }; 4],
            ac: [const { None }; 4],
            state: State::default(),
            predictions: [0; 4],
            run: 0,
            has_restarts: tables.restart_interval != 0,
        };
        let has_dc = matches!(huffman.kind, Kind::Sequential | Kind::DcFirst);
        let has_ac = matches!(huffman.kind, Kind::Sequential | Kind::AcFirst | Kind::AcRefinement);
        for (slot, &Part { dc, ac, .. }) in scan.parts().iter().enumerate() {
            if has_dc {
                huffman.dc[slot] = Some(Lookup::new(tables.dc.get(dc).and_then(Option::as_ref), true)?);
            }
            if has_ac {
                huffman.ac[slot] = Some(Lookup::new(tables.ac.get(ac).and_then(Option::as_ref), false)?);
            }
        }
        Ok(huffman)
    }

    /// Whether the data of the segment have not been enough.
    pub(super) fn is_spent(&self) -> bool {
        self.state.is_spent
    }

    /// Passes a restart marker.
    pub(super) fn restart(&mut self, input: &mut Input<'_>) {
        input.restart(self.state.buffer.left as usize / 8);
        self.state.buffer.left = 0;
        self.predictions = [0; 4];
        self.run = 0;
        // Up against a marker, the segment is taken for one without data.
        if input.marker == 0 {
            self.state.is_spent = false;
        }
    }

    /// Decodes an MCU.
    pub(super) fn mcu(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) -> Result<(), Fatal> {
        // Zeros refine nothing.
        if self.state.is_spent && !matches!(self.kind, Kind::DcRefinement) {
            return Ok(());
        }
        match self.kind {
            Kind::Sequential => self.sequential(input, mcu),
            Kind::DcFirst => return self.dc_first(input, mcu),
            Kind::DcRefinement => self.dc_refinement(input, mcu),
            Kind::AcFirst => self.ac_first(input, mcu.block(0)),
            Kind::AcRefinement => self.ac_refinement(input, mcu.block(0)),
        }
        Ok(())
    }

    fn sequential(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) {
        let data = input.rest();
        if !self.has_restarts && input.marker == 0 && data.len() >= FAST_BYTES * mcu.len() {
            let mut fast = Fast { data, at: 0, buffer: self.state.buffer, is_at_marker: false };
            let predictions = self.predictions;
            self.blocks_of(&mut fast, mcu);
            if !fast.is_at_marker {
                self.state.buffer = fast.buffer;
                input.skip(fast.at);
                return;
            }
            self.predictions = predictions;
        }
        let mut state = std::mem::take(&mut self.state);
        self.blocks_of(&mut Slow { input, state: &mut state }, mcu);
        self.state = state;
    }

    fn blocks_of(&mut self, source: &mut impl Source, mcu: &mut Mcu<'_>) {
        for i in 0..mcu.len() {
            let slot = mcu.slot(i);
            let (Some(dc), Some(ac)) = (&self.dc[slot], &self.ac[slot]) else { continue };
            block(source, dc, ac, &mut self.predictions[slot], mcu.block(i));
        }
    }

    fn dc_first(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) -> Result<(), Fatal> {
        let source = &mut Slow { input, state: &mut self.state };
        for i in 0..mcu.len() {
            let slot = mcu.slot(i);
            let Some(dc) = &self.dc[slot] else { continue };
            let difference = difference(source, dc);
            let prediction = &mut self.predictions[slot];
            let sum = prediction.checked_add(difference).ok_or(Fatal("DC grows beyond all bounds"))?;
            *prediction = sum;
            mcu.block(i)[0] = (sum << self.low) as i16;
        }
        Ok(())
    }

    fn dc_refinement(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) {
        let source = &mut Slow { input, state: &mut self.state };
        for i in 0..mcu.len() {
            if source.take(1) != 0 {
                mcu.block(i)[0] |= 1 << self.low;
            }
        }
    }

    fn ac_first(&mut self, input: &mut Input<'_>, block: &mut [i16; 64]) {
        if self.run > 0 {
            self.run -= 1;
            return;
        }
        let Some(ac) = &self.ac[0] else { return };
        let source = &mut Slow { input, state: &mut self.state };
        let mut k = self.start;
        while k <= self.end {
            let symbol = source.symbol(ac);
            let (zeros, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if size != 0 {
                k += zeros as usize;
                block[position(k)] = (extend(source.take(size), size) << self.low) as i16;
            } else if zeros == 15 {
                k += 15;
            } else {
                self.run = (1 << zeros) - 1 + source.take(zeros);
                break;
            }
            k += 1;
        }
    }

    fn ac_refinement(&mut self, input: &mut Input<'_>, block: &mut [i16; 64]) {
        let Some(ac) = &self.ac[0] else { return };
        let source = &mut Slow { input, state: &mut self.state };
        let (plus, minus) = (1i16 << self.low, -1i16 << self.low);
        let mut k = self.start;
        while self.run == 0 && k <= self.end {
            let symbol = source.symbol(ac);
            let (mut zeros, size) = (u32::from(symbol >> 4), symbol & 15);
            let mut new = 0;
            if size != 0 {
                if size != 1 {
                    source.input.warn(Damage::BadHuffmanCode);
                }
                new = if source.take(1) != 0 { plus } else { minus };
            } else if zeros != 15 {
                self.run = (1 << zeros) + source.take(zeros);
                break;
            }
            loop {
                let coefficient = &mut block[position(k)];
                if *coefficient != 0 {
                    correct(source, coefficient, plus, minus);
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                k += 1;
                if k > self.end {
                    break;
                }
            }
            if new != 0 {
                block[position(k)] = new;
            }
            k += 1;
        }
        if self.run > 0 {
            for k in k..=self.end {
                let coefficient = &mut block[position(k)];
                if *coefficient != 0 {
                    correct(source, coefficient, plus, minus);
                }
            }
            self.run -= 1;
        }
    }
}

fn difference(source: &mut impl Source, dc: &Lookup) -> i32 {
    match source.symbol(dc).into() {
        0 => 0,
        size => extend(source.take(size), size),
    }
}

/// Reads a correction bit.
fn correct(source: &mut impl Source, coefficient: &mut i16, plus: i16, minus: i16) {
    if source.take(1) != 0 && *coefficient & plus == 0 {
        *coefficient = coefficient.wrapping_add(if *coefficient >= 0 { plus } else { minus });
    }
}

/// A block of a sequential scan.
fn block(source: &mut impl Source, dc: &Lookup, ac: &Lookup, prediction: &mut i32, block: &mut [i16; 64]) {
    *prediction = prediction.wrapping_add(difference(source, dc));
    block[0] = *prediction as i16;
    let mut k = 1;
    while k < 64 {
        let symbol = source.symbol(ac);
        let (zeros, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
        if size != 0 {
            k += zeros;
            block[position(k)] = extend(source.take(size), size) as i16;
        } else if zeros == 15 {
            k += 15;
        } else {
            break;
        }
        k += 1;
    }
}
