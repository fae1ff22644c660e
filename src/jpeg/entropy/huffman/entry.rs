//! An entry of a table: what the next bits begin with.

use crate::jpeg::entropy::bit_ops::Rotate;
use crate::jpeg::entropy::bits::Cursor;

/// An entry without a symbol: the code or the sign of its value does not fit the index, or both together are too wide,
/// or there is no such code. It advances past any block, yet within a byte, so that the test for a block's end finds it.
pub(super) const INCOMPLETE: u64 = NO_SYMBOL | 192 << 8 | 192 << 32;
const NO_SYMBOL: u64 = 0x80;
/// Maximum bits of an entry, so that three lookups need no refill between them. After two of them there are still bits
/// for the longest code, which `Table::long` and `Table::skip_one` read.
pub(super) const MAX_BITS: u32 = 18;
const _: () = assert!(3 * MAX_BITS <= 56 && 56 - 2 * MAX_BITS >= 16);

/// One or two symbols, as one lookup finds them. The first of two comes with its value; the last symbol's value is
/// computed from the bits, so it need not fit the index.
///
/// Fields from the lowest bit: 8 bits for the total count of bits to drop, 8 for the first symbol's advance in zigzag
/// order, 16 for the value of the first of two symbols, 8 for the total advance, 8 for 64 less the count of bits to
/// drop, 16 for the term which, added to the dropped bits, makes their low 16 the last symbol's value. A single
/// symbol's value is stored where it advances to, over the value stored for the first of two. Fields are read with
/// rotations, which take one instruction.
#[derive(Clone, Copy)]
pub(crate) struct Entry(pub(super) u64);

/// A code, with the sign of its value if it has one.
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

    /// The first half of a pair that begins with this symbol, which is read from `bits` and has the value `value`.
    pub(super) fn head(self, bits: u32, value: i16) -> Head {
        let (advance, count) = (u64::from(self.advance), u64::from(self.bits()));
        let fields = count | advance << 8 | u64::from(value as u16) << 16 | advance << 32;
        Head { fields: fields.wrapping_sub(count << 40), bits: u64::from(bits) << 48 }
    }

    /// The second half of a pair that ends with this symbol.
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
    /// All fields, without the second symbol's contribution.
    fields: u64,
    /// The bits before the second symbol's, to be subtracted from them.
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
    /// Whether it holds a symbol; otherwise the caller decodes it with `Table::long`.
    #[inline(always)]
    pub(crate) fn is_complete(self) -> bool {
        self.0 & NO_SYMBOL == 0
    }

    /// The position in zigzag order to which the first symbol advances from `k`.
    #[inline(always)]
    pub(crate) fn first(self, k: u32) -> u32 {
        k + u32::from((self.0 >> 8) as u8)
    }

    /// The value of the first of two symbols.
    #[inline(always)]
    pub(crate) fn value(self, rotate: impl Rotate) -> i16 {
        rotate.right::<16>(self.0) as i16
    }

    /// The position to which all symbols advance from `k`.
    #[inline(always)]
    pub(crate) fn last(self, rotate: impl Rotate, k: u32) -> u32 {
        // Both fit a byte together, so that nothing above it needs to be cut off first.
        u32::from((rotate.right::<32>(self.0) as u32).wrapping_add(k) as u8)
    }

    /// The value of the last symbol; to be read before the entry is skipped.
    #[inline(always)]
    pub(crate) fn last_value(self, rotate: impl Rotate, cursor: &Cursor) -> i16 {
        let bits = cursor.top(rotate.right::<40>(self.0)) as i16;
        bits.wrapping_add(rotate.right::<48>(self.0) as i16)
    }

    /// Drops the bits of all symbols.
    #[inline(always)]
    pub(crate) fn skip(self, cursor: &mut Cursor) {
        cursor.skip_low(self.0);
    }
}
