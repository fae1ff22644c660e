//! Policies for an incomplete last batch, for samples and labels that cannot be used, and for pixels that are not
//! needed.

use serde::{Deserialize, Serialize};

/// The policy for samples that do not fill the last batch, or not all ranks' last batches.
///
/// With several ranks every rank makes the same number of batches, and the batches of one step have the same number of
/// rows on all ranks. A rank that has one sample fewer than the others repeats one, marked as padded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastBatch {
    /// They are left out of this epoch; every batch is full. At most batch size times ranks minus one are left out.
    #[default]
    Drop,
    /// They make a shorter batch.
    Partial,
    /// The batch is filled up with samples from the start of the epoch's order, marked as padded.
    Pad,
}

/// The policy for a sample that cannot be read, planned, decoded or rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadSample {
    /// Its batch is an error, and the epoch ends there.
    #[default]
    Fail,
    /// Its batch is one row shorter; a batch without any good sample has no rows.
    Skip,
    /// Another sample, drawn by seed, epoch and position, replaces it, marked as a substitute.
    Substitute,
}

/// The scale that images are decoded at if a chain makes them smaller anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecodeScale {
    /// Full size: the results are those of torchvision.
    #[default]
    Exact,
    /// A half, a quarter or an eighth of their width and height, if that is still at least the size asked for. JPEGs
    /// only; the pixels change a little (`docs/parity.md` says by how much).
    Fast,
}

/// The policy for a label that cannot be right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnBadLabel {
    /// The data set is not opened; the error says how many there are and quotes the first.
    #[default]
    Fail,
    /// The object is left out, its image is kept.
    SkipObject,
    /// The image is left out with all its objects. Images after it move up by one index.
    SkipImage,
}
