//! What becomes of a last batch that is not full, of samples and labels that cannot be used, and of pixels that are not
//! needed.

use serde::{Deserialize, Serialize};

/// What becomes of the samples that do not fill the last batch, or not all ranks' last batches.
///
/// With several ranks every rank makes the same number of batches, and the batches of one step have the same number of
/// rows on all ranks. A rank that runs out of samples one ahead of the others repeats one, marked as padded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastBatch {
    /// They are left out of this epoch; every batch is full. At most batch size times ranks less one are left out.
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

/// What images are decoded to where a chain makes them smaller anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecodeScale {
    /// All their pixels: the results are those of torchvision.
    #[default]
    Exact,
    /// A half, a quarter or an eighth of their width and height, if that is still at least the size asked for. JPEGs
    /// only; the pixels change a little (`docs/parity.md` says by how much).
    Fast,
}

/// What becomes of a label that cannot be right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnBadLabel {
    /// The data set is not opened; the error says how many there are and quotes the first.
    #[default]
    Fail,
    /// The object is left out, its image is kept.
    SkipObject,
    /// The image is left out with all its objects. Images behind it move up by one index.
    SkipImage,
}
