//! The threads that make batches: each takes rows in order and carries them through read, plan, decode and render.

pub(super) mod context;
pub(super) mod files;
mod inputs;
#[cfg(test)]
mod model;
mod outlines;
pub(super) mod pictures;
pub(super) mod pipeline;
mod pool;
mod priority;
pub(super) mod process;
mod sample;
mod threads;

pub(crate) use pool::cores;
pub(super) use pool::{MAX_WORKERS, PoolOptions};

use crate::device::Device;
use crate::device::backend::{Backend, BackendOptions};
use crate::device::cpu::CpuBackend;
use crate::error::Result;
use crate::loader::queue::Queue;
use context::Context;
use pipeline::Pipeline;
use pool::WorkerPool;
use std::sync::Arc;

/// Threads; those of the tests' model are of another make.
mod sync {
    pub(super) use std::thread::{Builder, JoinHandle, current};
}

/// Opens the device and reserves the memory of batches. This is the one place that knows all backends.
///
/// # Errors
/// [`crate::error::Error::Unavailable`] where the device cannot be used or has not the memory.
pub(super) fn open(
    device: Device,
    backend: BackendOptions,
    pool: PoolOptions,
    context: Context,
) -> Result<Arc<dyn Pipeline>> {
    match device {
        Device::Cpu => with_backend(CpuBackend::new(backend), pool, context),
        #[cfg(feature = "cuda")]
        Device::Cuda { ordinal } => {
            with_backend(crate::device::cuda::CudaBackend::new(ordinal, backend)?, pool, context)
        }
        #[cfg(not(feature = "cuda"))]
        Device::Cuda { ordinal } => Err(crate::device::without_cuda(ordinal)),
    }
}

fn with_backend<B: Backend>(backend: B, pool: PoolOptions, context: Context) -> Result<Arc<dyn Pipeline>> {
    Ok(Arc::new(WorkerPool::new(Arc::new(backend), context, pool)?))
}
