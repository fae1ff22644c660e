//! Device memory for one sub-batch: decoded images, tables and scratch. Two arenas take turns, so that one sub-batch is
//! decoded while the other is rendered.

use crate::device::cuda::driver::{Context, CudaError, Event, GRANULARITY, Purpose};
use crate::device::cuda::room::Room;

/// Images, tables and scratch start at a multiple of this.
pub(super) use crate::device::cuda::host_bytes::ALIGNMENT;
/// The first reservation, where the images of a batch need no more.
const SMALLEST: usize = 32 << 20;

/// Memory and the events that order its users.
pub(super) struct Arena {
    /// Decoded images.
    pub(super) images: Room,
    /// Tables and scratch of the kernels.
    pub(super) program: Room,
    /// After it the latest uploads are done.
    pub(super) uploaded: Event,
    /// After it the latest images are decoded.
    pub(super) decoded: Event,
    /// After it nothing reads the memory any more, and all sub-batches before are done with what they have used.
    pub(super) rendered: Event,
    /// The sub-batch whose end that is, counted from 1; 0 for none.
    pub(super) sub_batch: u64,
}

impl Arena {
    /// An arena of at most `budget` bytes, of which a quarter is for tables and scratch, with room for images of `typical`
    /// bytes together.
    pub(super) fn new(context: &Context, budget: usize, typical: usize) -> Result<Self, CudaError> {
        let whole = |bytes: usize| (bytes / GRANULARITY).max(1) * GRANULARITY;
        let for_images = whole(budget / 4 * 3);
        let for_programs = whole(budget.saturating_sub(for_images));
        let event = || Event::new(context);
        let mut images = Room::new(context, Purpose::Images, for_images);
        images.reserve(typical.max(SMALLEST).min(for_images))?;
        let mut program = Room::new(context, Purpose::Programs, for_programs);
        program.reserve(SMALLEST.min(for_programs))?;
        Ok(Self { images, program, uploaded: event()?, decoded: event()?, rendered: event()?, sub_batch: 0 })
    }
}
