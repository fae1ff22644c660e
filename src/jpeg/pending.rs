//! Blocks whose coefficients are decoded and whose transform waits for more, to be done several at a time.

use super::idct::{self, Target};
use super::tables::Quants;
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

/// Blocks that are transformed together: the first of each list, `count` of them.
#[repr(C, align(64))]
pub(super) struct Batch {
    pub(super) blocks: [[i16; 64]; Batch::ROOM],
    pub(super) components: [usize; Batch::ROOM],
    pub(super) targets: [Target; Batch::ROOM],
    pub(super) count: usize,
}

impl Batch {
    /// Blocks, and room behind them for a [`Slot`]; as many as a `u32` has bits, of which the transforms keep one for each.
    pub(super) const ROOM: usize = u32::BITS as usize;

    /// None, and all coefficients zero.
    pub(super) fn new() -> Self {
        const { assert!(BATCH - 1 + SLOT <= Self::ROOM) };
        let targets = [Target::default(); Self::ROOM];
        Self { blocks: [[0; 64]; Self::ROOM], components: [0; Self::ROOM], targets, count: 0 }
    }
}

/// The waiting blocks, and the one being decoded.
pub(super) struct Pending {
    batch: Box<Batch>,
    avx2: Option<Avx2>,
    avx512: Option<Avx512>,
}

impl Pending {
    /// Nothing waits; transforms run on the vector units that are there.
    pub(super) fn new(avx2: Option<Avx2>, avx512: Option<Avx512>) -> Self {
        Self { batch: Box::new(Batch::new()), avx2, avx512 }
    }

    /// The vector unit, if it may be used.
    pub(super) fn avx2(&self) -> Option<Avx2> {
        self.avx2
    }

    /// Forgets what a failed decode left behind.
    pub(super) fn clear(&mut self) {
        self.batch.blocks.as_flattened_mut().fill(0);
        self.batch.count = 0;
    }

    /// The block to decode into: it is zero except perhaps for DC, which decoding overwrites.
    #[inline(always)]
    pub(super) fn slot(&mut self) -> &mut Slot {
        let at = self.batch.count % BATCH;
        // As many as a slot has, so this cannot fail.
        let (slots, _) = self.batch.blocks[at..at + SLOT].as_flattened_mut().as_chunks_mut();
        &mut slots[0]
    }

    /// How many more blocks may wait.
    #[inline(always)]
    pub(super) fn room(&self) -> usize {
        BATCH - self.batch.count.min(BATCH)
    }

    /// The blocks to decode into, at least [`Pending::room`] and the rest of a [`Slot`]: they are zero except perhaps for
    /// DC of the first.
    #[inline(always)]
    pub(super) fn blocks(&mut self) -> &mut [[i16; 64]] {
        &mut self.batch.blocks[self.batch.count.min(BATCH)..]
    }

    /// Takes the next `count` of [`Pending::blocks`] as decoded, to be transformed to eight samples a side with others.
    /// There must be room for them. The caller fills in the component and the target of each.
    #[inline(always)]
    pub(super) fn take(&mut self, count: usize) -> (&mut [usize], &mut [Target]) {
        let Batch { components, targets, count: waiting, .. } = &mut *self.batch;
        let from = (*waiting).min(BATCH);
        *waiting = (from + count).min(BATCH);
        (&mut components[from..*waiting], &mut targets[from..*waiting])
    }

    /// Takes the block of [`Pending::slot`] as decoded. It is transformed now or with others.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        has_ac: bool,
        component: usize,
        target: Target,
        quants: &Quants,
        planes: &mut [u8],
    ) {
        if !has_ac {
            let dc = self.slot()[0];
            idct::fill_dc(dc, &quants.each[component & 3], target, planes);
            return;
        }
        if target.size < 8 {
            self.reduce(component, target, quants, planes);
            return;
        }
        let (components, targets) = self.take(1);
        components.fill(component);
        targets.fill(target);
        if self.batch.count == BATCH {
            self.flush(quants, planes);
        }
    }

    /// Transforms the block of [`Pending::slot`] to fewer samples, now.
    fn reduce(&mut self, component: usize, target: Target, quants: &Quants, planes: &mut [u8]) {
        let quant = &quants.each[component & 3];
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
    pub(super) fn flush(&mut self, quants: &Quants, planes: &mut [u8]) {
        let batch = &mut *self.batch;
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.avx512 {
            return idct::avx512::transform(avx512, batch, quants, planes);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.avx2 {
            return idct::avx2::transform(avx2, batch, quants, planes);
        }
        let _ = self.avx512;
        let blocks = batch.blocks.iter_mut().take(std::mem::take(&mut batch.count));
        for ((block, component), target) in blocks.zip(&batch.components).zip(&batch.targets) {
            idct::transform(block, &quants.each[component & 3], *target, planes);
            block.fill(0);
        }
    }
}
