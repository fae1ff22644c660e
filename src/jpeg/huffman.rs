//! Huffman tables, in the form that the entropy decoders look symbols up in.

use super::bits::{Cursor, extend};
use super::error::{JpegError, corrupt};

/// Bits that index the merged table: nearly every symbol with its extra bits fits, and four tables stay in L1.
pub(super) const LOOKAHEAD: u32 = 10;
/// Bits that index the plain table.
const PLAIN: u32 = 9;

/// Set in a merged entry that holds a code but not its value; the length below it may be 0: a longer code.
pub(super) const INCOMPLETE: u32 = 0x80;
/// The advance of "end of block": so far past 63 that no run can reach it.
pub(super) const END_OF_BLOCK: u32 = 128;
/// The advance of a code that does not exist: past 63, yet short of any end of block.
pub(super) const BAD_CODE: u32 = 64;

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
    /// Bits 0 to 7: bits to drop (with [`INCOMPLETE`]: of the code alone); 8 to 15: advance in zigzag order;
    /// 16 to 31: the value, or where it is incomplete, how many bits it has.
    merged: Box<[u32; 1 << LOOKAHEAD]>,
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
            merged: Box::new([0; 1 << LOOKAHEAD]),
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

    /// Derives the merged lookup if the definition has changed since it was last derived.
    pub(super) fn merge(&mut self) {
        if self.merged_ready {
            return;
        }
        self.merged_ready = true;
        for prefix in 0..1u32 << LOOKAHEAD {
            self.merged[prefix as usize] = self.merged_entry(prefix);
        }
    }

    fn merged_entry(&self, prefix: u32) -> u32 {
        let Some((length, symbol)) =
            self.find(prefix << (16 - LOOKAHEAD)).filter(|found| found.0 <= LOOKAHEAD)
        else {
            return INCOMPLETE;
        };
        let (advance, size) = self.advance_and_size(symbol);
        if length + size > LOOKAHEAD {
            return length | INCOMPLETE | advance << 8 | size << 16;
        }
        let extra = (prefix >> (LOOKAHEAD - length - size)) & ((1 << size) - 1);
        (length + size) | advance << 8 | (extend(extra, size) as u32) << 16
    }

    /// The code at the top of 16 bits: its length and symbol.
    fn find(&self, bits: u32) -> Option<(u32, u8)> {
        let length = (1..=16).find(|&length| bits < self.limits[length])?;
        let place = (bits >> (16 - length)) as i32 + self.offsets[length];
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

    /// Decodes one symbol with its value: (advance in zigzag order, value). At least 16 bits must be available.
    #[inline(always)]
    pub(super) fn coefficient(&self, cursor: &mut Cursor, data: &[u8]) -> (u32, i32) {
        let entry = self.merged[cursor.peek::<LOOKAHEAD>()];
        if entry & INCOMPLETE == 0 {
            cursor.skip(entry & 0xFF);
            return ((entry >> 8) & 0xFF, entry as i32 >> 16);
        }
        let (mut length, mut advance, mut size) = (entry & 0x7F, (entry >> 8) & 0xFF, entry >> 16);
        if length == 0 {
            (length, advance, size) = self.long_code(cursor.peek::<16>() as u32);
        }
        cursor.skip(length);
        cursor.refill(data);
        let bits = cursor.take(size);
        (advance, extend(bits, size))
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
            let (advance, value) = table.coefficient(&mut merged, &data);
            let Some(symbol) = table.symbol(&mut bare) else {
                assert_eq!(advance, BAD_CODE);
                merged.skip(1);
                bare.skip(1);
                continue;
            };
            bare.refill(&data);
            let size = u32::from(symbol & 15);
            assert_eq!(value, extend(bare.take(size), size));
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
