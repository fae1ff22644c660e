//! What a loader is to do, said option by option and checked as a whole.

use super::batch::labels::LabelRules;
use super::cache::bytes;
use super::cache::decode_index::DecodeIndexes;
use super::epoch::batch_size::{Sizes, SizesAsked};
use super::epoch::sampling::Sampling;
use super::planner::Planner;
use super::queue::buffers::checked_bytes;
use super::report::errors::Report;
use super::report::stats::Meters;
use super::validate;
use super::worker::context::Context;
use super::worker::process::Process;
use super::worker::{self, MAX_WORKERS, PoolOptions};
use super::{Loader, Setup};
use crate::augment::Augment;
use crate::color::Normalize;
use crate::device::Device;
use crate::device::backend::BackendOptions;
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::image::Limits;
use crate::index::{DEFAULT_BUDGET, IndexMode};
use crate::output::{DType, Layout, Output};
use crate::policy::{BadSample, DecodeScale, LastBatch};
use crate::source::Source;
use std::sync::{Mutex, OnceLock};

/// Slots besides the prefetched batches: one with the consumer, one being filled.
pub const SLOTS_BESIDE: usize = 2;
/// Batches made ahead unless [`LoaderBuilder::prefetch`] is given: how many at the start, and at most.
pub const AUTO_PREFETCH: (usize, usize) = (2, 4);
/// Page-locked memory unless [`LoaderBuilder::pinned_memory`] is given.
const PINNED_BYTES: usize = 1 << 30;
/// Decoded images that are kept unless [`LoaderBuilder::image_cache`] is given.
const IMAGE_CACHE_BYTES: usize = 256 << 20;
/// Longest prefetch.
const MAX_PREFETCH: usize = 64;
/// Most rows of a batch.
const MAX_BATCH_ROWS: usize = 1 << 20;

/// Builds a [`Loader`]; every option has a default.
#[must_use = "a builder does nothing until build() is called"]
pub struct LoaderBuilder {
    pub(super) source: Box<dyn Source>,
    pub(super) augments: Vec<Box<dyn Augment>>,
    pub(super) setup: Setup,
    pub(super) sampling: Sampling,
    pub(super) sizes: SizesAsked,
    pub(super) labels: LabelRules,
    pub(super) partner_window: u64,
    pub(super) close_mosaic: Option<u64>,
    image_cache: usize,
    pub(super) byte_cache: u64,
    workers: Option<usize>,
    prefetch: Option<usize>,
    bad: BadSample,
    limits: Limits,
    exif: bool,
    scale: DecodeScale,
    device: Device,
    normalize: Option<Normalize>,
    format: (DType, Layout),
    output_size: Option<Size>,
    pub(super) decode_only: bool,
    index: (IndexMode, usize),
    device_memory: Option<u64>,
    pinned_memory: usize,
    low_priority: bool,
}

impl LoaderBuilder {
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        Self {
            source,
            augments: Vec::new(),
            setup: Setup {
                batch_size: 1,
                seed: 0,
                last: LastBatch::default(),
                max_failures: None,
                rank: 0,
                world_size: 1,
                block: 1,
            },
            sampling: Sampling::default(),
            sizes: SizesAsked::default(),
            labels: LabelRules::default(),
            partner_window: 128,
            close_mosaic: None,
            image_cache: IMAGE_CACHE_BYTES,
            byte_cache: 0,
            workers: None,
            prefetch: None,
            bad: BadSample::default(),
            limits: Limits::default(),
            exif: true,
            scale: DecodeScale::default(),
            device: Device::Cpu,
            normalize: None,
            format: Default::default(),
            output_size: None,
            decode_only: false,
            index: (IndexMode::default(), DEFAULT_BUDGET),
            device_memory: None,
            pinned_memory: PINNED_BYTES,
            low_priority: false,
        }
    }

    /// Rows of a batch (default 1).
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.setup.batch_size = rows;
        self
    }

    /// What all dice and orders depend on (default 0).
    pub fn seed(mut self, seed: u64) -> Self {
        self.setup.seed = seed;
        self
    }

    /// Adds an augmentation behind those already there.
    pub fn augment(self, augment: impl Augment + 'static) -> Self {
        self.augment_boxed(Box::new(augment))
    }

    /// Adds an augmentation whose type is chosen at run time.
    pub fn augment_boxed(mut self, augment: Box<dyn Augment>) -> Self {
        self.augments.push(augment);
        self
    }

    /// (x / 255 - mean) / std a channel, for float output (default: x / 255).
    pub fn normalize(mut self, mean: [f64; 3], std: [f64; 3]) -> Self {
        self.normalize = Some(Normalize { mean, std });
        self
    }

    /// Number format and order of axes (default f32, NCHW).
    pub fn output(mut self, dtype: DType, layout: Layout) -> Self {
        self.format = (dtype, layout);
        self
    }

    /// The size of every sample (default: what the augmentations end at); of the usual one, where batches differ in size.
    pub fn output_size(mut self, size: Size) -> Self {
        self.output_size = Some(size);
        self
    }

    /// Where pixels are made (default: the CPU).
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Worker threads, 1 to 64 (default: one a core, and more, up to four a core, where reading is the limit).
    pub fn workers(mut self, threads: usize) -> Self {
        self.workers = Some(threads);
        self
    }

    /// Batches made ahead, 1 to 64 (default: 2, and up to 4 where the consumer's waits are irregular).
    ///
    /// Memory for two more batches than this is reserved at the start and used as needed.
    pub fn prefetch(mut self, batches: usize) -> Self {
        self.prefetch = Some(batches);
        self
    }

    /// What becomes of a last batch that is not full (default: dropped).
    pub fn last_batch(mut self, last: LastBatch) -> Self {
        self.setup.last = last;
        self
    }

    /// What becomes of bad samples (default: the epoch fails).
    pub fn bad_sample(mut self, bad: BadSample) -> Self {
        self.bad = bad;
        self
    }

    /// Bad samples that an epoch may have before it fails all the same (default: any number).
    pub fn max_failures(mut self, failures: u64) -> Self {
        self.setup.max_failures = Some(failures);
        self
    }

    /// What a file may ask of the decoder.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether images are turned as their EXIF orientation asks (default yes).
    pub fn exif(mut self, apply: bool) -> Self {
        self.exif = apply;
        self
    }

    /// Whether large JPEGs may be decoded at a fraction of their size where the augmentations shrink them anyway
    /// (default [`DecodeScale::Exact`]: no, since it changes pixels).
    pub fn decode_scale(mut self, scale: DecodeScale) -> Self {
        self.scale = scale;
        self
    }

    /// Most bytes of decoded images that are kept for other samples of the window, where augmentations mix samples
    /// (default 256 MiB; 0 keeps none, so that each sample decodes its partners itself). On a GPU they are bytes of its
    /// memory, besides [`LoaderBuilder::device_memory`].
    ///
    /// A window of 128 photographs of 640x480 pixels takes 118 MB (134 MB on a GPU), and two windows meet where one ends.
    pub fn image_cache(mut self, bytes: usize) -> Self {
        self.image_cache = bytes;
        self
    }

    /// Decodes every image whole and renders nothing: batches carry labels and no pixels. For benchmarks.
    pub fn decode_only(mut self) -> Self {
        self.decode_only = true;
        self
    }

    /// Where decode indexes are kept, which let a crop be decoded from its own first row (default: in memory).
    ///
    /// They save time from the second look at a file on, and never change a result.
    pub fn decode_index(mut self, mode: IndexMode) -> Self {
        self.index.0 = mode;
        self
    }

    /// Most bytes that decode indexes may take (default [`DEFAULT_BUDGET`]).
    pub fn index_budget(mut self, bytes: usize) -> Self {
        self.index.1 = bytes;
        self
    }

    /// Most bytes of a GPU's memory for decoded images and scratch, the batches apart (default: a quarter of what is
    /// free, at least 4 MiB). A batch that needs more is made in parts.
    pub fn device_memory(mut self, bytes: u64) -> Self {
        self.device_memory = Some(bytes);
        self
    }

    /// Most bytes of page-locked host memory, all batches together, for files on their way to a GPU (default 1 GiB).
    /// What is beyond lies in ordinary memory, which is copied more slowly.
    pub fn pinned_memory(mut self, bytes: usize) -> Self {
        self.pinned_memory = bytes;
        self
    }

    /// Whether the loader's kernels run at the lowest priority that a GPU has (default no). On most GPUs that is what
    /// streams have anyway: the trainer goes ahead where it makes its own streams with a higher one.
    pub fn low_priority(mut self, low: bool) -> Self {
        self.low_priority = low;
        self
    }

    /// Checks the whole, plans made-up samples, and reserves the memory.
    ///
    /// # Errors
    /// [`Error::Config`] with the remedy, for whatever could not work in any epoch.
    pub fn build(mut self) -> Result<Loader> {
        let sampler = self.sampler()?;
        self.check(sampler.len())?;
        self.check_sizes(&sampler)?;
        let backend = self.backend_options();
        let planner = Planner {
            augments: self.augments,
            seed: self.setup.seed,
            partner_window: self.partner_window,
            close_mosaic: self.close_mosaic,
            bare: self.decode_only,
        };
        planner.check_partners()?;
        let setup = Setup { block: planner.block(), ..self.setup };
        let (sampler, output, sizes) = match self.decode_only {
            true => (sampler, None, Sizes::none()),
            false => {
                let size = validate::output_size(&planner, self.output_size)?;
                let (sampler, sizes) = self.sizes.settle(size, sampler, &*self.source, self.exif)?;
                sizes
                    .examples()
                    .into_iter()
                    .try_for_each(|target| validate::check_target(&planner, target))?;
                let (dtype, layout) = self.format;
                (sampler, Some(Output { size, dtype, layout, normalize: self.normalize }), sizes)
            }
        };
        let largest = output.map(|output| output.of_size(sizes.largest()));
        let (allowed, reserved) = match self.prefetch {
            Some(batches) => (batches, batches),
            None => AUTO_PREFETCH,
        };
        let rows = self.setup.batch_size;
        let row_bytes =
            largest.map_or(Ok(0), |output| checked_bytes(&output, rows, reserved + SLOTS_BESIDE))?;
        let reserved = reserved + SLOTS_BESIDE;
        // A smaller transform is chosen for one plan, so its images cannot be shared.
        let shares = planner.block() > 1 && self.scale == DecodeScale::Exact;
        let image_cache = if shares { self.image_cache } else { 0 };
        let backend = BackendOptions { row_bytes, image_cache, ..backend };
        let (workers, auto_prefetch) = (self.workers, self.prefetch.is_none());
        let pool = PoolOptions { workers, buffers: allowed + SLOTS_BESIDE, reserved, auto_prefetch };
        let (mode, budget) = self.index;
        let decode_indexes = DecodeIndexes::new(mode, budget, &*self.source);
        let context = Context {
            decode_indexes,
            source: bytes::around(self.source, self.byte_cache),
            planner,
            sampler,
            fingerprints: OnceLock::new(),
            output,
            sizes_asked: self.sizes,
            sizes,
            limits: self.limits,
            exif: self.exif,
            scale: self.scale,
            bad: self.bad,
            labels: self.labels,
            meters: Meters::new(),
            report: Mutex::new(Report::default()),
            process: Process::this(),
        };
        Ok(Loader { pipeline: worker::open(self.device, backend, pool, context)?, setup })
    }

    /// Without what follows from the augmentations.
    fn backend_options(&self) -> BackendOptions {
        BackendOptions {
            rows: self.setup.batch_size,
            row_bytes: 0,
            limits: self.limits.clone(),
            scale: self.scale,
            image_cache: 0,
            device_memory: self.device_memory,
            pinned: self.pinned_memory / (self.prefetch.unwrap_or(AUTO_PREFETCH.1) + SLOTS_BESIDE),
            low_priority: self.low_priority,
        }
    }

    /// `samples` are those of an epoch.
    fn check(&self, samples: u64) -> Result<()> {
        let Setup { batch_size, .. } = self.setup;
        let in_range =
            |count: Option<usize>, most: usize| count.is_none_or(|count| (1..=most).contains(&count));
        if samples == 0 {
            return Err(Error::config("the source has no samples: check its path and what it filters out"));
        }
        if !(1..=MAX_BATCH_ROWS).contains(&batch_size) {
            return Err(Error::config(format!(
                "batch_size is {batch_size}, and may be 1 to {MAX_BATCH_ROWS}: use a larger or a smaller batch_size"
            )));
        }
        self.augments.iter().try_for_each(|augment| augment.check())?;
        self.check_ranks(samples)?;
        self.labels.check()?;
        if !in_range(self.workers, MAX_WORKERS) {
            return Err(Error::config(format!(
                "workers must be in 1..={MAX_WORKERS}: leave it out for automatic"
            )));
        }
        if !in_range(self.prefetch, MAX_PREFETCH) {
            return Err(Error::config(format!(
                "prefetch must be in 1..={MAX_PREFETCH}: leave it out for automatic"
            )));
        }
        if self.partner_window == 0 {
            return Err(Error::config("partner_window is 0: a window needs at least one position"));
        }
        if self.scale != DecodeScale::Exact && self.device != Device::Cpu {
            return Err(Error::config(
                "decode_scale is for the CPU device, and this loader decodes on a GPU: leave it exact",
            ));
        }
        self.check_output()
    }

    fn check_output(&self) -> Result<()> {
        let (dtype, layout) = self.format;
        Output { size: Size::default(), dtype, layout, normalize: self.normalize }.check()?;
        if self.normalize.is_none_or(|normalize| normalize.is_sound()) {
            return Ok(());
        }
        Err(Error::config("normalize: every mean must be finite and every std greater than 0"))
    }
}
