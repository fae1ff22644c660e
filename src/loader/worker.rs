//! A worker thread: takes rows in order and carries each through read, plan, decode and render.

use super::desk::Desk;
use super::gallery::Gallery;
use super::identity::Identity;
use super::indexing::Indexing;
use super::labels::LabelRules;
use super::planner::Planner;
use super::queue::{Job, Outcome, Queue, Task};
use super::sizes::{Sizes, SizesAsked};
use super::stats::Meters;
use crate::device::cuda;
use crate::error::Error;
use crate::image::Limits;
use crate::output::Output;
use crate::policy::{BadSample, DecodeScale};
use crate::sampler::Sampler;
use crate::source::Source;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// What all workers share and none changes.
pub(super) struct Context {
    pub(super) source: Box<dyn Source>,
    pub(super) planner: Planner,
    pub(super) sampler: Sampler,
    /// Made when it is first asked for.
    pub(super) identity: OnceLock<Identity>,
    /// `None`: images are decoded whole and not rendered.
    pub(super) output: Option<Output>,
    /// What was asked for of the sizes of batches, and the rule that it gave.
    pub(super) sizes_asked: SizesAsked,
    pub(super) sizes: Sizes,
    pub(super) limits: Limits,
    pub(super) exif: bool,
    pub(super) scale: DecodeScale,
    pub(super) bad: BadSample,
    pub(super) labels: LabelRules,
    pub(super) meters: Meters,
    pub(super) indexing: Indexing,
    /// Decoded images that samples share; `None` where each has its own.
    pub(super) gallery: Option<Gallery>,
    /// `None`: the workers decode and render themselves.
    pub(super) engine: Option<Arc<cuda::Engine>>,
}

impl Context {
    /// What the run is made of.
    pub(super) fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| Identity::of(self))
    }
}

/// Works until the queue stops.
pub(super) fn work(queue: &Queue, context: &Context) {
    let mut desk = Desk::new(context);
    while let Some(task) = queue.claim() {
        match task {
            Task::Row(job) => {
                let caught = catch_unwind(AssertUnwindSafe(|| desk.row(&job)));
                let outcome = caught.unwrap_or_else(|panic| {
                    let error = panicked(context, &desk, &job, &*panic);
                    // Whatever the panic left half done on the desk is thrown away with it.
                    desk = Desk::new(context);
                    Outcome { panic: Some(error), ..Outcome::default() }
                });
                queue.finish(job, outcome);
            }
            Task::Submit(job, mut outcomes) => {
                let caught = catch_unwind(AssertUnwindSafe(|| desk.submit(&job, &mut outcomes)));
                let result = caught.unwrap_or_else(|panic| {
                    let error = panicked(context, &desk, &job, &*panic);
                    desk = Desk::new(context);
                    Err(error)
                });
                queue.submitted(job, outcomes, result);
            }
        }
    }
}

fn panicked(context: &Context, desk: &Desk<'_>, job: &Job, panic: &(dyn Any + Send)) -> Error {
    let (position, _) = job.course.position(job.batch, desk.row_at_hand());
    let index = job.course.order.index(position);
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // The source may be what panicked: asking it for the name must not end the thread.
    let key = catch_unwind(AssertUnwindSafe(|| context.source.key(index as usize).into_owned()));
    Error::Panic {
        key: key.unwrap_or_else(|_| "its name is not known".into()),
        index,
        message: message.unwrap_or_else(|| "a value that is no text".into()),
    }
}
