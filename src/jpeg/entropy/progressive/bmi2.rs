//! The passes built for BMI2, which hands bits out to coefficients by one instruction.
#![expect(unsafe_code, reason = "calls into a function built for BMI2")]

use super::pass::{AcPass, Blocks, Progress};
use crate::jpeg::entropy::bit_ops::Bmi2;
use crate::jpeg::entropy::block::BadBlock;

/// See [`AcPass::blocks`].
pub(super) fn blocks(
    deposit: Bmi2,
    pass: AcPass<'_>,
    progress: &mut Progress,
    blocks: Blocks<'_>,
) -> Result<(), BadBlock> {
    // SAFETY: the `Avx2` value within `deposit` proves that the machine has BMI1, BMI2 and POPCNT too.
    unsafe { blocks_bmi2(deposit, pass, progress, blocks) }
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
