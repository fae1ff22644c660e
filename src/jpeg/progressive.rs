//! Entropy decoding of progressive scans: first and refining passes, over DC of whole MCUs or over a band of one component.

#[cfg(target_arch = "x86_64")]
mod bmi2;
#[cfg(test)]
mod tests;

use super::bits::{Cursor, PADDING, extend};
use super::huffman::Table;
use super::sequential::{BadBlock, Plain};
use super::tables::ZIGZAG;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;

/// Some of a block's 64 coefficients: the first in zigzag order has the highest bit, so that bits of the stream, of which
/// the first is the highest too, belong to coefficients in the order of both.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Places(u64);

/// Where the coefficient stands in its block that a bit of [`Places`] is for, counted from the lowest.
const PLACE: [u8; 64] = {
    let mut place = ZIGZAG;
    place.reverse();
    place
};

/// Bits that are there for corrections, whatever a symbol took of a refill: a code and the length of a run.
const LEFT: u32 = 56 - 16 - 14;

impl Places {
    /// From `start` to `end` in zigzag order, both of 0 to 63.
    fn band(start: usize, end: usize) -> Self {
        Self((u64::MAX >> (start & 63)) & (u64::MAX << (63 - (end & 63))))
    }
}

/// Hands bits out to places.
trait Deposit: Copy {
    /// The low bits of `bits`, each where the next bit of `mask` stands, from the lowest up.
    fn deposit(self, bits: u64, mask: u64) -> u64;
}

impl Deposit for Plain {
    #[inline(always)]
    fn deposit(self, mut bits: u64, mut mask: u64) -> u64 {
        let mut deposited = 0;
        while bits != 0 && mask != 0 {
            let lowest = mask & mask.wrapping_neg();
            deposited |= lowest * (bits & 1);
            mask ^= lowest;
            bits >>= 1;
        }
        deposited
    }
}

/// A pass over DC.
pub(super) struct DcPass {
    /// The bit that the pass adds, and whether it refines earlier bits.
    pub(super) low: u32,
    pub(super) refines: bool,
}

impl DcPass {
    /// Runs the pass over one block. `prediction` belongs to the component and starts at 0 at every restart.
    #[inline]
    pub(super) fn block(
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
        *prediction = prediction.wrapping_add(extend(cursor.take(size), size));
        block[0] = (*prediction << self.low) as i16;
        Ok(())
    }
}

/// A pass over the coefficients of a band, which never holds DC.
#[derive(Clone, Copy)]
pub(super) struct AcPass<'a> {
    pub(super) table: &'a Table,
    /// First and last coefficient, in zigzag order.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The bit that the pass adds, and whether it refines earlier bits.
    pub(super) low: u32,
    pub(super) refines: bool,
}

/// What goes on from block to block; all of it starts anew with a scan and behind a restart marker.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    pub(super) cursor: Cursor,
    /// Blocks to come whose band has ended already.
    pub(super) run: u32,
}

/// Blocks that follow each other in a scan.
pub(super) struct Blocks<'a> {
    /// The bits they come from, and how many of those are in the file.
    pub(super) data: &'a [u8],
    pub(super) limit: usize,
    pub(super) coefficients: &'a mut [[i16; 64]],
    /// Which of each block's coefficients are not zero, DC aside.
    pub(super) nonzero: &'a mut [Places],
}

impl AcPass<'_> {
    /// Runs the pass over blocks, until one of them ends behind the last bit.
    pub(super) fn blocks(self, progress: &mut Progress, blocks: Blocks<'_>) -> Result<(), BadBlock> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::allowed() {
            return bmi2::Bmi2(avx2).blocks(self, progress, blocks);
        }
        self.blocks_with(Plain, progress, blocks)
    }

    #[inline(always)]
    fn blocks_with(
        self,
        deposit: impl Deposit,
        progress: &mut Progress,
        blocks: Blocks<'_>,
    ) -> Result<(), BadBlock> {
        // Known from here on, so that a refill need not look.
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
                    let place = ZIGZAG.get(k).ok_or(BadBlock)?;
                    let value = (extend(cursor.take(size), size) << self.low) as i16;
                    block[usize::from(*place)] = value;
                    // A value may be shifted out of its 16 bits.
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
        let band = Places::band(self.start, self.end);
        for (block, nonzero) in coefficients.iter_mut().zip(nonzero) {
            let known = nonzero.0;
            // What of the band is still to be passed, and which coefficients become larger.
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
                // The zero behind so many zeros; they are counted from the last one, which has the lowest bit.
                let free = rest & !known;
                let behind = free.count_ones().checked_sub(zeros + 1);
                let stop = behind.map_or(0, |behind| deposit.deposit(1 << behind, free));
                // Without one there, all that is left is passed.
                let left = rest & stop.saturating_sub(1);
                larger |= corrections(deposit, cursor, data, (rest ^ left) & known);
                rest = left;
                if size != 0 {
                    if stop == 0 || size > 1 {
                        return Err(BadBlock);
                    }
                    let new = if is_positive { 1i16 << self.low } else { -1i16 << self.low };
                    block[usize::from(PLACE[stop.trailing_zeros() as usize & 63])] = new;
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
                let coefficient = &mut block[usize::from(PLACE[larger.trailing_zeros() as usize & 63])];
                // The bit below all known ones, with the sign of those.
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

/// Takes a bit for each of the coefficients, and returns those for which it is set. [`LEFT`] bits must be there.
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

/// As [`corrections`], with any number of bits.
#[cold]
#[inline(never)]
fn many_corrections(deposit: impl Deposit, mut cursor: Cursor, data: &[u8], known: u64) -> (Cursor, u64) {
    let halves = [known & !0 << 32, known & !0 >> 32].map(|half| {
        cursor.refill(data);
        deposit.deposit(cursor.take_many(half.count_ones()), half)
    });
    (cursor, halves[0] | halves[1])
}
