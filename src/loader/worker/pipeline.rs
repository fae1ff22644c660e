//! A running loader as its consumer sees it, whatever backend makes its pixels.

use super::context::Context;
use crate::device::backend::BackendUsage;
use crate::error::Result;
use crate::loader::epoch::plan::EpochPlan;
use crate::loader::queue::lent::BatchMemory;
use crate::loader::queue::task::FinishedBatch;
use std::sync::Arc;
use std::time::Duration;

/// Threads, queue and backend; the last owner stops and joins the threads.
///
/// An epoch is named by the serial number of its start; one that another start has ended has no batches any more.
pub(in crate::loader) trait Pipeline: Send + Sync {
    fn context(&self) -> &Context;

    /// Starts the threads, if they do not run yet.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the system gives none.
    fn spawn_threads(&self) -> Result<()>;

    /// Starts an epoch at `first_batch`, ending the one that runs; returns its serial number.
    fn start(&self, plan: Arc<EpochPlan>, first_batch: usize) -> u64;

    /// Ends the epoch `serial`, if it still runs.
    fn cancel(&self, serial: u64);

    /// How many batches of the epoch `serial` are ready, in order.
    fn ready(&self, serial: u64) -> usize;

    /// Waits until [`Pipeline::take`] would not wait for the epoch `serial`, or for `at_most`; says which.
    fn wait(&self, serial: u64, at_most: Duration) -> bool;

    /// Waits for the next batch of the epoch `serial`.
    ///
    /// # Errors
    /// Why the epoch cannot go on.
    fn take(&self, serial: u64) -> Result<FinishedBatch<Box<dyn BatchMemory>>>;

    /// Notes that the consumer waited for so long for a batch: the number of threads and the prefetch follow the load.
    fn follow(&self, waited: Duration);

    /// Threads that run.
    fn threads(&self) -> usize;

    /// Batches that may exist at once.
    fn buffers(&self) -> usize;

    /// What the backend has decoded and kept.
    fn backend_usage(&self) -> BackendUsage;
}
