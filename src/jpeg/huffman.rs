//! Huffman tables, in the form that the entropy decoders look symbols up in.

mod entry;

use super::bits::{Cursor, extend};
use super::error::{JpegError, corrupt};
use entry::{Entry, INCOMPLETE, MOST, WIDEST};

pub(super) use entry::Rotate;

/// Bits that index the merged table: nearly every code fits, and two tables stay in L1.
pub(super) const LOOKAHEAD: u32 = 11;
/// Bits that index the plain table.
const PLAIN: u32 = 9;

/// The advance of "end of block": so far past 63 that no run can reach it.
pub(super) const END_OF_BLOCK: u32 = 128;
/// The advance of a code that does not exist: past 63, yet short of any end of block.
pub(super) const BAD_CODE: u32 = 64;

/// Neighbouring prefixes that begin with the same symbol, and with the same sign of its value if it has one.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    span: usize,
    entry: Entry,
}

/// A run for each code and sign.
const MOST_RUNS: usize = 512;

/// What a table's symbols mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Symbols are magnitude categories of DC differences.
    Dc,
    /// Symbols are a run of zeros and a magnitude category.
    Ac,
}

/// A Huffman table as a DHT segment defines it, and the lookups derived from it.
#[derive(Clone)]
pub(super) struct Table {
    class: Class,
    defined: bool,
    counts: [u8; 16],
    symbols: [u8; 256],
    /// The largest code of each length, left-aligned to 16 bits plus one: a prefix below it has that length.
    limits: [u32; 17],
    /// What to add to a code of each length to get its place in `symbols`.
    offsets: [i32; 17],
    /// Length in the upper, symbol in the lower byte; 0 for longer codes.
    plain: [u16; 1 << PLAIN],
    merged: Box<[Entry; 1 << LOOKAHEAD]>,
    merged_ready: bool,
}

impl Table {
    /// A table without codes.
    pub(super) fn new(class: Class) -> Self {
        Self {
            class,
            defined: false,
            counts: [0; 16],
            symbols: [0; 256],
            limits: [0; 17],
            offsets: [0; 17],
            plain: [0; 1 << PLAIN],
            merged: Box::new([Entry(0); 1 << LOOKAHEAD]),
            merged_ready: false,
        }
    }

    /// Forgets that the table was defined; its lookups stay, in case that the next file brings the same table.
    pub(super) fn forget(&mut self) {
        self.defined = false;
    }

    /// Whether a table is there to decode with.
    pub(super) fn is_defined(&self) -> bool {
        self.defined
    }

    /// Takes over a definition: how many codes there are of each length, and their symbols in order.
    pub(super) fn define(&mut self, counts: &[u8; 16], symbols: &[u8]) -> Result<(), JpegError> {
        let known = self.counts == *counts && self.symbols.get(..symbols.len()) == Some(symbols);
        if known && !symbols.is_empty() {
            self.defined = true;
            return Ok(());
        }
        if symbols.len() > 256 || (self.class == Class::Dc && symbols.iter().any(|&symbol| symbol > 15)) {
            return corrupt("a Huffman table holds symbols that cannot be");
        }
        self.defined = false;
        self.merged_ready = false;
        self.counts = *counts;
        self.symbols = [0; 256];
        self.symbols[..symbols.len()].copy_from_slice(symbols);
        self.plain.fill(0);
        let (mut code, mut place) = (0u32, 0usize);
        for length in 1..=16usize {
            self.offsets[length] = place as i32 - code as i32;
            for _ in 0..counts[length - 1] {
                if code >> length != 0 {
                    self.counts = [0; 16];
                    return corrupt("a Huffman table has more codes than fit");
                }
                if length <= PLAIN as usize {
                    let spread = PLAIN as usize - length;
                    let entry = (length as u16) << 8 | u16::from(self.symbols[place]);
                    self.plain[(code as usize) << spread..][..1 << spread].fill(entry);
                }
                code += 1;
                place += 1;
            }
            self.limits[length] = code << (16 - length);
            code <<= 1;
        }
        self.defined = true;
        Ok(())
    }

    /// Derives the merged lookup of an AC table if the definition has changed since it was last derived.
    pub(super) fn merge(&mut self) {
        if self.merged_ready {
            return;
        }
        self.merged_ready = true;
        let (runs, count) = self.runs();
        let runs = &runs[..count.min(MOST_RUNS)];
        // By the bits that begin with a second symbol: what it adds to the entry of the first, and behind how many.
        let (mut tails, mut reaches) = ([0; 1 << LOOKAHEAD], [0; 1 << LOOKAHEAD]);
        self.merged.fill(Entry(INCOMPLETE));
        for Run { start, span, entry } in runs {
            self.merged[*start..start + span].fill(*entry);
            tails[*start..start + span].fill(entry.tail());
            reaches[*start..start + span].fill(entry.reach());
        }
        for Run { start, span, entry } in runs {
            let (first, size) = (entry.bits(), entry.size());
            if first >= LOOKAHEAD || entry.advance() >= END_OF_BLOCK {
                continue;
            }
            let rest = LOOKAHEAD - first;
            for (number, slots) in self.merged[*start..start + span].chunks_exact_mut(1 << rest).enumerate() {
                let extra = ((start >> rest) + number) as u32 & ((1 << size) - 1);
                let head = entry.head(extend(extra, size) as i16);
                for (low, slot) in slots.iter_mut().enumerate() {
                    let second = (low << first) & ((1 << LOOKAHEAD) - 1);
                    if first <= reaches[second] {
                        *slot = Entry(head + tails[second]);
                    }
                }
            }
        }
    }

    /// The symbols that a lookup finds whole, each with its value's sign from the index and the rest from the bits.
    fn runs(&self) -> ([Run; MOST_RUNS], usize) {
        let (mut runs, mut count) = ([Run { start: 0, span: 0, entry: Entry(INCOMPLETE) }; MOST_RUNS], 0);
        let mut push = |run: Run| {
            if let Some(place) = runs.get_mut(count) {
                *place = run;
                count += 1;
            }
        };
        for length in 1..=LOOKAHEAD {
            let limit = |length: u32| (self.limits[length as usize] >> (16 - LOOKAHEAD)) as usize;
            let span = 1 << (LOOKAHEAD - length);
            for start in (limit(length - 1)..limit(length)).step_by(span) {
                let code = (start >> (LOOKAHEAD - length)) as i32;
                let symbol = self.symbols[(code + self.offsets[length as usize]) as usize & 255];
                let (advance, size) = self.advance_and_size(symbol);
                let entry = |positive| Entry::new(length, advance, size, positive);
                if advance >= END_OF_BLOCK {
                    push(Run { start, span, entry: entry(true) });
                } else if size != 0 && length < LOOKAHEAD && size <= WIDEST && length + size <= MOST {
                    let half = span / 2;
                    push(Run { start, span: half, entry: entry(false) });
                    push(Run { start: start + half, span: half, entry: entry(true) });
                }
            }
        }
        (runs, count)
    }

    /// The code at the top of 16 bits: its length and symbol.
    fn find(&self, bits: u32) -> Option<(u32, u8)> {
        // Limits never fall, so that no comparison needs to wait for another.
        let length = 1 + self.limits[1..].iter().filter(|&&limit| bits >= limit).count();
        let place = (bits >> 16usize.checked_sub(length)?) as i32 + self.offsets[length];
        Some((length as u32, self.symbols[place as usize & 255]))
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

    /// Finds one symbol or two, if they are within a lookup's reach; the caller must skip them. At least [`MOST`] bits
    /// must be available.
    #[inline(always)]
    pub(super) fn lookup(&self, cursor: &Cursor) -> Entry {
        self.merged[cursor.peek::<LOOKAHEAD>()]
    }

    /// Decodes one symbol of any length: its advance and its value. At least 16 bits must be available.
    #[inline(always)]
    pub(super) fn long(&self, cursor: &mut Cursor, data: &[u8]) -> (u32, i16) {
        let (length, advance, size) = self.long_code(cursor.peek::<16>() as u32);
        cursor.skip(length);
        cursor.refill(data);
        (advance, extend(cursor.take(size), size) as i16)
    }

    /// Decodes the difference that a DC table's symbol stands for, `None` if the bits are no code. At least 31 bits
    /// must be available.
    #[inline(always)]
    pub(super) fn difference(&self, cursor: &mut Cursor) -> Option<i32> {
        let size = u32::from(self.symbol(cursor)?);
        let value = cursor.signed(size);
        cursor.skip(size);
        Some(value)
    }

    /// Drops one AC symbol with its value. At least 31 bits must be available.
    #[inline(always)]
    pub(super) fn skip_one(&self, cursor: &mut Cursor) {
        if let Some(symbol) = self.symbol(cursor) {
            cursor.skip(u32::from(symbol & 15));
        }
    }

    #[cold]
    #[inline(never)]
    fn long_code(&self, bits: u32) -> (u32, u32, u32) {
        let Some((length, symbol)) = self.find(bits) else { return (0, BAD_CODE, 0) };
        let (advance, size) = self.advance_and_size(symbol);
        (length, advance, size)
    }

    /// Decodes one bare symbol, `None` if the bits are no code. At least 16 bits must be available.
    #[inline(always)]
    pub(super) fn symbol(&self, cursor: &mut Cursor) -> Option<u8> {
        let entry = self.plain[cursor.peek::<PLAIN>()];
        if entry != 0 {
            cursor.skip(u32::from(entry >> 8));
            return Some(entry as u8);
        }
        let (length, symbol) = self.find(cursor.peek::<16>() as u32)?;
        cursor.skip(length);
        Some(symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::sequential::Plain;
    use crate::jpeg::standard_tables as standard;

    #[test]
    fn merged_and_bare_lookups_read_the_same_symbols() {
        let mut table = Table::new(Class::Ac);
        assert!(table.define(&standard::AC_LUMA_COUNTS, &standard::AC_LUMA).is_ok());
        table.merge();
        let data: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let (mut merged, mut bare) = (Cursor::default(), Cursor::default());
        while merged.consumed() < 30_000 {
            merged.refill(&data);
            bare.refill(&data);
            let entry = table.lookup(&merged);
            let mut values = Vec::new();
            if entry.is_complete() {
                if entry.second_advance(Plain) != 0 {
                    values.push((entry.advance(), entry.value(Plain)));
                }
                let advance = if values.is_empty() { entry.advance() } else { entry.second_advance(Plain) };
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
                assert_eq!(advance, table.advance_and_size(symbol).0);
                let wanted = extend(bare.take(size), size);
                assert!(advance >= END_OF_BLOCK || i32::from(value) == wanted, "{value} for {wanted}");
            }
            assert_eq!(merged.consumed(), bare.consumed());
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
