//! An entry of a table: what the next bits begin with.

use crate::jpeg::bits::Cursor;

/// What an entry is that holds no symbol, because the code or its value's sign lies beyond the index, or both are too
/// wide together, or there is no such code. It advances past any block, yet within a byte, so that who looks for a
/// block's end finds it.
pub(super) const INCOMPLETE: u64 = NO_SYMBOL | 192 << 8 | 192 << 32;
const NO_SYMBOL: u64 = 0x80;
/// The most bits that an entry takes, so that three lookups need no refill between them. Behind two of them the longest
/// code is still there, which [`super::Table::long`] and [`super::Table::skip_one`] look at.
pub(super) const MOST: u32 = 18;
const _: () = assert!(3 * MOST <= 56 && 56 - 2 * MOST >= 16);

/// One or two symbols, as one lookup finds them. The first of two comes with its value; the last symbol's value is
/// computed from the bits, so that it may lie beyond the index.
///
/// From the lowest bit: 8 bits to drop in all, 8 advance of the first symbol in zigzag order, 16 value of the first of
/// two symbols, 8 advance in all, 8 how many of 64 bits are not dropped, 16 what to add to the bits that are dropped, so
/// that their low 16 become the last symbol's value. A single symbol's value is stored where it advances to, over what
/// was stored for the first of two. Fields are read with rotations, which take one instruction.
#[derive(Clone, Copy)]
pub(in super::super) struct Entry(pub(super) u64);

/// A code with the sign of its value, if it has one.
#[derive(Clone, Copy)]
pub(super) struct Symbol {
    /// The code, and its length.
    pub(super) code: u32,
    pub(super) length: u32,
    pub(super) advance: u32,
    /// Extra bits.
    pub(super) size: u32,
    /// Whether the first of them is set.
    pub(super) positive: bool,
}

/// How an entry's fields are brought down to the lowest bits.
pub(in super::super) trait Rotate: Copy {
    /// `word`, rotated right by `BY` bits.
    fn right<const BY: u32>(self, word: u64) -> u64;
}

impl Symbol {
    /// Bits of the code and its value.
    pub(super) fn bits(self) -> u32 {
        self.length + self.size
    }

    /// Bits of the code and its value's sign.
    pub(super) fn known(self) -> u32 {
        self.length + u32::from(self.size != 0)
    }

    /// The entry of this symbol alone.
    pub(super) fn entry(self) -> Entry {
        Entry(u64::from(self.advance) << 8 | self.tail())
    }

    /// What a pair is made of that begins with this symbol, which stands in `bits` and has the value `value`.
    pub(super) fn head(self, bits: u32, value: i16) -> Head {
        let (advance, count) = (u64::from(self.advance), u64::from(self.bits()));
        let fields = count | advance << 8 | u64::from(value as u16) << 16 | advance << 32;
        Head { fields: fields.wrapping_sub(count << 40), bits: u64::from(bits) << 48 }
    }

    /// What a pair is made of that ends with this symbol.
    pub(super) fn tail(self) -> u64 {
        let bits = u64::from(self.bits());
        let low = if self.positive { 0 } else { 1 - (1i64 << self.size) };
        let add = low - (i64::from(self.code) << self.size);
        bits | u64::from(self.advance) << 32 | (64 - bits) << 40 | (add as u64) << 48
    }
}

/// A pair's first symbol.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// All but what the second symbol adds.
    fields: u64,
    /// What stands before the second symbol's bits, to be taken off them.
    bits: u64,
}

impl Head {
    /// The pair that ends with the symbol whose [`Symbol::tail`] this is.
    #[inline]
    pub(super) fn with(self, tail: u64) -> Entry {
        Entry(self.fields.wrapping_add(tail).wrapping_sub(self.bits << (tail & 63)))
    }
}

impl Entry {
    /// Whether it holds a symbol; otherwise [`Table::long`] must be asked.
    #[inline(always)]
    pub(in super::super) fn is_complete(self) -> bool {
        self.0 & NO_SYMBOL == 0
    }

    /// Where the first symbol leads from `k` in zigzag order.
    #[inline(always)]
    pub(in super::super) fn first(self, k: u32) -> u32 {
        k + u32::from((self.0 >> 8) as u8)
    }

    /// The value that the first of two symbols ends with.
    #[inline(always)]
    pub(in super::super) fn value(self, rotate: impl Rotate) -> i16 {
        rotate.right::<16>(self.0) as i16
    }

    /// Where all symbols lead from `k`.
    #[inline(always)]
    pub(in super::super) fn last(self, rotate: impl Rotate, k: u32) -> u32 {
        // Both fit a byte together, so that nothing above it needs to be cut off first.
        u32::from((rotate.right::<32>(self.0) as u32).wrapping_add(k) as u8)
    }

    /// The value that the last symbol ends with; to be asked before the entry is skipped.
    #[inline(always)]
    pub(in super::super) fn last_value(self, rotate: impl Rotate, cursor: &Cursor) -> i16 {
        let bits = cursor.top(rotate.right::<40>(self.0)) as i16;
        bits.wrapping_add(rotate.right::<48>(self.0) as i16)
    }

    /// Drops the bits of all symbols.
    #[inline(always)]
    pub(in super::super) fn skip(self, cursor: &mut Cursor) {
        cursor.skip_low(self.0);
    }
}
