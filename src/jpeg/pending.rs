//! Blocks whose coefficients are decoded and whose transform waits for more, to be done several at a time.

use super::idct::{self, Target};
use super::tables::Quant;
use crate::simd::{Avx2, Avx512};

/// Blocks that wait at most. Enough that a vector load seldom meets the two-byte stores of a block just decoded, which
/// it would have to wait for; few enough to stay in the first cache.
pub(super) const BATCH: usize = 24;

/// What a block is decoded into: its coefficients row by row, and after them the room for the next block. Decoding
/// writes there without looking (see `sequential::PLACE`), but only where the next block's DC will go. It is as long as
/// there are bytes, so that any byte may be an index.
pub(super) type Slot = [i16; 64 * SLOT];

/// Blocks that a slot is long.
pub(super) const SLOT: usize = 4;

/// Coefficients of all slots.
#[repr(C, align(64))]
struct Coefficients([i16; 64 * (BATCH - 1 + SLOT)]);

/// The waiting blocks, and the one being decoded.
pub(super) struct Pending {
    coefficients: Box<Coefficients>,
    components: [usize; BATCH],
    targets: [Target; BATCH],
    waiting: usize,
    avx2: Option<Avx2>,
    avx512: Option<Avx512>,
}

impl Pending {
    /// Nothing waits; transforms run on the vector units that are there.
    pub(super) fn new(avx2: Option<Avx2>, avx512: Option<Avx512>) -> Self {
        Self {
            coefficients: Box::new(Coefficients([0; 64 * (BATCH - 1 + SLOT)])),
            components: [0; BATCH],
            targets: [Target::default(); BATCH],
            waiting: 0,
            avx2,
            avx512,
        }
    }

    /// The vector unit, if it may be used.
    pub(super) fn avx2(&self) -> Option<Avx2> {
        self.avx2
    }

    /// Forgets what a failed decode left behind.
    pub(super) fn clear(&mut self) {
        self.coefficients.0.fill(0);
        self.waiting = 0;
    }

    /// The block to decode into: it is zero except perhaps for DC, which decoding overwrites.
    #[inline(always)]
    pub(super) fn slot(&mut self) -> &mut Slot {
        let at = (self.waiting % BATCH) * 64;
        // As many as a slot has, so this cannot fail.
        let (slots, _) = self.coefficients.0[at..at + 64 * SLOT].as_chunks_mut();
        &mut slots[0]
    }

    /// How many more blocks may wait.
    #[inline(always)]
    pub(super) fn room(&self) -> usize {
        BATCH - self.waiting.min(BATCH)
    }

    /// The blocks to decode into, [`Pending::room`] and the rest of a [`Slot`]: they are zero except perhaps for DC of
    /// the first.
    #[inline(always)]
    pub(super) fn blocks(&mut self) -> &mut [[i16; 64]] {
        let (blocks, _) = self.coefficients.0.as_chunks_mut();
        &mut blocks[self.waiting.min(BATCH)..]
    }

    /// Takes the next `count` of [`Pending::blocks`] as decoded, to be transformed to eight samples a side with others.
    /// There must be room for them. The caller fills in the component and the target of each.
    #[inline(always)]
    pub(super) fn take(&mut self, count: usize) -> (&mut [usize], &mut [Target]) {
        let from = self.waiting.min(BATCH);
        self.waiting = (from + count).min(BATCH);
        (&mut self.components[from..self.waiting], &mut self.targets[from..self.waiting])
    }

    /// Takes the block of [`Pending::slot`] as decoded. It is transformed now or with others.
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
            let dc = self.slot()[0];
            idct::fill_dc(dc, &quants[component & 3], target, planes);
            return;
        }
        if target.size < 8 {
            self.reduce(component, target, quants, planes);
            return;
        }
        let (components, targets) = self.take(1);
        components.fill(component);
        targets.fill(target);
        if self.waiting == BATCH {
            self.flush(quants, planes);
        }
    }

    /// Transforms the block of [`Pending::slot`] to fewer samples, now.
    fn reduce(&mut self, component: usize, target: Target, quants: &[Quant; 4], planes: &mut [u8]) {
        let quant = &quants[component & 3];
        // A slot is longer than a block, so there always is one.
        let Some(block) = self.slot().first_chunk_mut::<64>() else { return };
        match target.size {
            1 => idct::fill_dc(block[0], quant, target, planes),
            _ => idct::reduced::transform(block, quant, target, planes),
        }
        block.fill(0);
    }

    /// Transforms what waits.
    #[inline(never)]
    pub(super) fn flush(&mut self, quants: &[Quant; 4], planes: &mut [u8]) {
        let (blocks, _) = self.coefficients.0.as_chunks_mut::<64>();
        let count = std::mem::take(&mut self.waiting).min(BATCH);
        let (blocks, components) = (&mut blocks[..count], &self.components[..count]);
        let targets = &self.targets[..count];
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512 {
            return idct::avx512::transform(avx512, blocks, components, quants, targets, planes);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.avx2 {
            return idct::avx2::transform(avx2, blocks, components, quants, targets, planes);
        }
        let _ = self.avx512;
        for ((block, component), target) in blocks.iter_mut().zip(components).zip(targets) {
            idct::transform(block, &quants[component & 3], *target, planes);
            block.fill(0);
        }
    }
}
