//! The passes built for BMI2, which hands bits out to places by one instruction.
#![expect(unsafe_code, reason = "calls into a function built for BMI2, and one of its instructions")]

use super::{AcPass, BadBlock, Blocks, Deposit, Progress};
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
        progress: &mut Progress,
        blocks: Blocks<'_>,
    ) -> Result<(), BadBlock> {
        // SAFETY: the `Avx2` value within `self` proves that the machine has BMI1, BMI2 and POPCNT too.
        unsafe { blocks_bmi2(self, pass, progress, blocks) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn blocks_bmi2(
    deposit: Bmi2,
    pass: AcPass<'_>,
    progress: &mut Progress,
    blocks: Blocks<'_>,
) -> Result<(), BadBlock> {
    pass.blocks_with(deposit, progress, blocks)
}
