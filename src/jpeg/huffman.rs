//! Huffman tables, in the form that the entropy decoders look symbols up in.

use super::bits::{Cursor, extend};
use super::error::{JpegError, corrupt};

/// Bits that index the merged table: nearly every symbol with its extra bits fits, and four tables stay in L1.
pub(super) const LOOKAHEAD: u32 = 11;
/// Bits that index the plain table.
const PLAIN: u32 = 9;

/// Set in a merged entry that holds a code but not its value; the length below it may be 0: a longer code.
pub(super) const INCOMPLETE: u32 = 0x80;
/// The advance of "end of block": so far past 63 that no run can reach it.
pub(super) const END_OF_BLOCK: u32 = 128;
/// The advance of a code that does not exist: past 63, yet short of any end of block.
pub(super) const BAD_CODE: u32 = 64;

/// One or two symbols with their values, as one lookup finds them.
///
/// From the lowest bit: 8 bits to drop in all (with [`INCOMPLETE`]: of the code alone, whose value has as many bits
/// as `value` says), 8 advance in zigzag order, 16 value, 8 advance of the second symbol, 8 bits to drop for the
/// first symbol alone, 16 value of the second symbol. Without a second symbol its advance is 0 and its value that of
/// the first, so that storing it again does no harm.
#[derive(Clone, Copy)]
pub(super) struct Entry(u64);

impl Entry {
    #[inline(always)]
    fn new(bits: u32, advance: u32, value: u32) -> Self {
        let (bits, value) = (u64::from(bits), u64::from(value as u16));
        Entry(bits | u64::from(advance) << 8 | value << 16 | bits << 40 | value << 48)
    }

    fn followed_by(self, second: Entry) -> Self {
        let bits = u64::from(self.bits() + second.bits());
        let first = self.0 & 0x0000_FF00_FFFF_FF00;
        Entry(first | bits | u64::from(second.advance()) << 32 | (second.value() as u16 as u64) << 48)
    }

    #[inline(always)]
    fn is_complete(self) -> bool {
        self.0 & u64::from(INCOMPLETE) == 0
    }

    /// Bits of all symbols.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        (self.0 & 0xFF) as u32
    }

    /// How far the first symbol goes in zigzag order.
    #[inline(always)]
    pub(super) fn advance(self) -> u32 {
        (self.0 >> 8) as u32 & 0xFF
    }

    /// The value that the first symbol ends with.
    #[inline(always)]
    pub(super) fn value(self) -> i16 {
        (self.0 >> 16) as i16
    }

    /// How far the second symbol goes; 0 if there is none.
    #[inline(always)]
    pub(super) fn second_advance(self) -> u32 {
        (self.0 >> 32) as u32 & 0xFF
    }

    /// Bits of the first symbol.
    #[inline(always)]
    pub(super) fn first_bits(self) -> u32 {
        (self.0 >> 40) as u32 & 0xFF
    }

    /// The value that the last symbol ends with.
    #[inline(always)]
    pub(super) fn last_value(self) -> i16 {
        (self.0 >> 48) as i16
    }
}

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

    /// Derives the merged lookup if the definition has changed since it was last derived.
    pub(super) fn merge(&mut self) {
        if self.merged_ready {
            return;
        }
        self.merged_ready = true;
        let mut single = [Entry(u64::from(INCOMPLETE)); 1 << LOOKAHEAD];
        for length in 1..=LOOKAHEAD {
            let first = self.limits[length as usize - 1] >> (16 - LOOKAHEAD);
            for prefix in first..self.limits[length as usize] >> (16 - LOOKAHEAD) {
                let code = (prefix >> (LOOKAHEAD - length)) as i32;
                let symbol = self.symbols[(code + self.offsets[length as usize]) as usize & 255];
                single[prefix as usize] = self.single(prefix, length, symbol);
            }
        }
        for (prefix, entry) in single.iter().enumerate() {
            self.merged[prefix] = *entry;
            let rest = (prefix << (entry.bits() & 31)) & ((1 << LOOKAHEAD) - 1);
            let second = single[rest];
            let fits = entry.bits() + second.bits() <= LOOKAHEAD;
            let goes_on = self.class == Class::Ac && entry.advance() < END_OF_BLOCK;
            if goes_on && fits && entry.is_complete() && second.is_complete() {
                self.merged[prefix] = entry.followed_by(second);
            }
        }
    }

    fn single(&self, prefix: u32, length: u32, symbol: u8) -> Entry {
        let (advance, size) = self.advance_and_size(symbol);
        if length + size > LOOKAHEAD {
            return Entry::new(length | INCOMPLETE, advance, size);
        }
        let extra = (prefix >> (LOOKAHEAD - length - size)) & ((1 << size) - 1);
        Entry::new(length + size, advance, extend(extra, size) as u32)
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

    /// Decodes one symbol with its value, or two; the caller must skip the entry's bits, and may take the first
    /// symbol alone. At least 16 bits must be available.
    #[inline(always)]
    pub(super) fn coefficients(&self, cursor: &mut Cursor, data: &[u8]) -> Entry {
        let entry = self.merged[cursor.peek::<LOOKAHEAD>()];
        if entry.is_complete() {
            return entry;
        }
        let (mut length, mut advance, mut size) =
            (entry.bits() & 0x7F, entry.advance(), entry.value() as u32);
        if length == 0 {
            (length, advance, size) = self.long_code(cursor.peek::<16>() as u32);
        }
        cursor.skip(length);
        cursor.refill(data);
        Entry::new(size, advance, extend(cursor.peek_some(size), size) as u32)
    }

    /// Decodes the one symbol of a DC table with its value; an advance other than 1 is a bad code.
    #[inline(always)]
    pub(super) fn coefficient(&self, cursor: &mut Cursor, data: &[u8]) -> (u32, i32) {
        let entry = self.coefficients(cursor, data);
        cursor.skip(entry.bits());
        (entry.advance(), i32::from(entry.value()))
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
            let entry = table.coefficients(&mut merged, &data);
            merged.skip(entry.bits());
            let symbols = if entry.second_advance() == 0 { 1 } else { 2 };
            for (value, _) in [entry.value(), entry.last_value()].into_iter().zip(0..symbols) {
                let Some(symbol) = table.symbol(&mut bare) else {
                    assert_eq!(entry.advance(), BAD_CODE);
                    merged.skip(1);
                    bare.skip(1);
                    break;
                };
                bare.refill(&data);
                let size = u32::from(symbol & 15);
                assert_eq!(i32::from(value), extend(bare.take(size), size));
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
