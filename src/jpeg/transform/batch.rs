//! Blocks that are transformed together.

use super::target::Target;

/// Maximum blocks in the queue. Enough that a vector load seldom meets the two-byte stores of a block just decoded, for
/// which it would have to wait; few enough to stay in the first-level cache.
pub(crate) const BATCH: usize = 24;

/// The destination of a decoded block: its coefficients row by row, followed by the slots of the next blocks. Decoding
/// writes there without a test (see `STORE_INDEX` in `entropy/block.rs`), but only to the index of the next block's DC.
/// It has 256 elements, so that any byte is a valid index.
pub(crate) type Slot = [i16; 64 * SLOT];

/// Length of a slot, in blocks.
pub(crate) const SLOT: usize = 4;

/// A batch: the first `count` elements of each list.
#[repr(C, align(64))]
pub(crate) struct Batch {
    pub(crate) blocks: [[i16; 64]; Batch::ROOM],
    pub(crate) components: [usize; Batch::ROOM],
    pub(crate) targets: [Target; Batch::ROOM],
    pub(crate) count: usize,
}

impl Batch {
    /// Room for the blocks and for a [`Slot`] after the last; as many as a `u32` has bits, since the transforms keep one
    /// bit for each block.
    pub(crate) const ROOM: usize = u32::BITS as usize;

    /// An empty batch; all coefficients are zero.
    pub(crate) fn new() -> Self {
        const { assert!(BATCH - 1 + SLOT <= Self::ROOM) };
        let targets = [Target::default(); Self::ROOM];
        Self { blocks: [[0; 64]; Self::ROOM], components: [0; Self::ROOM], targets, count: 0 }
    }
}
