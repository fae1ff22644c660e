//! What all threads of a loader share, whatever backend makes its pixels.

use super::process::Process;
use crate::error::{Cause, Error};
use crate::image::{Damage, Limits};
use crate::loader::batch::Form;
use crate::loader::batch::labels::LabelRules;
use crate::loader::companions::{Companion, CompanionKind};
use crate::loader::decode_index::DecodeIndexes;
use crate::loader::epoch::batch_size::Sizes;
use crate::loader::epoch::fingerprint::Fingerprints;
use crate::loader::planner::{PlanError, Planner};
use crate::loader::report::clock::Clock;
use crate::loader::report::errors::{Failure, Report, Stage};
use crate::loader::report::stats::Meters;
use crate::loader::report::trace::{Trace, What};
use crate::output::Output;
use crate::plan::Modality;
use crate::policy::BadSample;
use crate::sampler::Sampler;
use crate::source::Source;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What a loader is made of, and what it measures.
pub(in crate::loader) struct Context {
    pub(in crate::loader) source: Arc<dyn Source>,
    pub(in crate::loader) planner: Arc<Planner>,
    pub(in crate::loader) sampler: Sampler,
    /// Made when it is first asked for.
    pub(in crate::loader) fingerprints: OnceLock<Fingerprints>,
    /// What a sample becomes in each view, and beside it; none: images are decoded whole and not rendered.
    pub(in crate::loader) outputs: Arc<[Output]>,
    /// What is shown beside each view; their outputs follow those of the views.
    pub(in crate::loader) companions: Vec<Companion>,
    /// Where the rows of each output begin in the memory of a batch.
    pub(in crate::loader) starts: Vec<usize>,
    /// What options say of samples, for the fingerprints.
    pub(in crate::loader) settings: String,
    pub(in crate::loader) sizes: Sizes,
    pub(in crate::loader) limits: Limits,
    pub(in crate::loader) exif: bool,
    pub(in crate::loader) bad: BadSample,
    pub(in crate::loader) labels: LabelRules,
    pub(in crate::loader) meters: Meters,
    pub(in crate::loader) clock: Clock,
    /// What was asked to be recorded.
    pub(in crate::loader) trace: Option<Trace>,
    pub(in crate::loader) decode_indexes: DecodeIndexes,
    /// The bad samples of the batches delivered so far.
    pub(in crate::loader) report: Mutex<Report>,
    /// The process whose threads work.
    pub(in crate::loader) process: Process,
}

impl Context {
    /// What the run is made of.
    pub(in crate::loader) fn fingerprints(&self) -> &Fingerprints {
        let Self { source, planner, sampler, settings, .. } = self;
        self.fingerprints.get_or_init(|| Fingerprints::of(&**source, sampler, planner, settings))
    }

    /// Whether what is shown of this picture comes out of a decoder of images.
    pub(in crate::loader) fn is_decoded(&self, modality: Modality) -> bool {
        let companion = self.companions.iter().find(|companion| companion.modality == modality);
        companion.is_none_or(|companion| companion.kind == CompanionKind::Image)
    }

    /// The semantic masks, where they are made.
    pub(in crate::loader) fn mask(&self) -> Option<&Companion> {
        self.companions.iter().find(|companion| companion.modality == Modality::Mask)
    }

    /// What batches are made of.
    pub(in crate::loader) fn form(&self) -> Form<'_> {
        let Self { labels, companions, starts, source, .. } = self;
        Form { labels, fields: source.fields(), companions, starts }
    }

    /// A stage was run, of a sample or of a whole batch. `took` is what counts for it; what other stages did meanwhile shows in
    /// a trace by itself.
    pub(in crate::loader) fn note_stage(
        &self,
        stage: Stage,
        sample: Option<u64>,
        started: Instant,
        took: Duration,
    ) {
        self.meters.stage(stage).record(took);
        if let Some(trace) = &self.trace {
            trace.add(What::Stage(stage), sample, started, self.clock.since(started));
        }
    }

    /// The consumer did its own work, but ahead of an epoch's first batch, and then waited, each from a moment on and for so long.
    /// What it waited for the first batch is no figure: starting takes most of it.
    pub(in crate::loader) fn note_consumer(
        &self,
        trainer: Option<(Instant, Duration)>,
        wait: (Instant, Duration),
    ) {
        if let Some((_, took)) = trainer {
            self.meters.trainer.record(took);
            self.meters.wait.record(wait.1);
        }
        if let Some(trace) = &self.trace {
            if let Some((began, took)) = trainer {
                trace.add(What::Trainer, None, began, took);
            }
            trace.add(What::Wait, None, wait.0, wait.1);
        }
    }

    /// The failure of the sample `index`.
    pub(in crate::loader) fn failure(&self, stage: Stage, index: u64, cause: Cause) -> Failure {
        Failure { stage, key: self.source.key(index as usize).into_owned(), index, cause }
    }

    /// The failure of the sample `index`, which the source cannot read.
    pub(in crate::loader) fn unreadable(&self, index: u64, error: Error) -> Failure {
        match error {
            // A source that names the sample itself has said everything; naming it twice is of no use.
            Error::Sample { key, index, source } => Failure { stage: Stage::Read, key, index, cause: source },
            other => self.failure(Stage::Read, index, other.into()),
        }
    }

    /// The failure of the sample `index`, or of the image that it could not be planned without.
    pub(in crate::loader) fn unplanned(&self, index: u64, error: PlanError) -> Failure {
        match error {
            PlanError::Image(failure) => failure,
            PlanError::Chain(error) => self.failure(Stage::Plan, index, error.into()),
        }
    }

    /// Notes images that are damaged and were decoded nonetheless.
    pub(in crate::loader) fn note_damage(&self, images: impl IntoIterator<Item = (u64, Damage)>) {
        for (image, damage) in images {
            self.meters.damaged.fetch_add(1, Relaxed);
            self.report().add_damaged(image, damage, || self.source.key(image as usize).into_owned());
        }
    }

    pub(in crate::loader) fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
