//! Entropy decoding of one block of a progressive scan: four kinds of pass over the same coefficients.

use super::bits::{Cursor, extend};
use super::huffman::Table;
use super::sequential::BadBlock;
use super::tables::ZIGZAG;

/// What a pass does to a block's coefficients, and what it carries from block to block.
pub(super) struct Pass<'a> {
    pub(super) dc: &'a Table,
    pub(super) ac: &'a Table,
    /// First and last coefficient, in zigzag order.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The bit that the pass adds, and whether it refines earlier bits.
    pub(super) low: u32,
    pub(super) refines: bool,
}

impl Pass<'_> {
    /// Runs the pass over one block. `prediction` belongs to the component, `run` (of blocks whose band has ended) to
    /// the scan; both start at 0 at every restart.
    #[inline]
    pub(super) fn block(
        &self,
        cursor: &mut Cursor,
        data: &[u8],
        prediction: &mut i32,
        run: &mut u32,
        block: &mut [i16; 64],
    ) -> Result<(), BadBlock> {
        match (self.start == 0, self.refines) {
            (true, false) => self.first_dc(cursor, data, prediction, block),
            (true, true) => {
                cursor.refill(data);
                block[0] |= (cursor.take(1) << self.low) as i16;
                Ok(())
            }
            (false, false) => self.first_ac(cursor, data, run, block),
            (false, true) => self.refine_ac(cursor, data, run, block),
        }
    }

    fn first_dc(
        &self,
        cursor: &mut Cursor,
        data: &[u8],
        prediction: &mut i32,
        block: &mut [i16; 64],
    ) -> Result<(), BadBlock> {
        cursor.refill(data);
        let size = u32::from(self.dc.symbol(cursor).ok_or(BadBlock)?);
        *prediction = prediction.wrapping_add(extend(cursor.take(size), size));
        block[0] = (*prediction << self.low) as i16;
        Ok(())
    }

    fn first_ac(
        &self,
        cursor: &mut Cursor,
        data: &[u8],
        run: &mut u32,
        block: &mut [i16; 64],
    ) -> Result<(), BadBlock> {
        if *run > 0 {
            *run -= 1;
            return Ok(());
        }
        let mut k = self.start;
        while k <= self.end {
            cursor.refill(data);
            let symbol = self.ac.symbol(cursor).ok_or(BadBlock)?;
            let (zeros, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 && zeros < 15 {
                *run = (1 << zeros) - 1 + cursor.take(zeros);
                return Ok(());
            }
            k += zeros as usize;
            if size != 0 {
                let place = ZIGZAG.get(k).ok_or(BadBlock)?;
                block[usize::from(*place)] = (extend(cursor.take(size), size) << self.low) as i16;
            }
            k += 1;
        }
        if k <= 64 { Ok(()) } else { Err(BadBlock) }
    }

    fn refine_ac(
        &self,
        cursor: &mut Cursor,
        data: &[u8],
        run: &mut u32,
        block: &mut [i16; 64],
    ) -> Result<(), BadBlock> {
        let mut k = self.start;
        while *run == 0 && k <= self.end {
            cursor.refill(data);
            let symbol = self.ac.symbol(cursor).ok_or(BadBlock)?;
            let (zeros, size) = (u32::from(symbol >> 4), symbol & 15);
            let new = match size {
                0 if zeros < 15 => {
                    *run = (1 << zeros) + cursor.take(zeros);
                    break;
                }
                0 => 0,
                1 if cursor.take(1) != 0 => 1i16 << self.low,
                1 => -1i16 << self.low,
                _ => return Err(BadBlock),
            };
            k = self.refine_until(cursor, data, k, zeros, block);
            if new != 0 {
                let place = ZIGZAG.get(k).filter(|_| k <= self.end).ok_or(BadBlock)?;
                block[usize::from(*place)] = new;
            }
            k += 1;
        }
        if *run > 0 {
            self.refine_until(cursor, data, k, u32::MAX, block);
            *run -= 1;
        }
        Ok(())
    }

    /// Corrects known coefficients from `k` on and stops at the zero after `zeros` zeros, or past the band.
    fn refine_until(
        &self,
        cursor: &mut Cursor,
        data: &[u8],
        mut k: usize,
        mut zeros: u32,
        block: &mut [i16; 64],
    ) -> usize {
        let bit = 1i16 << self.low;
        while k <= self.end {
            let coefficient = &mut block[usize::from(ZIGZAG[k & 63])];
            if *coefficient == 0 {
                if zeros == 0 {
                    break;
                }
                zeros -= 1;
            } else {
                cursor.refill(data);
                if cursor.take(1) != 0 && *coefficient & bit == 0 {
                    *coefficient = coefficient.wrapping_add(if *coefficient < 0 { -bit } else { bit });
                }
            }
            k += 1;
        }
        k
    }
}
