//! A block of the device's memory that grows with what it has to hold.

use super::driver::{Context, CudaError, DeviceBuffer, DevicePtr, GRANULARITY, Purpose};

/// Device memory that grows, seldom, and never shrinks: what it has grown out of is kept, since freeing would wait for all
/// that the device has to do, a trainer's kernels included.
pub(crate) struct Room {
    context: Context,
    purpose: Purpose,
    memory: Option<DeviceBuffer>,
    outgrown: Vec<DeviceBuffer>,
    /// Maximum bytes of all that it keeps; what cannot be divided may take more.
    budget: usize,
}

impl Room {
    pub(crate) fn new(context: &Context, purpose: Purpose, budget: usize) -> Self {
        Self { context: context.clone(), purpose, memory: None, outgrown: Vec::new(), budget }
    }

    /// Makes room for `bytes`. Earlier users may still be using the memory that there was before.
    ///
    /// # Errors
    /// The device has failed, or has no memory left: then the room is as large as before, its limit is no more than
    /// that, or half of what was asked for where it holds nothing yet, and less may be asked for.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), CudaError> {
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
                    self.budget =
                        if self.memory.is_some() { self.taken() } else { bytes.min(self.budget) / 2 };
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
    pub(crate) fn limit(&self) -> usize {
        self.len().max(self.budget.saturating_sub(self.taken()))
    }

    /// Address of the first byte, a multiple of [`ALIGNMENT`].
    pub(crate) fn address(&self) -> DevicePtr {
        self.memory.as_ref().map_or(0, DeviceBuffer::ptr)
    }

    /// Bytes that it holds.
    pub(crate) fn len(&self) -> usize {
        self.memory.as_ref().map_or(0, DeviceBuffer::len)
    }

    fn taken(&self) -> usize {
        self.memory.iter().chain(&self.outgrown).map(DeviceBuffer::taken).sum()
    }
}
