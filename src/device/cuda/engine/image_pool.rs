//! The device's memory for images that many samples show: blocks of few sizes, used again and again, under a hard budget.
//!
//! A sub-batch *places* the images that its samples show: those that the device has are used as they are, the others are
//! given a block and are decoded by this sub-batch. The least recently used go when the budget is spent; an image that a
//! staged row will still show stays. Decoders and kernels need no events besides those of the arenas: the rendering stream
//! has waited for the decoders of every sub-batch before, and what writes into a block waits for the end of the sub-batch
//! that used it last.

use super::arena::{ALIGNMENT, Arena};
use super::image_cache::{ImageCache, SharedImage};
use super::source_bytes::{PITCH, SourceBytes};
use crate::device::cuda::decode::{Request, Target};
use crate::device::cuda::driver::{Context, CudaError, DeviceBuffer};
use crate::error::Cause;
use std::collections::HashMap;
use std::sync::Arc;

/// The smallest block.
const SMALLEST_BLOCK: usize = 16 << 10;

/// Blocks, and what they hold.
pub(super) struct DeviceImagePool {
    context: Context,
    cache: Arc<ImageCache>,
    /// Maximum bytes of all blocks together.
    budget: usize,
    bytes: usize,
    /// By record.
    placed: HashMap<u64, PlacedImage>,
    spare: Vec<Block>,
    /// What the next sub-batch has to decode.
    pending: Vec<NewImage>,
    /// Records that the submission under way has decoded: they count when all of it has been enqueued.
    uncommitted: Vec<u64>,
}

struct PlacedImage {
    image: Arc<SharedImage>,
    block: Block,
    placement: Placement,
}

struct Block {
    memory: DeviceBuffer,
    /// The last sub-batch that writes or reads it; they are counted from 1.
    last: u64,
}

/// Where an image lies in the device's memory: all of it.
#[derive(Clone, Copy)]
pub(super) struct Placement {
    record: u64,
    pub(super) target: Target,
}

/// An image that has been placed and is to be decoded there.
pub(super) struct NewImage {
    image: Arc<SharedImage>,
    pub(super) source: SourceBytes,
    pub(super) placement: Placement,
    /// The last sub-batch that used the memory before.
    after: u64,
}

impl NewImage {
    /// What the device is asked to decode, where it is.
    pub(super) fn request(&self) -> Option<Request<'_>> {
        let file = self.source.file()?;
        Some(Request { bytes: file.bytes.bytes(), header: &file.header, target: self.placement.target })
    }
}

impl DeviceImagePool {
    pub(super) fn new(context: &Context, cache: &Arc<ImageCache>, budget: usize) -> Self {
        Self {
            context: context.clone(),
            cache: Arc::clone(cache),
            budget,
            bytes: 0,
            placed: HashMap::new(),
            spare: Vec::new(),
            pending: Vec::new(),
            uncommitted: Vec::new(),
        }
    }

    /// Where an image lies for the sub-batch `sub_batch`, which has to decode it if it is new there; `None` where there is
    /// no room, so that each sample decodes what it needs.
    pub(super) fn place(
        &mut self,
        image: &Arc<SharedImage>,
        sub_batch: u64,
        arenas: &[Arena; 2],
    ) -> Result<Option<Placement>, CudaError> {
        if let Some(placed) = self.placed.get_mut(&image.record) {
            placed.block.last = sub_batch;
            return Ok(Some(placed.placement));
        }
        let Some(source) = image.staged() else { return Ok(None) };
        let region = image.stored.rect();
        let pitch = (region.width as usize * 3).next_multiple_of(PITCH);
        let mut target = Target { ptr: 0, pitch, region };
        let Some(mut block) = self.block(target.bytes().next_multiple_of(ALIGNMENT), arenas)? else {
            return Ok(None);
        };
        target.ptr = block.memory.ptr();
        let after = std::mem::replace(&mut block.last, sub_batch);
        let placement = Placement { record: image.record, target };
        self.placed.insert(image.record, PlacedImage { image: Arc::clone(image), block, placement });
        self.pending.push(NewImage { image: Arc::clone(image), source, placement, after });
        Ok(Some(placement))
    }

    /// Notes that a sub-batch uses what an earlier attempt has placed.
    pub(super) fn touch(&mut self, placement: &Placement, sub_batch: u64) {
        if let Some(placed) = self.placed.get_mut(&placement.record) {
            placed.block.last = sub_batch;
        }
    }

    /// The last sub-batch that used what the next one will write.
    pub(super) fn writes_after(&self) -> u64 {
        self.pending.iter().map(|image| image.after).max().unwrap_or(0)
    }

    /// What this sub-batch has to decode.
    pub(super) fn take_pending(&mut self) -> Vec<NewImage> {
        self.uncommitted.extend(self.pending.iter().map(|image| image.placement.record));
        std::mem::take(&mut self.pending)
    }

    /// This one cannot be decoded.
    pub(super) fn mark_failed(&mut self, new: &NewImage, cause: Cause) {
        new.image.mark_failed(cause);
        self.uncommitted.retain(|&record| record != new.placement.record);
        self.remove(new.placement.record);
    }

    /// All of a submission has been enqueued, in which pooled images were shown `shown` times: what it has decoded is there
    /// for good.
    pub(super) fn commit(&mut self, shown: usize) {
        let decoded = std::mem::take(&mut self.uncommitted);
        self.cache.count(shown.saturating_sub(decoded.len()) as u64);
        for placed in decoded.iter().filter_map(|record| self.placed.get(record)) {
            placed.image.mark_decoded();
        }
        self.cache.note_bytes(self.bytes);
    }

    /// A submission has failed, and the device has nothing left to do: what was to be decoded is not there.
    pub(super) fn roll_back(&mut self) {
        let pending = std::mem::take(&mut self.pending).into_iter().map(|image| image.placement.record);
        let lost: Vec<u64> = std::mem::take(&mut self.uncommitted).into_iter().chain(pending).collect();
        lost.into_iter().for_each(|record| self.remove(record));
    }

    fn remove(&mut self, record: u64) {
        self.spare.extend(self.placed.remove(&record).map(|placed| placed.block));
    }

    /// A block of at least `bytes`, newly allocated or taken from an image that no staged row shows; `None` where there is
    /// none.
    fn block(&mut self, bytes: usize, arenas: &[Arena; 2]) -> Result<Option<Block>, CudaError> {
        let size = rounded(bytes);
        loop {
            if size > self.budget {
                return Ok(None);
            }
            let fits = |block: &&Block| (size..=2 * size).contains(&block.memory.len());
            let oldest = self.spare.iter().filter(fits).map(|block| block.last).min();
            if let Some(at) =
                oldest.and_then(|last| self.spare.iter().position(|block| fits(&block) && block.last == last))
            {
                return Ok(Some(self.spare.swap_remove(at)));
            }
            if self.bytes + size <= self.budget {
                match DeviceBuffer::new(&self.context, size) {
                    Ok(memory) => {
                        self.bytes += size;
                        return Ok(Some(Block { memory, last: 0 }));
                    }
                    // The trainer may have taken what was free.
                    Err(error) if error.is_out_of_memory() => self.budget = self.bytes,
                    Err(error) => return Err(error),
                }
            } else if let Some(block) = self.spare.pop() {
                // What is spare here is of another size.
                wait_for_end(block.last, arenas)?;
                self.bytes -= block.memory.len();
            } else if !self.evict() {
                return Ok(None);
            }
        }
    }

    /// Removes the least recently used image that no staged row shows; says whether there was any.
    fn evict(&mut self) -> bool {
        let Self { placed, cache, .. } = self;
        let mut oldest: Vec<(u64, u64)> =
            placed.iter().map(|(&record, placed)| (placed.block.last, record)).collect();
        oldest.sort_unstable();
        let unused = |record: &u64| placed.get(record).is_some_and(|placed| cache.forget(&placed.image));
        let Some(record) = oldest.into_iter().map(|(_, record)| record).find(unused) else { return false };
        self.remove(record);
        true
    }
}

/// Waits until the device is done with the sub-batch `sub_batch`, whose memory is to be freed.
fn wait_for_end(sub_batch: u64, arenas: &[Arena; 2]) -> Result<(), CudaError> {
    let later =
        arenas.iter().filter(|arena| arena.sub_batch >= sub_batch).min_by_key(|arena| arena.sub_batch);
    later.map_or(Ok(()), |arena| arena.rendered.synchronize())
}

/// Blocks come in few sizes, two between a power of two and the next, so that most fit the next image as well.
fn rounded(bytes: usize) -> usize {
    let above = bytes.max(SMALLEST_BLOCK).next_power_of_two();
    if bytes <= above / 4 * 3 { above / 4 * 3 } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_blocks_are_few_and_waste_less_than_a_third() {
        let mut sizes: Vec<usize> = (1..4000).map(|kilobytes| rounded(kilobytes << 10)).collect();
        assert!((1..4000).zip(&sizes).all(|(kilobytes, &size)| size >= kilobytes << 10));
        assert!((16..4000).zip(&sizes[15..]).all(|(kilobytes, &size)| size <= (kilobytes << 10) * 3 / 2));
        sizes.dedup();
        assert!(sizes.len() < 20, "{sizes:?}");
        assert!(sizes.iter().all(|size| size.is_multiple_of(ALIGNMENT)));
    }
}
