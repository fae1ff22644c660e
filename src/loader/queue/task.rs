//! What passes between the queue and the workers: one row to fill or one batch to submit, and what became of it.

use crate::device::backend::BufferAllocator;
use crate::error::Error;
use crate::field::FieldValue;
use crate::geometry::Size;
use crate::loader::batch::labels::SeenObjects;
use crate::loader::epoch::plan::EpochPlan;
use crate::loader::report::errors::{Failure, Status};
use crate::plan::Placement;
use std::sync::Arc;

/// What a worker is to do next.
pub(in crate::loader) enum Task<A: BufferAllocator> {
    /// Fill one row.
    Row(Job<A>),
    /// Submit a batch whose rows are all filled.
    Submit(Job<A>, Vec<Outcome>),
}

/// One row to be filled, or a whole batch to be submitted.
pub(in crate::loader) struct Job<A: BufferAllocator> {
    pub(in crate::loader) plan: Arc<EpochPlan>,
    pub(in crate::loader) buffer: Arc<A::Buffer>,
    pub(in crate::loader) batch: usize,
    pub(in crate::loader) row: usize,
    /// Which start of an epoch it belongs to.
    pub(super) serial: u64,
}

/// What became of a row.
#[derive(Default)]
pub(in crate::loader) struct Outcome {
    pub(in crate::loader) sample: Option<Sample>,
    pub(in crate::loader) failures: Vec<Failure>,
    /// Substitutes tried so far.
    pub(in crate::loader) substitutes: u32,
    pub(in crate::loader) panic: Option<Error>,
}

/// What a batch says about a row besides its pixels.
pub(in crate::loader) struct Sample {
    pub(in crate::loader) index: u64,
    pub(in crate::loader) key: String,
    pub(in crate::loader) class: i64,
    /// Height and width of its image, upright.
    pub(in crate::loader) original_size: [i64; 2],
    /// At least one.
    pub(in crate::loader) views: Vec<SampleView>,
    /// The values of its fields, in the source's order.
    pub(in crate::loader) values: Vec<FieldValue>,
    pub(in crate::loader) status: Status,
}

/// What a batch says about one view of a row besides its pixels.
#[derive(Default)]
pub(in crate::loader) struct SampleView {
    pub(in crate::loader) shares: Vec<(i64, f32)>,
    /// The share of the images that have a label.
    pub(in crate::loader) labelled: f32,
    /// What is seen in it; `None` where its label says nothing of that.
    pub(in crate::loader) objects: Option<SeenObjects>,
    /// Its size without the border that makes it as large as its batch, where batches are padded.
    pub(in crate::loader) unpadded: Option<Size>,
    /// Where it shows its image.
    pub(in crate::loader) placement: Option<Placement>,
}

/// A finished batch: its memory, and what became of each row.
pub(in crate::loader) struct FinishedBatch<M> {
    pub(in crate::loader) memory: M,
    pub(in crate::loader) outcomes: Vec<Outcome>,
}
