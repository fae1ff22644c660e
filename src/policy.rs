//! What becomes of a last batch that is not full, and of samples that cannot be used.

use serde::{Deserialize, Serialize};

/// What becomes of the samples that do not fill the last batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastBatch {
    /// They are left out of this epoch; every batch is full.
    #[default]
    Drop,
    /// They make a shorter batch.
    Partial,
    /// The batch is filled up with samples from the start of the epoch's order, marked as padded.
    Pad,
}

/// What becomes of a sample that cannot be read, planned, decoded or rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadSample {
    /// Its batch is an error, and the epoch ends there.
    #[default]
    Fail,
    /// Its batch is one row shorter; a batch without any good sample has no rows.
    Skip,
    /// Another sample, drawn by seed, epoch and position, takes its place, marked as a substitute.
    Substitute,
}
