//! The kernel that writes masks of objects, and memory for what it reads.

use crate::device::cuda::driver::{Context, CudaError, Event, Function, Purpose};
use crate::device::cuda::kernel;
use crate::device::cuda::render::layout::MaskRun;
use crate::device::cuda::room::Room;

/// Maximum number of runs of a launch: 4 MiB of them. Those of most batches take one.
pub(super) const MAX_RUNS: usize = 1 << 18;

/// The kernel, and memory for what it reads.
pub(super) struct MaskKernel {
    pub(super) function: Function,
    /// The runs of the latest launch.
    pub(super) runs: Room,
    /// After it they are there.
    pub(super) uploaded: Event,
    /// After it nothing reads them any more.
    pub(super) written: Event,
}

impl MaskKernel {
    pub(super) fn new(context: &Context) -> Result<Self, CudaError> {
        Ok(Self {
            function: kernel::load(context, "object_masks")?,
            runs: Room::new(context, Purpose::Programs, MAX_RUNS * size_of::<MaskRun>()),
            uploaded: Event::new(context)?,
            written: Event::new(context)?,
        })
    }
}
