//! The worker threads, and the rule by which their number and the prefetch follow the load.

use super::policy::{Report, Stage};
use super::process::Process;
use super::queue::Queue;
use super::worker::{Context, work};
use crate::error::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Most worker threads, whoever chose their number.
pub(super) const MAX_WORKERS: usize = 64;
/// Automatic workers stop at this many a core: only waiting for storage is worth more than one a core.
const WORKERS_A_CORE: usize = 4;
/// Deliveries between two looks at the load.
const INTERVAL: u32 = 4;
/// A shorter wait is no wait: the batch was ready and only had to be taken.
const READY_WITHIN: Duration = Duration::from_micros(200);

/// Threads, queue and everything that they share; the last owner stops and joins the threads.
pub(super) struct Crew {
    pub(super) queue: Arc<Queue>,
    pub(super) context: Arc<Context>,
    pub(super) report: Mutex<Report>,
    pub(super) process: Process,
    hands: Mutex<Hands>,
    auto_workers: bool,
    auto_prefetch: bool,
}

struct Hands {
    threads: Vec<JoinHandle<()>>,
    /// How many to start with.
    first: usize,
    /// Deliveries, and waits among them, since the last look.
    deliveries: u32,
    waits: u32,
    /// Seconds in each stage until the last look: reading, everything.
    spent: [f64; 2],
}

impl Crew {
    /// No thread runs before [`Crew::assemble`]. `workers` and `prefetch` are automatic where they are `None`.
    pub(super) fn new(queue: Queue, context: Context, workers: Option<usize>, auto_prefetch: bool) -> Self {
        let first = workers.unwrap_or_else(cores).clamp(1, MAX_WORKERS);
        let hands = Hands { threads: Vec::new(), first, deliveries: 0, waits: 0, spent: [0.0; 2] };
        Self {
            queue: Arc::new(queue),
            context: Arc::new(context),
            report: Mutex::new(Report::default()),
            process: Process::this(),
            hands: Mutex::new(hands),
            auto_workers: workers.is_none(),
            auto_prefetch,
        }
    }

    /// Starts the threads, if they do not run yet.
    pub(super) fn assemble(&self) -> Result<()> {
        let mut hands = self.hands();
        if hands.threads.is_empty() {
            let first = hands.first;
            self.hire(&mut hands, first)?;
        }
        Ok(())
    }

    pub(super) fn workers(&self) -> usize {
        self.hands().threads.len()
    }

    /// Notes that a delivery took `waited`, and follows the load every few deliveries.
    ///
    /// Workers grow by half when most batches were waited for and more than half of the workers' time went to reading.
    /// Prefetch grows by one when some batches, but not most, were waited for: the workers keep up on average.
    /// Neither ever changes what a batch holds.
    pub(super) fn follow(&self, waited: Duration) {
        let mut hands = self.hands();
        hands.deliveries += 1;
        hands.waits += u32::from(waited > READY_WITHIN);
        if hands.deliveries < INTERVAL {
            return;
        }
        let waits = hands.waits;
        let spent = self.spent();
        let [reading, all] = [spent[0] - hands.spent[0], spent[1] - hands.spent[1]];
        (hands.deliveries, hands.waits, hands.spent) = (0, 0, spent);
        let most = (cores() * WORKERS_A_CORE).min(MAX_WORKERS);
        let have = hands.threads.len();
        if self.auto_workers && waits + 1 >= INTERVAL && reading > all / 2.0 && have < most {
            // A machine that grants no more threads goes on with those it has.
            drop(self.hire(&mut hands, have.div_ceil(2).min(most - have)));
        }
        if self.auto_prefetch && (1..=INTERVAL / 2).contains(&waits) {
            self.queue.grow();
        }
    }

    fn spent(&self) -> [f64; 2] {
        let seconds = |stage| self.context.meters.stage(stage).total_seconds();
        let reading = seconds(Stage::Read);
        [reading, reading + seconds(Stage::Plan) + seconds(Stage::Decode) + seconds(Stage::Render)]
    }

    fn hire(&self, hands: &mut Hands, more: usize) -> Result<()> {
        for _ in 0..more {
            let (queue, context) = (Arc::clone(&self.queue), Arc::clone(&self.context));
            let name = format!("feedline-{}", hands.threads.len());
            let thread =
                Builder::new().name(name).spawn(move || work(&queue, &context)).map_err(|error| {
                    Error::Unavailable {
                        what: "a worker thread".into(),
                        why: error.to_string(),
                        remedy: "ask for fewer workers".into(),
                    }
                })?;
            hands.threads.push(thread);
        }
        Ok(())
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if !self.process.is_this() {
            let hands = self.hands.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(std::mem::take(&mut hands.threads));
            return;
        }
        self.queue.stop();
        for thread in self.hands().threads.drain(..) {
            // A worker catches its panics; one that still died has nothing left to stop.
            drop(thread.join());
        }
        self.context.indexing.save_at_last();
    }
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}
