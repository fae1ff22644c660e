//! Entropy decoding of progressive scans.

#[cfg(target_arch = "x86_64")]
mod bmi2;
mod pass;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
use super::bit_ops::Bmi2;
use super::bit_ops::Plain;
use super::block::BadBlock;
#[cfg(target_arch = "x86_64")]
use crate::simd::Vectors;

pub(crate) use pass::{AcPass, Blocks, CoefficientMask, DcPass, Progress};

impl AcPass<'_> {
    /// Runs the pass over blocks, until one of them ends after the last bit.
    pub(crate) fn blocks(self, progress: &mut Progress, blocks: Blocks<'_>) -> Result<(), BadBlock> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Vectors::allowed().avx2() {
            return bmi2::blocks(Bmi2(avx2), self, progress, blocks);
        }
        self.blocks_with(Plain, progress, blocks)
    }
}
