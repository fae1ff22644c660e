//! The passes of progressive scans, first and refining: over DC of whole MCUs, or over a band of one component.

use crate::jpeg::entropy::bit_ops::Deposit;
use crate::jpeg::entropy::bits::{Cursor, PADDING, extend};
use crate::jpeg::entropy::block::BadBlock;
use crate::jpeg::entropy::huffman::Table;
use crate::jpeg::transform::ZIGZAG;

/// A bit for each of a block's 64 coefficients. The first in zigzag order has the highest bit, as the first bit of the
/// stream has, so a string of bits matches the coefficients in order.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct CoefficientMask(pub(super) u64);

/// The index in its block of the coefficient of each bit of a [`CoefficientMask`], from the lowest bit.
const BLOCK_INDEX: [u8; 64] = {
    let (mut index, mut bit) = ([0; 64], 0);
    while bit < 64 {
        index[bit] = ZIGZAG[63 - bit];
        bit += 1;
    }
    index
};

/// Bits that a refill leaves for corrections after the longest symbol: a code and the length of a run.
const LEFT: u32 = 56 - 16 - 14;

impl CoefficientMask {
    /// From `start` to `end` in zigzag order, both of 0 to 63.
    fn band(start: usize, end: usize) -> Self {
        Self((u64::MAX >> (start & 63)) & (u64::MAX << (63 - (end & 63))))
    }
}

/// A pass over DC.
pub(crate) struct DcPass {
    /// The bit position that the pass adds, and whether it refines earlier bits.
    pub(crate) low: u32,
    pub(crate) refines: bool,
}

impl DcPass {
    /// Runs the pass over one block. `prediction` belongs to the component and starts at 0 at every restart.
    #[inline]
    pub(crate) fn block(
        &self,
        cursor: &mut Cursor,
        data: &[u8],
        table: &Table,
        prediction: &mut i32,
        block: &mut [i16; 64],
    ) -> Result<(), BadBlock> {
        cursor.refill(data);
        if self.refines {
            block[0] |= (cursor.take(1) << self.low) as i16;
            return Ok(());
        }
        let size = u32::from(table.symbol(cursor).ok_or(BadBlock)?);
        // libjpeg refuses a sum that does not fit.
        *prediction = prediction.checked_add(extend(cursor.take(size), size)).ok_or(BadBlock)?;
        block[0] = (*prediction << self.low) as i16;
        Ok(())
    }
}

/// A pass over the coefficients of a band, which never holds DC.
#[derive(Clone, Copy)]
pub(crate) struct AcPass<'a> {
    pub(crate) table: &'a Table,
    /// First and last coefficient, in zigzag order.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The bit position that the pass adds, and whether it refines earlier bits.
    pub(crate) low: u32,
    pub(crate) refines: bool,
}

/// The state between two blocks; it is reset at the start of a scan and after a restart marker.
#[derive(Clone, Copy, Default)]
pub(crate) struct Progress {
    pub(crate) cursor: Cursor,
    /// Blocks to come whose band has already ended.
    pub(crate) run: u32,
}

/// Consecutive blocks of a scan.
pub(crate) struct Blocks<'a> {
    /// The bits that they are decoded from, and the count of those that are in the file.
    pub(crate) data: &'a [u8],
    pub(crate) limit: usize,
    pub(crate) coefficients: &'a mut [[i16; 64]],
    /// Which of each block's coefficients are not zero, DC aside.
    pub(crate) nonzero: &'a mut [CoefficientMask],
}

impl AcPass<'_> {
    /// Runs the pass over blocks, until one of them ends after the last bit.
    #[inline(always)]
    pub(crate) fn blocks_with(
        self,
        deposit: impl Deposit,
        progress: &mut Progress,
        blocks: Blocks<'_>,
    ) -> Result<(), BadBlock> {
        // From here on the compiler knows the length, so a refill need not check.
        if blocks.data.len() < PADDING {
            return Err(BadBlock);
        }
        // A copy, which can stay in registers.
        let mut local = *progress;
        let result = match self.refines {
            false => self.first(&mut local, blocks),
            true => self.refine(deposit, &mut local, blocks),
        };
        *progress = local;
        result
    }

    #[inline(always)]
    fn first(
        self,
        Progress { cursor, run }: &mut Progress,
        Blocks { data, limit, coefficients, nonzero }: Blocks<'_>,
    ) -> Result<(), BadBlock> {
        let mut blocks = coefficients.iter_mut().zip(nonzero);
        loop {
            let ended = (*run as usize).min(blocks.len());
            *run -= ended as u32;
            let Some((block, nonzero)) = blocks.nth(ended) else { return Ok(()) };
            let (mut k, mut found) = (self.start, 0);
            while k <= self.end {
                cursor.refill(data);
                let symbol = self.table.symbol(cursor).ok_or(BadBlock)?;
                let (zeros, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
                if size != 0 {
                    k += zeros as usize;
                    let index = ZIGZAG.get(k).filter(|_| k <= self.end).ok_or(BadBlock)?;
                    let value = (extend(cursor.take(size), size) << self.low) as i16;
                    block[usize::from(*index)] = value;
                    // The shift may push all bits of the value out.
                    found |= u64::from(value != 0) << (63 - k);
                    k += 1;
                } else if zeros < 15 {
                    *run = (1 << zeros) - 1 + cursor.take(zeros);
                    break;
                } else {
                    k += 16;
                }
            }
            nonzero.0 |= found;
            if k > 64 || cursor.consumed() > limit {
                return Err(BadBlock);
            }
        }
    }

    #[inline(always)]
    fn refine(
        self,
        deposit: impl Deposit,
        Progress { cursor, run }: &mut Progress,
        Blocks { data, limit, coefficients, nonzero }: Blocks<'_>,
    ) -> Result<(), BadBlock> {
        let band = CoefficientMask::band(self.start, self.end);
        for (block, nonzero) in coefficients.iter_mut().zip(nonzero) {
            let known = nonzero.0;
            // The rest of the band, and the coefficients whose magnitude grows.
            let (mut rest, mut larger) = (band.0, 0);
            while *run == 0 && rest != 0 {
                cursor.refill(data);
                let symbol = self.table.symbol(cursor).ok_or(BadBlock)?;
                let (zeros, size) = (u32::from(symbol >> 4), symbol & 15);
                if size == 0 && zeros < 15 {
                    *run = (1 << zeros) + cursor.take(zeros);
                    break;
                }
                let is_positive = size != 0 && cursor.take(1) != 0;
                // The zero after `zeros` zeros; they are counted from the last one, which has the lowest bit.
                let free = rest & !known;
                let later = free.count_ones().checked_sub(zeros + 1);
                let stop = later.map_or(0, |later| deposit.deposit(1 << later, free));
                // If there is none, the rest of the band is passed.
                let left = rest & stop.saturating_sub(1);
                larger |= corrections(deposit, cursor, data, (rest ^ left) & known);
                rest = left;
                if size != 0 {
                    if stop == 0 || size > 1 {
                        return Err(BadBlock);
                    }
                    let new = if is_positive { 1i16 << self.low } else { -1i16 << self.low };
                    block[usize::from(BLOCK_INDEX[stop.trailing_zeros() as usize & 63])] = new;
                    nonzero.0 |= stop;
                }
            }
            if *run > 0 {
                *run -= 1;
                if rest & known != 0 {
                    cursor.refill(data);
                    larger |= corrections(deposit, cursor, data, rest & known);
                }
            }
            while larger != 0 {
                let coefficient = &mut block[usize::from(BLOCK_INDEX[larger.trailing_zeros() as usize & 63])];
                // The bit below the known ones, with their sign.
                *coefficient = coefficient.wrapping_add((*coefficient >> 15 | 1) << self.low);
                larger &= larger - 1;
            }
            if cursor.consumed() > limit {
                return Err(BadBlock);
            }
        }
        Ok(())
    }
}

/// Takes one bit for each of the `known` coefficients, and returns those with a set bit. [`LEFT`] bits must be there.
#[inline(always)]
fn corrections(deposit: impl Deposit, cursor: &mut Cursor, data: &[u8], known: u64) -> u64 {
    let count = known.count_ones();
    if count > LEFT {
        // By value: a cursor whose address is known does not stay in registers.
        let (after, larger) = many_corrections(deposit, *cursor, data, known);
        *cursor = after;
        return larger;
    }
    deposit.deposit(cursor.take_many(count), known)
}

/// As [`corrections`], for any count of bits.
#[cold]
#[inline(never)]
fn many_corrections(deposit: impl Deposit, mut cursor: Cursor, data: &[u8], known: u64) -> (Cursor, u64) {
    let halves = [known & !0 << 32, known & !0 >> 32].map(|half| {
        cursor.refill(data);
        deposit.deposit(cursor.take_many(half.count_ones()), half)
    });
    (cursor, halves[0] | halves[1])
}
