//! The worker threads, and the rule by which their number and the prefetch follow the load.

use super::context::Context;
use super::pipeline::Pipeline;
use super::priority;
use super::sample::SampleWorker;
use super::threads::{Work, WorkerThreads, work};
use crate::device::backend::{Backend, BackendUsage};
use crate::error::{Error, Result};
use crate::loader::epoch::plan::EpochPlan;
use crate::loader::queue::Queue;
use crate::loader::queue::lent::{BatchMemory, Lent};
use crate::loader::queue::task::{FinishedBatch, Job, Outcome};
use crate::loader::report::errors::Stage;
use crate::policy::WorkerPriority;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of worker threads: more than the cores of most machines, and few enough for each to have memory of its own.
pub(in crate::loader) const MAX_WORKERS: usize = 512;
/// Automatic workers stop at this many per core: only waiting for storage is worth more than one per core.
const WORKERS_PER_CORE: usize = 4;
/// Deliveries between two looks at the load.
const INTERVAL: u32 = 4;
/// A shorter wait is no wait: the batch was ready and only had to be taken.
const READY_WITHIN: Duration = Duration::from_micros(200);

/// How many threads and batches a loader has.
pub(in crate::loader) struct PoolOptions {
    /// Worker threads; automatic where it is `None`.
    pub(in crate::loader) workers: Option<usize>,
    /// Theirs, against all other threads.
    pub(in crate::loader) priority: WorkerPriority,
    /// Batches that may exist at once, to start with.
    pub(in crate::loader) buffers: usize,
    /// Batches that memory is reserved for.
    pub(in crate::loader) reserved: usize,
    /// Whether the number of batches follows the load.
    pub(in crate::loader) auto_prefetch: bool,
}

/// Threads, and what they share; the last owner stops and joins them.
pub(super) struct WorkerPool<B: Backend> {
    queue: Arc<Queue<B>>,
    shared: Arc<Shared<B>>,
    threads: Mutex<Threads>,
    priority: WorkerPriority,
    auto_workers: bool,
    auto_prefetch: bool,
}

struct Shared<B> {
    context: Context,
    backend: Arc<B>,
}

struct Threads {
    running: WorkerThreads,
    /// How many to start with.
    first: usize,
    /// Deliveries, and waits among them, since the last look.
    deliveries: u32,
    waits: u32,
    /// Seconds in each stage until the last look: reading, everything.
    spent: [f64; 2],
}

impl<B: Backend> WorkerPool<B> {
    /// Reserves memory; no thread runs before [`Pipeline::spawn_threads`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] where a device has not the memory, or threads cannot have their priority.
    pub(super) fn new(backend: Arc<B>, context: Context, options: PoolOptions) -> Result<Self> {
        let PoolOptions { workers, priority, buffers, reserved, auto_prefetch } = options;
        priority::check(priority)?;
        let first = workers.unwrap_or_else(cores).clamp(1, MAX_WORKERS);
        let threads =
            Threads { running: WorkerThreads::default(), first, deliveries: 0, waits: 0, spent: [0.0; 2] };
        Ok(Self {
            queue: Arc::new(Queue::new(Arc::clone(&backend), buffers, reserved)?),
            shared: Arc::new(Shared { context, backend }),
            threads: Mutex::new(threads),
            priority,
            auto_workers: workers.is_none(),
            auto_prefetch,
        })
    }

    fn spent(&self) -> [f64; 2] {
        let seconds = |stage| self.context().meters.stage(stage).total_seconds();
        let reading = seconds(Stage::Read);
        [reading, reading + seconds(Stage::Plan) + seconds(Stage::Decode) + seconds(Stage::Render)]
    }

    fn spawn(&self, threads: &mut Threads, more: usize) -> Result<()> {
        for _ in 0..more {
            let (queue, shared) = (Arc::clone(&self.queue), Arc::clone(&self.shared));
            let priority = self.priority;
            let body = move || {
                // It was checked that threads can; should this one fail, it works at the usual priority.
                drop(priority::enter(priority));
                work(&queue, &mut Worker { shared: &shared, sample: None });
            };
            threads.running.spawn(body).map_err(|error| Error::Unavailable {
                what: "a worker thread".into(),
                why: error.to_string(),
                remedy: "ask for fewer workers".into(),
            })?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Backend> Pipeline for WorkerPool<B> {
    fn context(&self) -> &Context {
        &self.shared.context
    }

    fn spawn_threads(&self) -> Result<()> {
        let mut threads = self.lock();
        match threads.running.len() == 0 {
            true => {
                let first = threads.first;
                self.spawn(&mut threads, first)
            }
            false => Ok(()),
        }
    }

    fn start(&self, plan: Arc<EpochPlan>, first_batch: usize) -> u64 {
        self.queue.start(plan, first_batch)
    }

    fn cancel(&self, serial: u64) {
        self.queue.cancel(serial);
    }

    fn ready(&self, serial: u64) -> usize {
        self.queue.ready(serial)
    }

    fn wait(&self, serial: u64, at_most: Duration) -> bool {
        self.queue.wait(serial, at_most)
    }

    fn take(&self, serial: u64) -> Result<FinishedBatch<Box<dyn BatchMemory>>> {
        let FinishedBatch { memory, outcomes } = self.queue.take(serial)?;
        let memory = Box::new(Lent { ready: memory, queue: Arc::downgrade(&self.queue) });
        Ok(FinishedBatch { memory, outcomes })
    }

    /// Looks at the load every few deliveries. Workers grow by half when most batches were waited for and more than half of
    /// the workers' time went to reading. Prefetch grows by one when some batches, but not most, were waited for: the
    /// workers keep up on average. Neither ever changes what a batch holds.
    fn follow(&self, waited: Duration) {
        let mut threads = self.lock();
        threads.deliveries += 1;
        threads.waits += u32::from(waited > READY_WITHIN);
        if threads.deliveries < INTERVAL {
            return;
        }
        let waits = threads.waits;
        let spent = self.spent();
        let [reading, all] = [spent[0] - threads.spent[0], spent[1] - threads.spent[1]];
        (threads.deliveries, threads.waits, threads.spent) = (0, 0, spent);
        let max = (cores() * WORKERS_PER_CORE).min(MAX_WORKERS);
        let have = threads.running.len();
        if self.auto_workers && waits + 1 >= INTERVAL && reading > all / 2.0 && have < max {
            // A machine that grants no more threads goes on with those it has.
            drop(self.spawn(&mut threads, have.div_ceil(2).min(max - have)));
        }
        if self.auto_prefetch && (1..=INTERVAL / 2).contains(&waits) {
            self.queue.grow();
        }
    }

    fn threads(&self) -> usize {
        self.lock().running.len()
    }

    fn buffers(&self) -> usize {
        self.queue.allowed()
    }

    fn backend_usage(&self) -> BackendUsage {
        self.shared.backend.usage()
    }
}

impl<B: Backend> Drop for WorkerPool<B> {
    fn drop(&mut self) {
        if !self.context().process.is_this() {
            let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
            threads.running.forget();
            return;
        }
        self.lock().running.stop(&self.queue);
        self.context().decode_indexes.save_at_last();
    }
}

/// What a thread works with.
struct Worker<'a, B: Backend> {
    shared: &'a Shared<B>,
    /// Made where there is none.
    sample: Option<SampleWorker<'a, B>>,
}

impl<B: Backend> Work<B> for Worker<'_, B> {
    fn row(&mut self, job: &Job<B>) -> Outcome {
        let done = catch(self.shared, &mut self.sample, job, |worker| worker.row(job));
        done.unwrap_or_else(|panic| Outcome { panic: Some(panic), ..Outcome::default() })
    }

    fn submit(&mut self, job: &Job<B>, outcomes: &mut Vec<Outcome>) -> Result<()> {
        let done = catch(self.shared, &mut self.sample, job, |worker| worker.submit(job, outcomes));
        done.and_then(|result| result)
    }

    fn settle(&mut self) {
        let Some(worker) = &mut self.sample else { return };
        // The batch is out: what cannot be learned of its files is not known, and the next epoch looks again.
        if catch_unwind(AssertUnwindSafe(|| worker.settle())).is_err() {
            self.sample = None;
        }
    }
}

/// Does `work` with the thread's worker, which is made where there is none. Whatever a panic leaves half done is thrown away
/// with the worker.
fn catch<'a, B: Backend, T>(
    shared: &'a Shared<B>,
    worker: &mut Option<SampleWorker<'a, B>>,
    job: &Job<B>,
    work: impl FnOnce(&mut SampleWorker<'a, B>) -> T,
) -> Result<T> {
    let Shared { context, backend } = shared;
    let caught = catch_unwind(AssertUnwindSafe(|| {
        work(worker.get_or_insert_with(|| SampleWorker::new(context, &**backend)))
    }));
    caught.map_err(|panic| {
        let row = worker.take().and_then(|worker| worker.current_row());
        panicked(context, row, job, &*panic)
    })
}

/// The error for a panic at row `row`; without one, at the whole batch, of which the first sample is named.
fn panicked<B: Backend>(
    context: &Context,
    row: Option<usize>,
    job: &Job<B>,
    panic: &(dyn Any + Send),
) -> Error {
    let (position, _) = job.plan.position(job.batch, row.unwrap_or(job.row));
    let index = job.plan.order.index(position);
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let message = text.unwrap_or_else(|| "a value that is no text".into());
    // The source may be what panicked: asking it for the name must not end the thread.
    let key = catch_unwind(AssertUnwindSafe(|| context.source.key(index as usize).into_owned()));
    Error::Panic {
        key: key.unwrap_or_else(|_| "its name is not known".into()),
        index,
        message: match row {
            Some(_) => message,
            None => format!("{message}, at the batch that begins with this sample"),
        },
    }
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}
