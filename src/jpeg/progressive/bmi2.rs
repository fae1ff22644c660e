//! The passes built for BMI2, which hands bits out to places by one instruction.
#![expect(unsafe_code, reason = "calls into a function built for BMI2, and one of its instructions")]

use super::{AcPass, BadBlock, Blocks, Deposit};
use crate::jpeg::bits::{Cursor, PADDING};
use crate::simd::Avx2;
use std::arch::x86_64::_pdep_u64;

#[derive(Clone, Copy)]
pub(super) struct Bmi2(pub(super) Avx2);

impl Deposit for Bmi2 {
    #[inline(always)]
    fn deposit(self, bits: u64, mask: u64) -> u64 {
        // SAFETY: the `Avx2` value within `self` proves that the machine has BMI2.
        unsafe { _pdep_u64(bits, mask) }
    }
}

impl Bmi2 {
    /// See [`AcPass::blocks`].
    pub(super) fn blocks(
        self,
        pass: AcPass<'_>,
        cursor: &mut Cursor,
        data: &[u8],
        limit: usize,
        run: &mut u32,
        blocks: Blocks<'_>,
    ) -> Result<(), BadBlock> {
        // SAFETY: the `Avx2` value within `self` proves that the machine has BMI1, BMI2 and POPCNT too.
        unsafe {
            match pass.refines {
                false => first_bmi2(pass, cursor, data, limit, run, blocks),
                true => refine_bmi2(self, pass, cursor, data, limit, run, blocks),
            }
        }
    }
}

/// Not inlined: alone, its loop keeps everything in registers.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn first_bmi2(
    pass: AcPass<'_>,
    cursor: &mut Cursor,
    data: &[u8],
    limit: usize,
    run: &mut u32,
    blocks: Blocks<'_>,
) -> Result<(), BadBlock> {
    if data.len() < PADDING {
        return Err(BadBlock);
    }
    let mut local = *cursor;
    let result = pass.first(&mut local, data, limit, run, blocks);
    *cursor = local;
    result
}

/// Not inlined, as [`first_bmi2`].
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn refine_bmi2(
    deposit: Bmi2,
    pass: AcPass<'_>,
    cursor: &mut Cursor,
    data: &[u8],
    limit: usize,
    run: &mut u32,
    blocks: Blocks<'_>,
) -> Result<(), BadBlock> {
    if data.len() < PADDING {
        return Err(BadBlock);
    }
    let mut local = *cursor;
    let result = pass.refine(deposit, &mut local, data, limit, run, blocks);
    *cursor = local;
    result
}
