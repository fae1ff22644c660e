//! An entry of a merged table: what the next bits begin with.

use super::LOOKAHEAD;
use crate::jpeg::bits::Cursor;

/// What a merged entry is that holds no symbol, because the code or its value's sign lies beyond the index, or it is too
/// wide, or has no value. It advances past any block, yet within a byte, so that who looks for a block's end finds it.
pub(super) const INCOMPLETE: u64 = NO_SYMBOL | 192 << 8;
const NO_SYMBOL: u64 = 0x80;
/// The most bits that an entry takes, so that three lookups need no refill between them.
pub(super) const MOST: u32 = 18;
/// The most extra bits that an entry has room for.
pub(super) const WIDEST: u32 = 10;
/// One or two symbols, as one lookup finds them. The first of two comes with its value; the last symbol's value is
/// computed from the bits, so that it may lie beyond the index.
///
/// From the lowest bit: 8 bits to drop in all, 8 advance in zigzag order, 16 value of the first of two symbols, 8
/// advance of the second symbol, 6 bits before the last symbol's extra bits, 6 how many of 64 bits they are not, 12 what
/// to add to them. "End of block" has none, and what is read as its value is nothing. Without a second symbol its
/// advance is 0, so that storing the last value where the second symbol ends overwrites what was stored for the first.
/// Fields are read with rotations, which take one instruction.
#[derive(Clone, Copy)]
pub(in super::super) struct Entry(pub(super) u64);

/// How an entry's fields are brought down to the lowest bits.
pub(in super::super) trait Rotate: Copy {
    /// `word`, rotated right by `BY` bits.
    fn right<const BY: u32>(self, word: u64) -> u64;
}

impl Entry {
    /// One symbol: a code of `length` bits before `size` extra bits, the first of which is set if it is `positive`.
    pub(super) fn new(length: u32, advance: u32, size: u32, positive: bool) -> Self {
        let add = if positive { 0 } else { 1 - (1i64 << size) };
        let low = u64::from(length + size) | u64::from(advance) << 8;
        Entry(low | u64::from(length) << 40 | u64::from((64 - size) & 63) << 46 | (add as u64) << 52)
    }

    /// What a pair is made of that begins with this symbol, which has the value `value`; the second symbol's
    /// [`Entry::tail`] is added.
    pub(super) fn head(self, value: i16) -> u64 {
        let bits = u64::from(self.bits());
        bits | u64::from(self.advance()) << 8 | u64::from(value as u16) << 16 | bits << 40
    }

    /// What this symbol adds to the entry of a symbol ahead of it.
    pub(super) fn tail(self) -> u64 {
        u64::from(self.bits()) | u64::from(self.advance()) << 32 | self.0 & !0 << 40
    }

    /// Behind how many bits this symbol may be the second of a pair: its code and sign are within the index then.
    pub(super) fn reach(self) -> u32 {
        let known = self.lead() + u32::from(self.size() != 0);
        (LOOKAHEAD.saturating_sub(known)).min(MOST.saturating_sub(self.bits()))
    }

    /// Whether it holds a symbol; otherwise [`Table::long`] must be asked.
    #[inline(always)]
    pub(in super::super) fn is_complete(self) -> bool {
        self.0 & NO_SYMBOL == 0
    }

    /// Bits of all symbols.
    pub(super) fn bits(self) -> u32 {
        (self.0 & 0xFF) as u32
    }

    /// How far the first symbol goes in zigzag order.
    #[inline(always)]
    pub(in super::super) fn advance(self) -> u32 {
        u32::from((self.0 >> 8) as u8)
    }

    /// The value that the first of two symbols ends with.
    #[inline(always)]
    pub(in super::super) fn value(self, rotate: impl Rotate) -> i16 {
        rotate.right::<16>(self.0) as i16
    }

    /// How far the second symbol goes; 0 if there is none.
    #[inline(always)]
    pub(in super::super) fn second_advance(self, rotate: impl Rotate) -> u32 {
        u32::from(rotate.right::<32>(self.0) as u8)
    }

    /// The value that the last symbol ends with; to be asked before the entry is skipped.
    #[inline(always)]
    pub(in super::super) fn last_value(self, rotate: impl Rotate, cursor: &Cursor) -> i16 {
        let bits = cursor.field(rotate.right::<40>(self.0), rotate.right::<46>(self.0));
        (bits as i64).wrapping_add(self.0 as i64 >> 52) as i16
    }

    /// Drops the bits of all symbols.
    #[inline(always)]
    pub(in super::super) fn skip(self, cursor: &mut Cursor) {
        cursor.skip_low(self.0);
    }

    /// Bits before the last symbol's extra bits.
    pub(super) fn lead(self) -> u32 {
        (self.0 >> 40) as u32 & 63
    }

    /// How many extra bits the last symbol has.
    pub(super) fn size(self) -> u32 {
        (64 - ((self.0 >> 46) as u32 & 63)) & 63
    }
}
