//! Device memory for one sub-batch: decoded images, tables and scratch. Two arenas take turns, so that one sub-batch is
//! decoded while the other is rendered.

use crate::device::cuda::driver::{Context, CudaError, DeviceBuffer, DevicePtr, Event};

/// Images, tables and scratch start at a multiple of this.
pub(super) const ALIGNMENT: usize = 256;
/// The first reservation.
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

/// Device memory that grows.
pub(super) struct Room {
    context: Context,
    memory: Option<DeviceBuffer>,
    /// Maximum bytes that it should grow to; what cannot be divided may take more.
    pub(super) budget: usize,
}

impl Arena {
    /// An arena of at most `budget` bytes, of which a quarter is for tables and scratch.
    pub(super) fn new(context: &Context, budget: usize) -> Result<Self, CudaError> {
        let room = |budget| Room { context: context.clone(), memory: None, budget };
        let event = || Event::new(context);
        let (uploaded, decoded, rendered) = (event()?, event()?, event()?);
        let (images, program) = (room(budget / 4 * 3), room(budget / 4));
        let mut arena = Self { images, program, uploaded, decoded, rendered, sub_batch: 0 };
        arena.images.reserve(SMALLEST.min(budget / 4 * 3), &arena.rendered)?;
        arena.program.reserve(SMALLEST.min(budget / 4), &arena.rendered)?;
        Ok(arena)
    }
}

impl Room {
    /// Makes room for `bytes`. Growing waits for `last`, after which the memory has no user.
    ///
    /// # Errors
    /// The device has failed, or has no memory left: then the room is as large as before, its budget is no more than
    /// that, and less may be asked for.
    pub(super) fn reserve(&mut self, bytes: usize, last: &Event) -> Result<(), CudaError> {
        let before = self.memory.as_ref().map_or(0, DeviceBuffer::len);
        if self.memory.is_some() && before >= bytes {
            return Ok(());
        }
        let size = bytes.next_power_of_two().clamp(bytes, self.budget.max(bytes));
        last.synchronize()?;
        // The old memory first: both together may be more than the device has.
        self.memory = None;
        let made = DeviceBuffer::new(&self.context, size).or_else(|error| match error.is_out_of_memory() {
            true => DeviceBuffer::new(&self.context, bytes),
            false => Err(error),
        });
        match made {
            Ok(memory) => self.memory = Some(memory),
            Err(error) => {
                if error.is_out_of_memory() {
                    self.budget = before;
                    self.memory = Some(DeviceBuffer::new(&self.context, before)?);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Address of the first byte, a multiple of [`ALIGNMENT`].
    pub(super) fn address(&self) -> DevicePtr {
        self.memory.as_ref().map_or(0, DeviceBuffer::ptr)
    }
}
