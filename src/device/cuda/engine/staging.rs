//! Pinned memory for one batch's compressed files, CPU-decoded pixels and tables: filled front to back, emptied at once.
//! A block with bytes that another batch shows as well rests until that is done with them.

#![expect(unsafe_code, reason = "pinned memory is shared with the device's copy engine")]

use crate::device::cuda::driver::{Context, PinnedBuffer};
use crate::error::Cause;
use std::ptr::NonNull;
use std::sync::Arc;

/// Blocks are at least this large, so that a batch takes few of them.
const SMALLEST_BLOCK: usize = 4 << 20;
/// Buffers start at a multiple of this.
const ALIGNMENT: usize = 64;

/// Maximum bytes of ordinary memory that a batch may take where its budget of pinned memory is spent.
const MAX_SPILLED: usize = 2 << 30;

/// A bump allocator over pinned blocks that never move.
pub(super) struct Staging {
    context: Context,
    blocks: Vec<Block>,
    bytes: usize,
    budget: usize,
    /// Bytes handed out in ordinary memory since it was emptied.
    spilled: usize,
    /// Whether this device could not give more pinned memory once.
    refused: bool,
}

struct Block {
    /// Shared with the buffers in it.
    memory: Arc<PinnedBuffer>,
    used: usize,
}

/// Bytes that stay where they are.
pub(super) enum StagingBuffer {
    /// In a block of the staging.
    Pinned {
        start: NonNull<u8>,
        len: usize,
        /// Keeps the bytes alive and from being handed out again.
        _block: Arc<PinnedBuffer>,
    },
    /// In ordinary memory, as the budget is spent.
    Spilled(Vec<u8>),
}

// SAFETY: pinned memory is handed out once until no buffer of its block is left; so a `StagingBuffer` owns its bytes as a Vec
// does.
unsafe impl Send for StagingBuffer {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for StagingBuffer {}

impl StagingBuffer {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            // SAFETY: `start` is the first of `len` initialised bytes of a block; see `Send` for what may write there.
            StagingBuffer::Pinned { start, len, .. } => unsafe {
                std::slice::from_raw_parts(start.as_ptr(), *len)
            },
            StagingBuffer::Spilled(bytes) => bytes,
        }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            // SAFETY: as in `bytes`, and `&mut self` makes this the only reference.
            StagingBuffer::Pinned { start, len, .. } => unsafe {
                std::slice::from_raw_parts_mut(start.as_ptr(), *len)
            },
            StagingBuffer::Spilled(bytes) => bytes,
        }
    }
}

impl Staging {
    pub(super) fn new(context: &Context, budget: usize) -> Self {
        Self { context: context.clone(), blocks: Vec::new(), bytes: 0, budget, spilled: 0, refused: false }
    }

    /// Room for `len` bytes, whatever they hold.
    ///
    /// # Errors
    /// All of one batch together would be more than [`MAX_SPILLED`] beyond the budget.
    pub(super) fn reserve(&mut self, len: usize) -> Result<StagingBuffer, Cause> {
        if let Some((start, block)) = self.pinned(len) {
            return Ok(StagingBuffer::Pinned { start, len, _block: block });
        }
        if self.spilled.saturating_add(len) > MAX_SPILLED {
            return Err(format!(
                "its batch would take more than {MAX_SPILLED} bytes of the host's memory on its way to the device: use \
                 a smaller batch_size; where the CPU decodes for lack of nvJPEG, install that"
            )
            .into());
        }
        self.spilled += len;
        Ok(StagingBuffer::Spilled(vec![0; len]))
    }

    /// Empties it. The caller has seen the device finish with the buffers that it dropped. Blocks with buffers that are held
    /// elsewhere stay as they are until the next time.
    pub(super) fn clear(&mut self) {
        for block in &mut self.blocks {
            let used = if Arc::get_mut(&mut block.memory).is_some() { 0 } else { block.memory.len() };
            block.used = used;
        }
        self.spilled = 0;
    }

    fn pinned(&mut self, len: usize) -> Option<(NonNull<u8>, Arc<PinnedBuffer>)> {
        let fits = |block: &Block| block.memory.len() - block.used >= len;
        let at = match self.blocks.iter().position(fits) {
            Some(at) => at,
            None => self.grow(len)?,
        };
        let block = &mut self.blocks[at];
        let start = block.used;
        block.used = (start + len).next_multiple_of(ALIGNMENT).min(block.memory.len());
        // SAFETY: start + len <= the block's length.
        let start = NonNull::new(unsafe { block.memory.as_mut_ptr().add(start) })?;
        Some((start, Arc::clone(&block.memory)))
    }

    fn grow(&mut self, len: usize) -> Option<usize> {
        // Twice what there is, so that few blocks are made before the largest batch fits.
        let size = len.max(self.bytes).max(SMALLEST_BLOCK).checked_next_power_of_two()?;
        if self.refused || self.bytes.checked_add(size)? > self.budget {
            return None;
        }
        let Ok(memory) = PinnedBuffer::new(&self.context, size) else {
            self.refused = true;
            return None;
        };
        self.bytes += size;
        self.blocks.push(Block { memory: Arc::new(memory), used: 0 });
        Some(self.blocks.len() - 1)
    }
}
