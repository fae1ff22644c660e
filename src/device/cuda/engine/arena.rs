//! Device memory for one sub-batch: decoded images, tables and scratch. Two arenas take turns, so that one sub-batch is
//! decoded while the other is rendered.

use crate::device::cuda::driver::{Context, CudaError, DeviceBuffer, DevicePtr, Event, GRANULARITY, Purpose};

/// Images, tables and scratch start at a multiple of this.
pub(super) const ALIGNMENT: usize = 256;
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

/// Device memory that grows, seldom, and never shrinks: what it has grown out of is kept, since freeing would wait for all
/// that the device has to do, a trainer's kernels included.
pub(super) struct Room {
    context: Context,
    purpose: Purpose,
    memory: Option<DeviceBuffer>,
    outgrown: Vec<DeviceBuffer>,
    /// Maximum bytes of all that it keeps; what cannot be divided may take more.
    budget: usize,
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

impl Room {
    fn new(context: &Context, purpose: Purpose, budget: usize) -> Self {
        Self { context: context.clone(), purpose, memory: None, outgrown: Vec::new(), budget }
    }

    /// Makes room for `bytes`. Earlier users may still be using the memory that there was before.
    ///
    /// # Errors
    /// The device has failed, or has no memory left: then the room is as large as before, its limit is no more than
    /// that, and less may be asked for.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<(), CudaError> {
        if self.memory.is_some() && self.len() >= bytes {
            return Ok(());
        }
        let reserve = |bytes| DeviceBuffer::new(&self.context, bytes, self.purpose);
        let made = reserve(self.growth(bytes)).or_else(|error| match error.is_out_of_memory() {
            true => reserve(bytes.next_multiple_of(GRANULARITY)),
            false => Err(error),
        });
        match made {
            Ok(memory) => self.outgrown.extend(self.memory.replace(memory)),
            Err(error) => {
                if error.is_out_of_memory() {
                    self.budget = self.taken();
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// How much to reserve for `bytes`: as much at first, later a quarter more and then a power of two, so that a batch that
    /// is somewhat larger still fits; where the budget would not let it grow once more, all that the budget has left.
    fn growth(&self, bytes: usize) -> usize {
        let left = self.budget.saturating_sub(self.taken()) / GRANULARITY * GRANULARITY;
        let size = if self.memory.is_none() { bytes } else { (bytes + bytes / 4).next_power_of_two() };
        let size = if left / 2 < size { left } else { size };
        size.max(bytes).next_multiple_of(GRANULARITY)
    }

    /// Maximum bytes that may be asked for, if they can be divided.
    pub(super) fn limit(&self) -> usize {
        self.len().max(self.budget.saturating_sub(self.taken()))
    }

    /// Address of the first byte, a multiple of [`ALIGNMENT`].
    pub(super) fn address(&self) -> DevicePtr {
        self.memory.as_ref().map_or(0, DeviceBuffer::ptr)
    }

    fn len(&self) -> usize {
        self.memory.as_ref().map_or(0, DeviceBuffer::len)
    }

    fn taken(&self) -> usize {
        self.memory.iter().chain(&self.outgrown).map(DeviceBuffer::taken).sum()
    }
}
