//! The memory of a finished batch while its consumer has it.

use super::Queue;
use crate::device::backend::{BufferAllocator, ReadyBuffer};
use std::sync::Weak;

/// A batch's memory, whichever backend it is of.
pub(in crate::loader) trait BatchMemory: Send + Sync {
    fn buffer(&self) -> &dyn ReadyBuffer;

    fn buffer_mut(&mut self) -> &mut dyn ReadyBuffer;

    /// Lets another batch have it.
    fn give_back(self: Box<Self>);
}

/// Memory of the backend `A`.
pub(in crate::loader) struct Lent<A: BufferAllocator> {
    pub(in crate::loader) ready: A::Ready,
    /// Gone when the loader is gone; then the memory is simply freed.
    pub(in crate::loader) queue: Weak<Queue<A>>,
}

impl<A: BufferAllocator> BatchMemory for Lent<A> {
    fn buffer(&self) -> &dyn ReadyBuffer {
        &self.ready
    }

    fn buffer_mut(&mut self) -> &mut dyn ReadyBuffer {
        &mut self.ready
    }

    fn give_back(self: Box<Self>) {
        self.ready.retire();
        if let Some(queue) = self.queue.upgrade() {
            queue.give_back(self.ready);
        }
    }
}
