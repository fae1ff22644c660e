//! Finds the decode indexes of a whole data set ahead of training.

use super::{BadSample, LastBatch, Loader, Report};
use crate::augment::Augment;
use crate::draft::{Draft, op::Op};
use crate::error::Result;
use crate::index::IndexMode;
use crate::output::{DType, Layout};
use crate::rng::Draws;
use crate::source::Source;
use std::path::Path;

/// Bytes that the indexes of one data set may take while they are built: enough for 7 million photographs of ImageNet's
/// size, or 190,000 camera originals.
const BUDGET: usize = 16 << 30;
const ROWS: usize = 32;

/// What [`build_index`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltIndex {
    /// Samples that were looked at.
    pub samples: usize,
    /// Images with an index; progressive JPEGs and other formats have none.
    pub images: usize,
    /// Bytes of the indexes in memory.
    pub bytes: usize,
    /// Files that cannot be read.
    pub report: Report,
}

/// Reads every file of `source` down to its last row and writes the decode indexes to the sidecar file `path`, for
/// [`IndexMode::File`]. What a sidecar at `path` already holds is checked and kept.
///
/// Works on all cores, or on `workers` threads. `progress` is told after each batch how many samples are done.
///
/// # Errors
/// [`Config`](crate::error::Error::Config) for a source without samples or a `path` that names a file of another
/// kind, and [`Io`](crate::error::Error::Io) where the sidecar cannot be written. Bad files are in the report.
pub fn build_index(
    source: impl Source + 'static,
    path: &Path,
    workers: Option<usize>,
    progress: &mut dyn FnMut(usize),
) -> Result<BuiltIndex> {
    let builder = Loader::builder(source)
        .batch_size(ROWS)
        .last_batch(LastBatch::Partial)
        .bad_sample(BadSample::Skip)
        .exif(false)
        .augment(LastPixel)
        .output(DType::U8, Layout::Nhwc)
        .decode_index(IndexMode::File(path.to_owned()))
        .index_budget(BUDGET);
    let loader = match workers {
        Some(threads) => builder.workers(threads),
        None => builder,
    }
    .build()?;
    let samples = loader.samples();
    for (number, batch) in loader.epoch(0).enumerate() {
        batch?;
        progress(samples.min((number + 1) * ROWS));
    }
    loader.save_index()?;
    let stats = loader.stats().index;
    Ok(BuiltIndex { samples, images: stats.images, bytes: stats.bytes, report: loader.report() })
}

/// Asks for the last stored pixel, which makes the decoder pass every row and transform next to nothing.
struct LastPixel;

impl Augment for LastPixel {
    fn name(&self) -> &'static str {
        "LastPixel"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let size = draft.size();
        let (top, left) = (size.height.saturating_sub(1) as i32, size.width.saturating_sub(1) as i32);
        draft.apply(Op::Crop { top, left, height: 1, width: 1 });
    }
}
