//! Page-locked memory of one batch for what is on its way to the device: compressed files and tables, and apart from them, so
//! that they lie in a row, the pixels that the CPU has decoded and the bits that the device's own decoder reads. Bytes return
//! when their last holder drops them.

#![expect(unsafe_code, reason = "pinned memory is shared with the device's copy engine")]

mod in_flight;

pub(super) use in_flight::{InFlight, Pending};

use super::free_ranges::{self, FreeRanges};
use crate::device::cuda::driver::{Context, PinnedBuffer};
use crate::device::cuda::host_bytes::HostBytes;
use crate::error::Cause;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Blocks are at least this large, so that a batch takes few of them.
const SMALLEST_BLOCK: usize = 4 << 20;
/// Buffers start at a multiple of this in their block. It is that of images in an arena: images that adjoin on the host
/// can adjoin there.
pub(super) const ALIGNMENT: usize = super::arena::ALIGNMENT;

/// Maximum bytes of ordinary memory that a batch may take where its budget of pinned memory is spent.
const MAX_SPILLED: usize = 2 << 30;

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Compressed files and tables.
    Files,
    /// Bits of files that the device's own decoder reads.
    Words,
    /// Pixels that the CPU decodes.
    Pixels,
}

/// Blocks of pinned memory that never move, and what is handed out of them; all threads may ask at once.
pub(super) struct Staging {
    context: Context,
    budget: usize,
    areas: Mutex<Areas>,
    /// Bytes handed out in ordinary memory.
    spilled: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Areas {
    files: Area,
    words: Area,
    pixels: Area,
    /// Whether this device could not give more pinned memory once.
    refused: bool,
}

/// The blocks for one use.
#[derive(Default)]
struct Area {
    blocks: Vec<Arc<Block>>,
    /// The least size of the next block: what the blocks of the batches before had together.
    next: usize,
}

struct Block {
    memory: PinnedBuffer,
    ranges: Mutex<Ranges>,
}

struct Ranges {
    free: FreeRanges,
    /// How many buffers there are.
    held: usize,
}

/// Bytes that stay where they are, and return when it is dropped. What the device is to read is lent to it by [`InFlight`], which
/// keeps the buffer until then.
pub(super) struct StagingBuffer {
    len: usize,
    memory: Memory,
}

enum Memory {
    Pinned {
        start: NonNull<u8>,
        /// In its block, at least as long as the buffer.
        range: free_ranges::Block,
        block: Arc<Block>,
    },
    /// In ordinary memory, as the budget is spent.
    Spilled { bytes: Vec<u8>, spilled: Arc<AtomicUsize> },
}

// SAFETY: a range of pinned memory is handed out once until its buffer is dropped; so a `StagingBuffer` owns its bytes as a
// Vec does.
unsafe impl Send for StagingBuffer {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for StagingBuffer {}

impl StagingBuffer {
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.memory {
            // SAFETY: `start` is the first of `len` initialised bytes of a block; see `Send` for what may write there.
            Memory::Pinned { start, .. } => unsafe { std::slice::from_raw_parts(start.as_ptr(), self.len) },
            Memory::Spilled { bytes, .. } => bytes,
        }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            // SAFETY: as in `bytes`, and `&mut self` makes this the only reference.
            Memory::Pinned { start, .. } => unsafe {
                std::slice::from_raw_parts_mut(start.as_ptr(), self.len)
            },
            Memory::Spilled { bytes, .. } => bytes,
        }
    }

    /// Where the first byte lies, to compare with others.
    pub(super) fn address(&self) -> usize {
        match &self.memory {
            Memory::Pinned { start, .. } => start.as_ptr().addr(),
            Memory::Spilled { bytes, .. } => bytes.as_ptr().addr(),
        }
    }

    /// Its bytes, and which of others lie in a row with them; for [`InFlight::lend`] alone.
    fn host_bytes(&self) -> HostBytes<'_> {
        match &self.memory {
            Memory::Pinned { start, range, block } => {
                HostBytes::of_block(start.as_ptr(), self.len, range.bytes, block.memory.as_ptr().addr())
            }
            Memory::Spilled { bytes, .. } => bytes.as_slice().into(),
        }
    }

    /// Ordinary memory that no batch counts.
    #[cfg(test)]
    pub(super) fn ordinary(len: usize) -> Self {
        let memory = Memory::Spilled { bytes: vec![0; len], spilled: Arc::new(AtomicUsize::new(len)) };
        Self { len, memory }
    }
}

impl Drop for StagingBuffer {
    fn drop(&mut self) {
        match &mut self.memory {
            Memory::Pinned { range, block, .. } => block.give_back(*range),
            Memory::Spilled { bytes, spilled } => drop(spilled.fetch_sub(bytes.len(), Relaxed)),
        }
    }
}

impl Staging {
    pub(super) fn new(context: &Context, budget: usize) -> Self {
        let (areas, spilled) = Default::default();
        Self { context: context.clone(), budget, areas, spilled }
    }

    /// Room for `len` bytes, whatever they hold.
    ///
    /// # Errors
    /// Those of [`Staging::check`].
    pub(super) fn reserve(&self, usage: Use, len: usize) -> Result<StagingBuffer, Cause> {
        let buffer = self.take(usage, len);
        self.check(&buffer)?;
        Ok(buffer)
    }

    /// The same, for bytes that are only looked at until they pass [`Staging::check`].
    pub(super) fn take(&self, usage: Use, len: usize) -> StagingBuffer {
        let memory = self.pinned(usage, len).unwrap_or_else(|| {
            self.spilled.fetch_add(len, Relaxed);
            Memory::Spilled { bytes: vec![0; len], spilled: Arc::clone(&self.spilled) }
        });
        StagingBuffer { len, memory }
    }

    /// Whether a buffer may stay until its batch is done.
    ///
    /// # Errors
    /// All of one batch together takes more than [`MAX_SPILLED`] beyond the budget.
    pub(super) fn check(&self, buffer: &StagingBuffer) -> Result<(), Cause> {
        let is_spilled = matches!(buffer.memory, Memory::Spilled { .. });
        if is_spilled && self.spilled.load(Relaxed) > MAX_SPILLED {
            return Err(format!(
                "its batch would take more than {MAX_SPILLED} bytes of the host's memory on its way to the device: use \
                 a smaller batch_size"
            )
            .into());
        }
        Ok(())
    }

    /// Lets the pixels of the next batch lie in a row, and its bits, where those of the last one took several blocks and the
    /// budget has room for one instead of them. Nothing is freed, since that would wait for the whole device: files get the blocks. To
    /// be called between two batches.
    pub(super) fn consolidate(&self) {
        let mut areas = self.areas();
        let held = areas.bytes();
        let Areas { files, words, pixels, refused } = &mut *areas;
        for area in [words, pixels] {
            let several = area.blocks.len() > 1 && area.blocks.iter().all(|block| block.is_free());
            let size = area.bytes().next_power_of_two();
            if several && !*refused && held + size <= self.budget {
                area.next = size;
                files.blocks.append(&mut area.blocks);
                return;
            }
        }
    }

    fn pinned(&self, usage: Use, len: usize) -> Option<Memory> {
        let taken = len.max(1).checked_next_multiple_of(ALIGNMENT)?;
        let mut areas = self.areas();
        let held = areas.bytes();
        let Areas { files, words, pixels, refused } = &mut *areas;
        let area = match usage {
            Use::Files => files,
            Use::Words => words,
            Use::Pixels => pixels,
        };
        if let Some(memory) = area.blocks.iter().find_map(|block| block.take(taken)) {
            return Some(memory);
        }
        let fits = |size: &usize| held.checked_add(*size).is_some_and(|held| held <= self.budget);
        let size = area.next_blocks(taken)?.into_iter().find(fits).filter(|_| !*refused)?;
        let Ok(memory) = PinnedBuffer::new(&self.context, size) else {
            *refused = true;
            return None;
        };
        let block =
            Arc::new(Block { memory, ranges: Mutex::new(Ranges { free: FreeRanges::new(size), held: 0 }) });
        area.blocks.push(Arc::clone(&block));
        block.take(taken)
    }

    /// A panic under the lock leaves at most a block unused.
    fn areas(&self) -> MutexGuard<'_, Areas> {
        self.areas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Areas {
    fn bytes(&self) -> usize {
        self.files.bytes() + self.words.bytes() + self.pixels.bytes()
    }
}

impl Area {
    fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.memory.len()).sum()
    }

    /// The sizes that another block may have, which is to hold `len` bytes: as much as there is, so that few are made
    /// before the largest batch fits, or else what is needed.
    fn next_blocks(&self, len: usize) -> Option<[usize; 2]> {
        let needed = len.max(SMALLEST_BLOCK);
        let wanted = needed.max(self.bytes()).max(self.next);
        Some([wanted.checked_next_power_of_two()?, needed.checked_next_power_of_two()?])
    }
}

impl Block {
    fn take(self: &Arc<Self>, len: usize) -> Option<Memory> {
        let range = self.ranges().take(len)?;
        // SAFETY: the range lies in the block.
        let start = NonNull::new(unsafe { self.memory.as_mut_ptr().add(range.start) })?;
        Some(Memory::Pinned { start, range, block: Arc::clone(self) })
    }

    fn give_back(&self, range: free_ranges::Block) {
        let mut ranges = self.ranges();
        ranges.free.give_back(range);
        ranges.held -= 1;
    }

    fn is_free(&self) -> bool {
        self.ranges().held == 0
    }

    /// A panic under the lock leaves a range out of use.
    fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ranges {
    fn take(&mut self, len: usize) -> Option<free_ranges::Block> {
        let range = self.free.take(len)?;
        self.held += 1;
        Some(range)
    }
}
