//! Blocks whose coefficients are decoded and whose transform waits for a second one, to be done two at a time.

use super::idct::{self, Target};
use super::tables::Quant;
use crate::simd::Avx2;

/// Coefficients row by row in the first half. The second half is never read: it swallows what decoding writes
/// without looking (see `sequential::PLACE`).
#[repr(C, align(64))]
pub(super) struct Block(pub(super) [i16; 128]);

impl Block {
    /// All zero.
    pub(super) const ZERO: Block = Block([0; 128]);

    /// The coefficients.
    #[inline(always)]
    pub(super) fn coefficients(&self) -> &[i16; 64] {
        // The array is longer than 64, so this cannot fail and compiles to nothing.
        self.0.first_chunk().unwrap_or(&[0; 64])
    }
}

/// At most one waiting block, and the one being decoded.
pub(super) struct Pending {
    blocks: [Block; 2],
    components: [usize; 2],
    targets: [Target; 2],
    waiting: usize,
    avx2: Option<Avx2>,
}

impl Pending {
    /// Nothing waits; transforms run on the vector unit if `avx2` is there.
    pub(super) fn new(avx2: Option<Avx2>) -> Self {
        Self {
            blocks: [Block::ZERO, Block::ZERO],
            components: [0; 2],
            targets: [Target::default(); 2],
            waiting: 0,
            avx2,
        }
    }

    /// The vector unit, if it may be used.
    pub(super) fn avx2(&self) -> Option<Avx2> {
        self.avx2
    }

    /// Forgets what a failed decode left behind.
    pub(super) fn clear(&mut self) {
        self.blocks = [Block::ZERO, Block::ZERO];
        self.waiting = 0;
    }

    /// The block to decode into: it is zero except perhaps for DC, which decoding overwrites.
    #[inline(always)]
    pub(super) fn block(&mut self) -> &mut Block {
        &mut self.blocks[self.waiting & 1]
    }

    /// Takes the block of [`Pending::block`] as decoded. It is transformed now or with the next one.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        has_ac: bool,
        component: usize,
        target: Target,
        quants: &[Quant; 4],
        planes: &mut [u8],
    ) {
        if !has_ac {
            let dc = self.block().0[0];
            idct::fill_dc(dc, &quants[component & 3], target, planes);
            return;
        }
        if target.size < 8 {
            self.reduce(component, target, quants, planes);
            return;
        }
        let slot = self.waiting & 1;
        self.components[slot] = component;
        self.targets[slot] = target;
        self.waiting += 1;
        if self.waiting == 2 {
            self.flush(quants, planes);
        }
    }

    /// Transforms the block of [`Pending::block`] to fewer samples, now.
    fn reduce(&mut self, component: usize, target: Target, quants: &[Quant; 4], planes: &mut [u8]) {
        let quant = &quants[component & 3];
        let block = self.block();
        match target.size {
            1 => idct::fill_dc(block.0[0], quant, target, planes),
            _ => idct::reduced::transform(block.coefficients(), quant, target, planes),
        }
        block.0[..64].fill(0);
    }

    /// Transforms what waits.
    #[inline]
    pub(super) fn flush(&mut self, quants: &[Quant; 4], planes: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.avx2.filter(|_| self.waiting == 2) {
            let [first, second] = &self.blocks;
            let quant = self.components.map(|component| &quants[component & 3]);
            let coefficients = [first.coefficients(), second.coefficients()];
            idct::avx2::transform_two(avx2, coefficients, quant, self.targets, planes);
            self.blocks.iter_mut().for_each(|block| block.0[..64].fill(0));
            self.waiting = 0;
        }
        for slot in 0..self.waiting {
            let quant = &quants[self.components[slot] & 3];
            idct::transform(self.blocks[slot].coefficients(), quant, self.targets[slot], planes);
            self.blocks[slot].0[..64].fill(0);
        }
        self.waiting = 0;
    }
}
