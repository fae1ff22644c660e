//! What all threads of a loader share, whatever backend makes its pixels.

use super::process::Process;
use crate::image::Limits;
use crate::loader::identity::Identity;
use crate::loader::indexing::Indexing;
use crate::loader::labels::LabelRules;
use crate::loader::planner::Planner;
use crate::loader::policy::Report;
use crate::loader::sizes::{Sizes, SizesAsked};
use crate::loader::stats::Meters;
use crate::output::Output;
use crate::policy::{BadSample, DecodeScale};
use crate::sampler::Sampler;
use crate::source::Source;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What a loader is made of, and what it measures.
pub(in crate::loader) struct Context {
    pub(in crate::loader) source: Box<dyn Source>,
    pub(in crate::loader) planner: Planner,
    pub(in crate::loader) sampler: Sampler,
    /// Made when it is first asked for.
    pub(in crate::loader) identity: OnceLock<Identity>,
    /// `None`: images are decoded whole and not rendered.
    pub(in crate::loader) output: Option<Output>,
    /// What was asked for of the sizes of batches, and the rule that it gave.
    pub(in crate::loader) sizes_asked: SizesAsked,
    pub(in crate::loader) sizes: Sizes,
    pub(in crate::loader) limits: Limits,
    pub(in crate::loader) exif: bool,
    pub(in crate::loader) scale: DecodeScale,
    pub(in crate::loader) bad: BadSample,
    pub(in crate::loader) labels: LabelRules,
    pub(in crate::loader) meters: Meters,
    pub(in crate::loader) indexing: Indexing,
    /// The bad samples of the batches delivered so far.
    pub(in crate::loader) report: Mutex<Report>,
    /// The process whose threads work.
    pub(in crate::loader) process: Process,
}

impl Context {
    /// What the run is made of.
    pub(in crate::loader) fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| Identity::of(self))
    }

    pub(in crate::loader) fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
