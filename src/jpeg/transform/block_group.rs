//! Blocks of one component that stand side by side, and whose coefficients other than zero are known by position.

use super::batch::Batch;
use super::idct;
use super::quant::Quants;
use super::target::Target;
use super::zigzag::ZIGZAG;
use crate::simd::Vectors;
use std::ops::Range;

/// A batch of such blocks; its coefficients stay when they have been transformed.
#[repr(C, align(64))]
pub(crate) struct BlockGroup {
    pub(crate) batch: Batch,
    /// A bit for each coefficient in zigzag order that may be other than zero, except for DC.
    pub(crate) masks: [u64; Batch::ROOM],
}

/// The positions of coefficients outside of the top left quarter.
const OUTSIDE: u64 = {
    let (mut positions, mut position) = (0, 0);
    while position < 64 {
        let at = ZIGZAG[position];
        if at / 8 >= 4 || at % 8 >= 4 {
            positions |= 1 << position;
        }
        position += 1;
    }
    positions
};

impl BlockGroup {
    /// Blocks of zeros.
    pub(crate) fn new() -> Self {
        Self { batch: Batch::new(), masks: [0; Batch::ROOM] }
    }

    /// Dequantises `blocks` and transforms them into `planes`, the first of them to `target`, each next one beside it.
    pub(crate) fn transform(
        &mut self,
        vectors: Vectors,
        blocks: Range<usize>,
        component: usize,
        target: Target,
        quants: &Quants,
        planes: &mut [u8],
    ) {
        let blocks = blocks.start..blocks.end.min(Batch::ROOM);
        // The vector code asks for one of each block up to the last.
        self.batch.count = blocks.end;
        self.batch.components[..blocks.end].fill(component);
        for (i, own) in self.batch.targets[..blocks.end].iter_mut().enumerate() {
            let offset = target.offset + i.saturating_sub(blocks.start) * target.size;
            *own = Target { offset, ..target };
        }
        if target.size < 8 {
            return self.reduce(blocks, component, quants, planes);
        }
        let (mut corners, mut others) = (0, 0);
        for i in blocks.clone() {
            match self.masks[i] {
                0 => {
                    let quant = &quants.each[component & 3];
                    idct::fill_dc(self.batch.blocks[i][0], quant, self.batch.targets[i], planes);
                }
                mask if mask & OUTSIDE == 0 => corners |= 1 << i,
                _ => others |= 1 << i,
            }
        }
        if corners | others != 0 {
            self.transform_sorted(vectors, (corners, others), quants, planes);
        }
    }

    /// Transforms the blocks that have a bit in either mask; the first are of corners.
    fn transform_sorted(&mut self, vectors: Vectors, sorted: (u32, u32), quants: &Quants, planes: &mut [u8]) {
        let batch = &mut self.batch;
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = vectors.avx512() {
            return idct::avx512::transform_sorted(avx512, sorted, batch, quants, planes);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = vectors.avx2() {
            return idct::avx2::transform_sorted(avx2, sorted, batch, quants, planes);
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(neon) = vectors.neon() {
            return idct::neon::transform_sorted(neon, sorted, batch, quants, planes);
        }
        let _ = vectors;
        let Batch { blocks, components, targets, count } = batch;
        for i in (0..*count).filter(|i| (sorted.0 | sorted.1) >> i & 1 != 0) {
            idct::transform(&blocks[i], &quants.each[components[i] & 3], targets[i], planes);
        }
    }

    /// Transforms to fewer than eight samples a side.
    fn reduce(&mut self, blocks: Range<usize>, component: usize, quants: &Quants, planes: &mut [u8]) {
        let quant = &quants.each[component & 3];
        for i in blocks {
            let (block, target) = (&self.batch.blocks[i], self.batch.targets[i]);
            match target.size {
                1 => idct::reduced::one(block[0], quant, target, planes),
                4 if self.masks[i] == 0 => idct::fill_dc(block[0], quant, target, planes),
                _ => idct::reduced::transform(block, quant, target, planes),
            }
        }
    }
}
