//! Keeps host buffers alive and unchanged while the device may be reading them.
//!
//! Copies and decoders get the bytes of a [`StagingBuffer`] from [`InFlight::lend`], which holds the buffer until an event says
//! that the device is done; all other slices of a buffer are for the host. A buffer that is held is neither written nor handed
//! out again: it can be written only by its sole holder, and returns to the pool with its last one.

use super::StagingBuffer;
use crate::device::cuda::driver::{Context, CudaError, Event, Stream, SyncGuard, wait_for_device};
use crate::device::cuda::host_bytes::HostBytes;
use std::sync::Arc;

/// What a submission under way lets the device read. A submission that ends without [`InFlight::seal`], by an error or a panic,
/// waits for the device before any of it returns.
pub(in crate::device::cuda::engine) struct InFlight {
    /// Fields are dropped in their order: this one waits.
    guard: SyncGuard,
    buffers: Vec<Arc<StagingBuffer>>,
}

/// What the device reads of a submission that is complete, until its end.
pub(in crate::device::cuda::engine) struct Pending {
    context: Context,
    /// Recorded when all that reads the buffers is enqueued.
    done: Arc<Event>,
    buffers: Vec<Arc<StagingBuffer>>,
}

impl InFlight {
    pub(in crate::device::cuda::engine) fn new(context: &Context) -> Self {
        Self { guard: SyncGuard::new(context), buffers: Vec::new() }
    }

    /// The bytes of a buffer, for the device to read until the submission's end.
    pub(in crate::device::cuda::engine) fn lend<'a>(
        &mut self,
        buffer: &'a Arc<StagingBuffer>,
    ) -> HostBytes<'a> {
        self.buffers.push(Arc::clone(buffer));
        buffer.host_bytes()
    }

    /// Ends the submission: all that reads the buffers is ahead of what `stream` has by now, where `done` is recorded.
    pub(in crate::device::cuda::engine) fn seal(
        self,
        stream: &Stream,
        (done, context): (&Arc<Event>, &Context),
    ) -> Result<Pending, CudaError> {
        done.record(stream)?;
        let Self { guard, buffers } = self;
        guard.disarm();
        Ok(Pending { context: context.clone(), done: Arc::clone(done), buffers })
    }
}

impl Pending {
    /// Nothing, until something is submitted.
    pub(in crate::device::cuda::engine) fn nothing(context: &Context, done: &Arc<Event>) -> Self {
        Self { context: context.clone(), done: Arc::clone(done), buffers: Vec::new() }
    }

    /// Waits for the end of the submission, after which the buffers return. A device that fails here fails at the next one as
    /// well, and is reported there.
    pub(in crate::device::cuda::engine) fn wait(&mut self) {
        if self.done.synchronize().is_err() {
            wait_for_device(&self.context);
        }
        self.buffers.clear();
    }

    /// Lets the buffers return if the submission has ended.
    pub(in crate::device::cuda::engine) fn release_if_done(&mut self) {
        if !self.buffers.is_empty() && self.done.is_done().unwrap_or(false) {
            self.buffers.clear();
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.buffers.is_empty() {
            self.wait();
        }
    }
}
