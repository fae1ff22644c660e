//! The device's memory for images that many samples show: one reservation, made at the start and never freed before the
//! end, in which images take the place of others.
//!
//! A sub-batch *places* the images that its samples show: those that the device has are used as they are, the others are
//! given a block and are decoded by this sub-batch. The least recently used go when the budget is spent; an image that a
//! staged row will still show stays. Decoders and kernels need no events besides those of the arenas: the rendering stream
//! has waited for the decoders of every sub-batch before, and what writes into a block waits for the end of the sub-batch
//! that used it last.

use super::arena::ALIGNMENT;
use super::free_ranges::{Block, FreeRanges};
use super::image_cache::{ImageCache, SharedImage};
use super::source_bytes::{PITCH, SourceBytes};
use super::staging::InFlight;
use crate::device::cuda::decode::{Request, Target};
use crate::device::cuda::driver::{Context, CudaError, DeviceBuffer, DevicePtr, GRANULARITY, Purpose};
use crate::error::Cause;
use std::collections::HashMap;
use std::sync::Arc;

/// The reservation, and what it holds.
pub(super) struct DeviceImagePool {
    cache: Arc<ImageCache>,
    /// `None` where no images are shared, or the device had no room for any.
    memory: Option<DeviceBuffer>,
    free: FreeRanges,
    /// Bytes of the images that are there.
    bytes: usize,
    /// By record.
    placed: HashMap<u64, PlacedImage>,
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

/// Where an image lies in the device's memory: all of it.
#[derive(Clone, Copy)]
pub(super) struct Placement {
    record: u64,
    pub(super) target: Target,
}

/// An image that has been placed and is to be decoded there.
pub(super) struct NewImage {
    image: Arc<SharedImage>,
    /// Its index in the source, or that of another sample that shows it.
    pub(super) index: u64,
    pub(super) source: SourceBytes,
    pub(super) placement: Placement,
    /// The last sub-batch that used the memory before.
    after: u64,
}

impl NewImage {
    /// What the device is asked to decode, where it is.
    pub(super) fn request(&self, in_flight: &mut InFlight) -> Option<Request<'_>> {
        let request = self.source.file()?.request(self.placement.target, in_flight);
        Some(Request { shared: true, ..request })
    }
}

impl DeviceImagePool {
    /// Reserves `budget` bytes: whole steps of the driver's, but at least one, of which only `budget` is used then.
    ///
    /// # Errors
    /// The device has failed. That it has no room for the budget is no error: half of it is tried, and so on.
    pub(super) fn new(context: &Context, cache: &Arc<ImageCache>, budget: usize) -> Result<Self, CudaError> {
        let mut usable = match budget / GRANULARITY {
            0 => budget / ALIGNMENT * ALIGNMENT,
            steps => steps * GRANULARITY,
        };
        let mut memory = None;
        while usable > 0 && memory.is_none() {
            match DeviceBuffer::new(context, usable, Purpose::SharedImages) {
                Ok(reserved) => memory = Some(reserved),
                // The trainer may have taken the rest.
                Err(error) if error.is_out_of_memory() => usable = usable / 2 / GRANULARITY * GRANULARITY,
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            cache: Arc::clone(cache),
            free: FreeRanges::new(memory.as_ref().map_or(0, DeviceBuffer::len)),
            memory,
            bytes: 0,
            placed: HashMap::new(),
            pending: Vec::new(),
            uncommitted: Vec::new(),
        })
    }

    /// Where an image lies for the sub-batch `sub_batch`, which has to decode it if it is new there; `None` where there is
    /// no room, so that each sample decodes what it needs.
    pub(super) fn place(
        &mut self,
        image: &Arc<SharedImage>,
        index: u64,
        sub_batch: u64,
    ) -> Option<Placement> {
        if let Some(placed) = self.placed.get_mut(&image.record) {
            placed.block.last = sub_batch;
            return Some(placed.placement);
        }
        let source = image.staged()?;
        let region = image.stored.rect();
        let pitch = (region.width as usize * 3).next_multiple_of(PITCH);
        let mut target = Target { ptr: 0, pitch, region };
        let mut block = self.block(target.bytes().next_multiple_of(ALIGNMENT).max(ALIGNMENT))?;
        target.ptr = self.memory.as_ref()?.ptr() + block.start as DevicePtr;
        self.bytes += block.bytes;
        let after = std::mem::replace(&mut block.last, sub_batch);
        let placement = Placement { record: image.record, target };
        self.placed.insert(image.record, PlacedImage { image: Arc::clone(image), block, placement });
        self.pending.push(NewImage { image: Arc::clone(image), index, source, placement, after });
        Some(placement)
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
        if let Some(placed) = self.placed.remove(&record) {
            self.bytes -= placed.block.bytes;
            self.free.give_back(placed.block);
        }
    }

    /// A block of `bytes`: a free one, or made free by removing the least recently used images that no staged row shows;
    /// `None` where those do not suffice.
    fn block(&mut self, bytes: usize) -> Option<Block> {
        if self.memory.as_ref().is_none_or(|memory| bytes > memory.len()) {
            return None;
        }
        if let Some(block) = self.free.take(bytes) {
            return Some(block);
        }
        let mut oldest: Vec<(u64, u64)> =
            self.placed.iter().map(|(&record, placed)| (placed.block.last, record)).collect();
        oldest.sort_unstable();
        oldest.into_iter().find_map(|(_, record)| {
            let Self { placed, cache, .. } = self;
            let unused = placed.get(&record).is_some_and(|placed| cache.forget(&placed.image));
            if !unused {
                return None;
            }
            self.remove(record);
            self.free.take(bytes)
        })
    }
}
