//! Huffman tables, in the form that the entropy decoders look symbols up in.

mod entry;

use super::bit_ops::Rotate;
use super::bits::{Cursor, extend};
use crate::jpeg::error::{JpegError, corrupt};
use entry::{Entry, INCOMPLETE, MAX_BITS, Symbol};

/// Bits that index the merged table: nearly every code fits, and two tables fit in L1.
const LOOKAHEAD: u32 = 11;
/// Bits that index the plain table.
const PLAIN: u32 = 9;
/// Bits that index the table of DC differences: nearly every code fits with its value's sign.
const DIRECT: u32 = 8;

/// The advance of "end of block": so far past 63 that no run can reach it.
pub(crate) const END_OF_BLOCK: u32 = 128;
/// The advance of a code that does not exist: past 63, yet short of any end of block.
pub(crate) const BAD_CODE: u32 = 64;

/// Consecutive prefixes that begin with the same symbol, and with the same sign of its value if it has one.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    span: usize,
    symbol: Symbol,
}

/// The meaning of a table's symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Symbols are magnitude categories of DC differences.
    Dc,
    /// Symbols are a run of zeros and a magnitude category.
    Ac,
}

/// A Huffman code as a DHT segment defines it.
#[cfg(feature = "cuda")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Code {
    /// Codes of each length, from 1 to 16 bits.
    pub(crate) counts: [u8; 16],
    /// Their symbols in order; zeros behind them.
    pub(crate) symbols: [u8; 256],
}

/// The codes that a DHT segment defines, as they are looked up.
#[derive(Clone)]
struct Codes {
    class: Class,
    counts: [u8; 16],
    symbols: [u8; 256],
    /// The largest code of each length, left-aligned to 16 bits plus one: a prefix below it has that length.
    limits: [u32; 17],
    /// The term that makes a code of each length its index in `symbols`.
    offsets: [i32; 17],
}

/// A Huffman table as a DHT segment defines it, and the lookups derived from it.
#[derive(Clone)]
pub(crate) struct Table {
    codes: Codes,
    defined: bool,
    /// Length in the upper, symbol in the lower byte; 0 for longer codes.
    plain: [u16; 1 << PLAIN],
    /// A DC table's symbols, each with its value.
    direct: [Entry; 1 << DIRECT],
    merged: Box<[Entry; 1 << LOOKAHEAD]>,
    merged_ready: bool,
}

impl Run {
    /// The run's part of a table by the bits that come next.
    fn of<T>(self, table: &mut [T]) -> &mut [T] {
        &mut table[self.start..self.start + self.span]
    }
}

impl Codes {
    /// Calls `run` with each symbol whose code fits in `lookahead` bits together with the sign of its value; the rest of
    /// the value comes from the bits.
    fn each_run(&self, lookahead: u32, mut run: impl FnMut(Run)) {
        for length in 1..=lookahead {
            let limit = |length: u32| (self.limits[length as usize] >> (16 - lookahead)) as usize;
            let span = 1 << (lookahead - length);
            for start in (limit(length - 1)..limit(length)).step_by(span) {
                let code = (start >> (lookahead - length)) as u32;
                let index = code as i32 + self.offsets[length as usize];
                let (advance, size) = self.advance_and_size(self.symbols[index as usize & 255]);
                let symbol = |positive| Symbol { code, length, advance, size, positive };
                if size == 0 {
                    run(Run { start, span, symbol: symbol(true) });
                } else if length < lookahead && length + size <= MAX_BITS {
                    let half = span / 2;
                    run(Run { start, span: half, symbol: symbol(false) });
                    run(Run { start: start + half, span: half, symbol: symbol(true) });
                }
            }
        }
    }

    /// The length and the symbol of the code at the top of 16 bits, for codes that are not in the lookup tables.
    #[cold]
    #[inline(never)]
    fn find(&self, bits: u32) -> Option<(u32, u8)> {
        // Limits never fall, so no comparison depends on another.
        let length = 1 + self.limits[1..].iter().filter(|&&limit| bits >= limit).count();
        let index = (bits >> 16usize.checked_sub(length)?) as i32 + self.offsets[length];
        Some((length as u32, self.symbols[index as usize & 255]))
    }

    fn advance_and_size(&self, symbol: u8) -> (u32, u32) {
        let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
        match (self.class, run, size) {
            (Class::Dc, ..) => (1, size),
            (Class::Ac, 15, 0) => (16, 0),
            (Class::Ac, _, 0) => (END_OF_BLOCK, 0),
            (Class::Ac, ..) => (run + 1, size),
        }
    }
}

impl Table {
    /// A table without codes.
    pub(crate) fn new(class: Class) -> Self {
        Self {
            codes: Codes { class, counts: [0; 16], symbols: [0; 256], limits: [0; 17], offsets: [0; 17] },
            defined: false,
            plain: [0; 1 << PLAIN],
            direct: [Entry(INCOMPLETE); 1 << DIRECT],
            merged: Box::new([Entry(INCOMPLETE); 1 << LOOKAHEAD]),
            merged_ready: false,
        }
    }

    /// Marks the table as undefined; its lookups stay, in case the next file defines the same table.
    pub(crate) fn forget(&mut self) {
        self.defined = false;
    }

    /// Whether the table is defined.
    pub(crate) fn is_defined(&self) -> bool {
        self.defined
    }

    /// The code as it was defined.
    #[cfg(feature = "cuda")]
    pub(crate) fn code(&self) -> Code {
        Code { counts: self.codes.counts, symbols: self.codes.symbols }
    }

    /// Defines the table by the count of codes of each length and their symbols in order.
    pub(crate) fn define(&mut self, counts: &[u8; 16], symbols: &[u8]) -> Result<(), JpegError> {
        let codes = &mut self.codes;
        let known = codes.counts == *counts && codes.symbols.get(..symbols.len()) == Some(symbols);
        if known && !symbols.is_empty() {
            self.defined = true;
            return Ok(());
        }
        if symbols.len() > 256 || (codes.class == Class::Dc && symbols.iter().any(|&symbol| symbol > 15)) {
            return corrupt("a Huffman table holds symbols that cannot be");
        }
        self.defined = false;
        self.merged_ready = false;
        codes.counts = *counts;
        codes.symbols = [0; 256];
        codes.symbols[..symbols.len()].copy_from_slice(symbols);
        self.plain.fill(0);
        let (mut code, mut index) = (0u32, 0usize);
        for length in 1..=16usize {
            codes.offsets[length] = index as i32 - code as i32;
            for _ in 0..counts[length - 1] {
                if code >> length != 0 {
                    codes.counts = [0; 16];
                    return corrupt("a Huffman table has more codes than fit");
                }
                if length <= PLAIN as usize {
                    let spread = PLAIN as usize - length;
                    let entry = (length as u16) << 8 | u16::from(codes.symbols[index]);
                    self.plain[(code as usize) << spread..][..1 << spread].fill(entry);
                }
                code += 1;
                index += 1;
            }
            // No code is all ones: an encoder may pad with ones.
            if counts[length - 1] > 0 && code >> length != 0 {
                codes.counts = [0; 16];
                return corrupt("a Huffman table has a code of ones only");
            }
            codes.limits[length] = code << (16 - length);
            code <<= 1;
        }
        if codes.class == Class::Dc {
            self.direct.fill(Entry(INCOMPLETE));
            codes.each_run(DIRECT, |run| run.of(&mut self.direct).fill(run.symbol.entry()));
        }
        self.defined = true;
        Ok(())
    }

    /// Derives the merged lookup of an AC table if the definition has changed since it was last derived.
    pub(crate) fn merge(&mut self) {
        if self.merged_ready {
            return;
        }
        self.merged_ready = true;
        // By the bits that begin with a second symbol: its contribution to the entry of the first, and the maximum of bits
        // before it with which its code and sign still fit the index.
        let (mut tails, mut reaches) = ([0; 1 << LOOKAHEAD], [0; 1 << LOOKAHEAD]);
        self.merged.fill(Entry(INCOMPLETE));
        self.codes.each_run(LOOKAHEAD, |run| {
            let symbol = run.symbol;
            run.of(&mut self.merged[..]).fill(symbol.entry());
            run.of(&mut tails).fill(symbol.tail());
            run.of(&mut reaches).fill((LOOKAHEAD - symbol.known()).min(MAX_BITS - symbol.bits()));
        });
        self.codes.each_run(LOOKAHEAD, |run| {
            let (symbol, first) = (run.symbol, run.symbol.bits());
            if first >= LOOKAHEAD || symbol.advance >= END_OF_BLOCK {
                return;
            }
            let rest = LOOKAHEAD - first;
            for (i, slots) in run.of(&mut self.merged[..]).chunks_exact_mut(1 << rest).enumerate() {
                let bits = ((run.start >> rest) + i) as u32;
                let extra = bits & ((1 << symbol.size) - 1);
                let head = symbol.head(bits, extend(extra, symbol.size) as i16);
                for (low, slot) in slots.iter_mut().enumerate() {
                    let second = (low << first) & ((1 << LOOKAHEAD) - 1);
                    if first <= reaches[second] {
                        *slot = head.with(tails[second]);
                    }
                }
            }
        });
    }

    /// Looks up one symbol or two; the entry is incomplete if they do not fit. The caller must skip them. At least
    /// [`MAX_BITS`] bits must be available.
    #[inline(always)]
    pub(crate) fn lookup(&self, cursor: &Cursor) -> Entry {
        self.merged[cursor.peek::<LOOKAHEAD>()]
    }

    /// Decodes one symbol of any length: its advance and its value. At least 16 bits must be available.
    #[inline(always)]
    pub(crate) fn long(&self, cursor: &mut Cursor, data: &[u8]) -> (u32, i16) {
        let (length, advance, size) = self.long_code(cursor.peek::<16>() as u32);
        cursor.skip(length);
        cursor.refill(data);
        (advance, extend(cursor.take(size), size) as i16)
    }

    /// Decodes a difference of DC, `None` if the bits are no code. Needs 31 bits, and leaves at least 38 of 56.
    #[inline(always)]
    pub(crate) fn difference(&self, rotate: impl Rotate, cursor: &mut Cursor, data: &[u8]) -> Option<i32> {
        let entry = self.direct[cursor.peek::<DIRECT>()];
        if entry.is_complete() {
            let value = entry.last_value(rotate, cursor);
            entry.skip(cursor);
            return Some(value.into());
        }
        let (length, symbol) = self.codes.find(cursor.peek::<16>() as u32)?;
        cursor.skip(length);
        let value = extend(cursor.take(symbol.into()), symbol.into());
        cursor.refill(data);
        Some(value)
    }

    /// Drops the first AC symbol of a pair and its value. At least 16 bits must be available, more than it takes.
    #[inline(always)]
    pub(crate) fn skip_one(&self, cursor: &mut Cursor) {
        if let Some(symbol) = self.symbol(cursor) {
            cursor.skip(u32::from(symbol & 15));
        }
    }

    #[cold]
    #[inline(never)]
    fn long_code(&self, bits: u32) -> (u32, u32, u32) {
        let Some((length, symbol)) = self.codes.find(bits) else { return (0, BAD_CODE, 0) };
        let (advance, size) = self.codes.advance_and_size(symbol);
        (length, advance, size)
    }

    /// Decodes one bare symbol, `None` if the bits are no code. At least 16 bits must be available.
    #[inline(always)]
    pub(crate) fn symbol(&self, cursor: &mut Cursor) -> Option<u8> {
        let entry = self.plain[cursor.peek::<PLAIN>()];
        if entry != 0 {
            cursor.skip(u32::from(entry >> 8));
            return Some(entry as u8);
        }
        let (length, symbol) = self.codes.find(cursor.peek::<16>() as u32)?;
        cursor.skip(length);
        Some(symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::entropy::bit_ops::Plain;
    use crate::jpeg::entropy::standard_tables as standard;

    #[test]
    fn merged_and_bare_lookups_read_the_same_symbols() {
        // Short runs of 16 zeros, the most extra bits after short codes, the longest codes, and codes that do not exist.
        let wide = [0xF0, 0x0B, 0x01, 0x00, 0x1F, 0x0E, 0x5C, 0x02, 0xA9, 0x31, 0x70, 0x4D, 0x12];
        let wide_counts = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1];
        // Nothing but values of ten bits and more.
        let (large, large_counts) = ([0x0A, 0x0D, 0x0F], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        lookups_agree(&standard::AC_LUMA_COUNTS, &standard::AC_LUMA);
        lookups_agree(&standard::AC_CHROMA_COUNTS, &standard::AC_CHROMA);
        lookups_agree(&wide_counts, &wide);
        lookups_agree(&large_counts, &large);
    }

    fn lookups_agree(counts: &[u8; 16], symbols: &[u8]) {
        let mut table = Table::new(Class::Ac);
        assert!(table.define(counts, symbols).is_ok());
        table.merge();
        let data: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let (mut merged, mut bare) = (Cursor::default(), Cursor::default());
        while merged.consumed() < if cfg!(miri) { 3_000 } else { 30_000 } {
            merged.refill(&data);
            bare.refill(&data);
            let entry = table.lookup(&merged);
            let mut values = Vec::new();
            if entry.is_complete() {
                let (first, last) = (entry.first(0), entry.last(Plain, 0));
                if first != last {
                    values.push((first, entry.value(Plain)));
                }
                let advance = last - values.first().map_or(0, |_| first);
                values.push((advance, entry.last_value(Plain, &merged)));
                entry.skip(&mut merged);
            } else {
                values.push(table.long(&mut merged, &data));
            }
            for (advance, value) in values {
                let Some(symbol) = table.symbol(&mut bare) else {
                    assert_eq!(advance, BAD_CODE);
                    merged.skip(1);
                    bare.skip(1);
                    break;
                };
                bare.refill(&data);
                let size = u32::from(symbol & 15);
                assert_eq!(advance, table.codes.advance_and_size(symbol).0);
                let wanted = extend(bare.take(size), size);
                assert!(advance >= END_OF_BLOCK || i32::from(value) == wanted, "{value} for {wanted}");
            }
            assert_eq!(merged.consumed(), bare.consumed());
        }
    }

    #[test]
    fn differences_are_those_of_the_bare_symbols() {
        // Codes of 1 to 16 bits for sizes of 0 to 15; sixteen ones are no code.
        let (counts, sizes) = ([1; 16], std::array::from_fn::<u8, 16, _>(|i| (i as u8 * 7) % 16));
        let mut table = Table::new(Class::Dc);
        assert!(table.define(&counts, &sizes).is_ok());
        for prefix in (0..=u16::MAX).rev().step_by(if cfg!(miri) { 97 } else { 1 }) {
            let mut data = [0x5A; 32];
            data[..2].copy_from_slice(&prefix.to_be_bytes());
            let (mut direct, mut bare) = (Cursor::default(), Cursor::default());
            direct.refill(&data);
            bare.refill(&data);
            let wanted = table.symbol(&mut bare).map(|size| extend(bare.take(size.into()), size.into()));
            assert_eq!(table.difference(Plain, &mut direct, &data), wanted, "{prefix:016b}");
            assert_eq!(wanted.is_none(), prefix == u16::MAX);
            if wanted.is_some() {
                assert_eq!(direct.consumed(), bare.consumed(), "{prefix:016b}");
            }
        }
    }

    #[test]
    fn a_table_with_too_many_codes_is_refused_and_forgotten() {
        let mut table = Table::new(Class::Dc);
        let mut counts = [0; 16];
        counts[0] = 3;
        assert!(table.define(&counts, &[0, 1, 2]).is_err());
        assert!(!table.is_defined());
        assert!(table.define(&counts, &[0, 1, 2]).is_err());
    }
}
