//! The queue of decoded blocks, which are transformed several at a time.

use super::batch::{BATCH, Batch, SLOT, Slot};
use super::idct;
use super::quant::Quants;
use super::target::Target;
use crate::simd::Vectors;

/// The queued blocks, and the one being decoded.
pub(crate) struct BlockQueue {
    batch: Box<Batch>,
    vectors: Vectors,
}

impl BlockQueue {
    /// An empty queue; transforms run on the given vector instructions.
    pub(crate) fn new(vectors: Vectors) -> Self {
        Self { batch: Box::new(Batch::new()), vectors }
    }

    /// The instructions that may be used.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn vectors(&self) -> Vectors {
        self.vectors
    }

    /// Drops the blocks that a failed decode has left.
    pub(crate) fn clear(&mut self) {
        self.batch.blocks.as_flattened_mut().fill(0);
        self.batch.count = 0;
    }

    /// The slot to decode the next block into: it is zero except perhaps for DC, which decoding overwrites.
    #[inline(always)]
    pub(crate) fn slot(&mut self) -> &mut Slot {
        let at = self.batch.count % BATCH;
        // The range is as long as a slot, so this cannot fail.
        let (slots, _) = self.batch.blocks[at..at + SLOT].as_flattened_mut().as_chunks_mut();
        &mut slots[0]
    }

    /// Blocks that still fit in the queue.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        BATCH - self.batch.count.min(BATCH)
    }

    /// The blocks to decode into: at least [`BlockQueue::room`] and the rest of a [`Slot`]. They are zero except perhaps
    /// for DC of the first.
    #[inline(always)]
    pub(crate) fn blocks(&mut self) -> &mut [[i16; 64]] {
        &mut self.batch.blocks[self.batch.count.min(BATCH)..]
    }

    /// Queues the next `count` of [`BlockQueue::blocks`], which are decoded now, to be transformed to eight samples a
    /// side. There must be room for them. The caller fills in the component and the target of each.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: usize) -> (&mut [usize], &mut [Target]) {
        let Batch { components, targets, count: waiting, .. } = &mut *self.batch;
        let from = (*waiting).min(BATCH);
        *waiting = (from + count).min(BATCH);
        (&mut components[from..*waiting], &mut targets[from..*waiting])
    }

    /// Takes the decoded block of [`BlockQueue::slot`]: it is transformed at once if that is cheap, or queued.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        has_ac: bool,
        component: usize,
        target: Target,
        quants: &Quants,
        planes: &mut [u8],
    ) {
        if !has_ac && target.size >= 4 {
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

    /// Transforms the block of [`BlockQueue::slot`] to fewer samples, at once.
    fn reduce(&mut self, component: usize, target: Target, quants: &Quants, planes: &mut [u8]) {
        let quant = &quants.each[component & 3];
        // A slot is longer than a block, so there always is one.
        let Some(block) = self.slot().first_chunk_mut::<64>() else { return };
        match target.size {
            1 => idct::reduced::one(block[0], quant, target, planes),
            _ => idct::reduced::transform(block, quant, target, planes),
        }
        block.fill(0);
    }

    /// Transforms the queued blocks.
    #[inline(never)]
    pub(crate) fn flush(&mut self, quants: &Quants, planes: &mut [u8]) {
        let batch = &mut *self.batch;
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.vectors.avx512() {
            return idct::avx512::transform(avx512, batch, quants, planes);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.vectors.avx2() {
            return idct::avx2::transform(avx2, batch, quants, planes);
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(neon) = self.vectors.neon() {
            return idct::neon::transform(neon, batch, quants, planes);
        }
        let blocks = batch.blocks.iter_mut().take(std::mem::take(&mut batch.count));
        for ((block, component), target) in blocks.zip(&batch.components).zip(&batch.targets) {
            idct::transform(block, &quants.each[component & 3], *target, planes);
            block.fill(0);
        }
    }
}
