//! What a loader is to do, said option by option.

mod build;

use super::epoch::ranks;
use super::report::clock::Clock;
use super::report::trace::Trace;
use crate::augment::Augment;
use crate::augment::View;
use crate::device::Device;
use crate::draft::op::Extent;
use crate::error::Result;
use crate::geometry::Size;
use crate::image::Limits;
use crate::index::IndexMode;
use crate::label::{BoxFormat, Unit};
use crate::options::{Bytes, DeviceWord, Distributed, Listed, NormalizeOptions, Options};
use crate::output::{DType, Layout, MultiScale, RectBatches};
use crate::policy::{BadSample, DecodeScale, DecoderChoice, LastBatch, WorkerPriority};
use crate::recipe::Recipe;
use crate::sampler::Shuffle;
use crate::source::Source;

/// Slots besides the prefetched batches: one with the consumer, one being filled.
pub const SLOTS_BESIDE: usize = 2;
/// Batches made ahead unless [`LoaderBuilder::prefetch`] is given: how many at the start, and at most.
pub const AUTO_PREFETCH: (usize, usize) = (2, 4);

/// Builds a [`super::Loader`]; every option has a default.
///
/// A method sets the option of its name in [`Options`], where all of them stand with their defaults; those without a
/// method are set by [`LoaderBuilder::options`].
#[must_use = "a builder does nothing until build() is called"]
pub struct LoaderBuilder {
    source: Box<dyn Source>,
    augments: Vec<Box<dyn Augment>>,
    views: Vec<View>,
    options: Options,
    /// What [`Options::device`] names, where it was opened by the caller.
    device: Option<Device>,
    clock: Clock,
    trace: Option<Trace>,
}

/// Declares methods that each set one option to a value.
macro_rules! options {
    ($($(#[doc = $doc:literal])+ $method:ident($argument:ident: $type:ty) => $section:ident.$key:ident = $value:expr;)+) => {$(
        $(#[doc = $doc])+
        pub fn $method(mut self, $argument: $type) -> Self {
            self.options.$section.$key = Some($value);
            self
        }
    )+};
}

impl LoaderBuilder {
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        Self {
            source,
            augments: Vec::new(),
            views: Vec::new(),
            options: Options::default(),
            device: None,
            clock: Clock::MACHINE,
            trace: None,
        }
    }

    /// Takes over everything that `options` say; what they leave out stays as it is. The source is there already, so that
    /// those of `[data]` have no meaning here, but that a `mask_dir` asks for masks; [`super::Loader::open`] opens it from them.
    pub fn options(mut self, options: &Options) -> Self {
        if options.device.name.is_some() {
            self.device = None;
        }
        self.options = options.clone().over(self.options);
        self
    }

    /// [`LoaderBuilder::options`] of the recipe, and its augmentations and views after those already there.
    pub fn recipe(self, recipe: &Recipe) -> Self {
        let builder =
            recipe.augmentations().into_iter().fold(self.options(&recipe.options), Self::augment_boxed);
        recipe.views.iter().cloned().fold(builder, Self::view)
    }

    options! {
        /// Rows of a batch (default 1).
        batch_size(rows: usize) => loader.batch_size = rows;
    }

    /// What statistics are measured by, and by them the number of workers and of batches; for tests.
    #[doc(hidden)]
    pub fn clock(mut self, now: fn() -> std::time::Instant) -> Self {
        self.clock = Clock(now);
        self
    }

    /// Records what each thread does when, into `trace`.
    pub fn trace(mut self, trace: &Trace) -> Self {
        self.trace = Some(trace.clone());
        self
    }

    options! {
        /// What all random numbers and orders depend on (default 0).
        seed(seed: u64) => loader.seed = seed;
    }

    /// Adds an augmentation after those already there.
    pub fn augment(self, augment: impl Augment + 'static) -> Self {
        self.augment_boxed(Box::new(augment))
    }

    /// Adds an augmentation whose type is chosen at run time.
    pub fn augment_boxed(mut self, augment: Box<dyn Augment>) -> Self {
        self.augments.push(augment);
        self
    }

    /// Adds a view after those already there: an output of each sample with a size and transforms of its own, which follow
    /// the augmentations above. Without any, a sample has one view. See [`View`].
    pub fn view(mut self, view: View) -> Self {
        self.views.push(view);
        self
    }

    /// (x / 255 - mean) / std for each channel, for float output (default: x / 255).
    pub fn normalize(mut self, mean: [f64; 3], std: [f64; 3]) -> Self {
        self.options.normalize = NormalizeOptions { preset: None, mean: Some(mean), std: Some(std) };
        self
    }

    /// Number format and order of axes (default f32, NCHW).
    pub fn output(mut self, dtype: DType, layout: Layout) -> Self {
        (self.options.output.dtype, self.options.output.layout) = (Some(dtype), Some(layout));
        self
    }

    options! {
        /// The size of every sample (default: what the augmentations end at); of the usual one, where batches differ in size.
        output_size(size: Size) => output.size = Extent::Two([size.height, size.width]);
    }

    /// Where pixels are made (default: the CPU).
    pub fn device(mut self, device: Device) -> Self {
        self.options.device.name = Some(match device {
            Device::Cpu => DeviceWord::Cpu,
            Device::Cuda { ordinal } => DeviceWord::Cuda(Some(ordinal)),
        });
        self.device = Some(device);
        self
    }

    options! {
        /// Worker threads, 1 to 512 (default: one for each core, and more, up to four, where reading is the limit).
        workers(threads: usize) => loader.workers = threads;

        /// The scheduling priority of worker threads (default: that of all others). No result depends on it.
        worker_priority(priority: WorkerPriority) => loader.worker_priority = priority;

        /// Batches made ahead, 1 to 64 (default: 2, and up to 4 where the consumer's waits are irregular).
        ///
        /// Memory for two more batches than this is reserved at the start and used as needed.
        prefetch(batches: usize) => loader.prefetch = batches;

        /// What becomes of a last batch that is not full (default: dropped).
        last_batch(last: LastBatch) => loader.last_batch = last;

        /// What becomes of bad samples (default: the epoch fails).
        bad_sample(bad: BadSample) => loader.bad_sample = bad;

        /// Bad samples that an epoch may have before it fails all the same (default: any number).
        max_failures(failures: u64) => loader.max_failures = failures;
    }

    /// A new order every epoch (default: the source's order): `true` or [`Shuffle::Full`] for any order, or
    /// [`Shuffle::Window`] or [`Shuffle::Shards`] for one that keeps runs of samples together, where reading in
    /// order is faster.
    pub fn shuffle(mut self, shuffle: impl Into<Shuffle>) -> Self {
        let loader = &mut self.options.loader;
        (loader.shuffle, loader.shuffle_window, loader.shuffle_shards) = match shuffle.into() {
            Shuffle::Off => (Some(false), None, None),
            Shuffle::Full => (Some(true), None, None),
            Shuffle::Window(samples) => (None, Some(samples), None),
            Shuffle::Shards(shards) => (None, None, Some(shards)),
        };
        self
    }

    options! {
        /// Shows only the samples with these indices in the source; without shuffle in this order. They keep their plans, partners
        /// apart.
        ///
        /// An index may be given several times, as for oversampling: an epoch is as long as the list, the ranks share its
        /// entries, and each time the sample is augmented anew. Then plans depend on the position in the epoch as well, as
        /// with [`LoaderBuilder::weights`].
        subset(indices: impl IntoIterator<Item = u64>) => loader.subset = Listed::List(indices.into_iter().collect());

        /// Draws an epoch's samples with replacement, each with a chance in proportion to its weight: one weight for each
        /// sample of the source, or of the subset in its order. An epoch is as long as before, and drawn anew from seed and
        /// epoch; a sample that comes twice is augmented twice. Shuffle has no meaning then.
        weights(weights: &[f64]) => loader.weights = Listed::List(weights.to_vec());

        /// Shows each sample of the order `times` times, each time augmented anew (default 1): repeated augmentation, as the
        /// samplers of DeiT, timm and torchvision's reference scripts do it with 3.
        ///
        /// The copies stand next to each other in the order, so that rank r of k, which takes the positions r, r + k, ...,
        /// mostly has one of them; where an augmentation mixes samples they stand a partner window apart, and windows go to
        /// different ranks. With n samples an epoch has n / 256 * 256 rows (n where there are fewer than 256), each rank the
        /// same number of them, and so shows about n / `times` of the samples.
        repeats(times: u64) => loader.repeats = times;

        /// Consecutive positions of the epoch's order that partners are drawn from (default 128).
        partner_window(positions: u64) => loader.partner_window = positions;

        /// From epoch `epoch` on, counted from 0, leaves out the augmentations that take several samples: mosaics, mixes and
        /// copy-paste (default: never). Ultralytics' `close_mosaic` does so too, and counts epochs from the end: its 10 of 100
        /// epochs is 90 here.
        mixing_off_epoch(epoch: u64) => loader.mixing_off_epoch = epoch;

        /// [`LoaderBuilder::mixing_off_epoch`] by its other name.
        close_mosaic(epoch: u64) => loader.mixing_off_epoch = epoch;
    }

    /// Makes the loader rank `rank` of `world_size` (default 0 of 1): together the ranks show each sample of an epoch
    /// once, and each rank makes the same number of batches of the same sizes.
    ///
    /// Rank r of k takes the positions r, r + k, ... of the epoch's order. Where an augmentation mixes samples, whole
    /// partner windows go round the ranks instead, and what is left for an incomplete round is dealt one by one. What
    /// happens to a sample depends on neither number.
    ///
    /// The samples do not always divide evenly; see [`LastBatch`] for what becomes of the remainder.
    pub fn rank(mut self, rank: usize, world_size: usize) -> Self {
        let loader = &mut self.options.loader;
        (loader.rank, loader.world_size, loader.distributed) = (Some(rank), Some(world_size), None);
        self
    }

    /// [`LoaderBuilder::rank`] with what the environment says in `RANK` and `WORLD_SIZE`, as torchrun and most other
    /// launchers set them; rank 0 of 1 where both are missing. A device that the options name as `cuda` or `auto` is the GPU
    /// of `LOCAL_RANK`.
    ///
    /// # Errors
    /// [`Config`](crate::error::Error::Config) where only one of the two is set, or one is no number.
    pub fn distributed_from_env(mut self) -> Result<Self> {
        ranks::of_environment()?;
        let loader = &mut self.options.loader;
        (loader.rank, loader.world_size, loader.distributed) = (None, None, Some(Distributed::Env));
        Ok(self)
    }

    /// Shapes each batch as its images are (Ultralytics' `rect = True`, for validation), or not (`None`, the default): see
    /// [`RectBatches`]. The output's size must be a square; images come in the order of height / width, and an
    /// augmentation whose size is the output's makes that of the batch instead.
    ///
    /// The batches of one step have one size on all ranks, which follows from what is shown in all of them; rows that only
    /// fill a batch up do not count. So the pixels of a sample depend on the batch size and the number of ranks here.
    ///
    /// [`LoaderBuilder::build`] reads every file once for its header, in one thread: a pass over the data set without
    /// decoding, as long as the storage takes for it. A file without a header counts as square, and is a bad sample when
    /// its batch comes. Each sample takes 16 bytes of memory.
    pub fn rect(mut self, rect: impl Into<Option<RectBatches>>) -> Self {
        let loader = &mut self.options.loader;
        match rect.into() {
            Some(RectBatches { stride, pad }) => {
                (loader.rect, loader.rect_pad, loader.stride) = (Some(true), Some(pad), Some(stride));
            }
            None => {
                (loader.rect, loader.rect_pad) = (Some(false), None);
                loader.stride = loader.stride.filter(|_| loader.multi_scale.is_some());
            }
        }
        self
    }

    /// Draws the size of each batch (multi-scale training), or not (`None`, the default): see [`MultiScale`]. An
    /// augmentation whose size is the output's makes that of the batch instead, a `Mosaic` with tiles of its longer edge.
    ///
    /// A size is drawn by the seed, the epoch and the number of samples that all ranks were dealt in the epoch before: the
    /// ranks of a step have the same, and a run that is resumed goes on as it would have. It belongs to a batch, so the
    /// pixels of a sample depend on the batch size and the number of ranks here; what is drawn for a sample does not.
    ///
    /// Memory is reserved for batches of the largest size.
    pub fn multi_scale(mut self, multi_scale: impl Into<Option<MultiScale>>) -> Self {
        let loader = &mut self.options.loader;
        (loader.multi_scale, loader.sizes) = (None, None);
        loader.stride = loader.stride.filter(|_| loader.rect());
        match multi_scale.into() {
            Some(MultiScale::Around { by, stride }) => {
                loader.multi_scale = Some(by);
                // Nothing reads it where no size is drawn.
                loader.stride = if by == 0.0 { loader.stride } else { Some(stride) };
            }
            Some(MultiScale::Sizes(sizes)) => {
                let sizes = sizes.into_iter().map(|size| Extent::Two([size.height, size.width]));
                loader.sizes = Some(sizes.collect());
            }
            None => {}
        }
        self
    }

    options! {
        /// Lets each sample keep the size that its augmentations end at, which must not exceed [`LoaderBuilder::output_size`]; a
        /// batch is as large as its largest sample, rounded up to the option `stride`, and the others are padded at the right
        /// and at the bottom with what is 0 after normalise (default no). This is how DETR trains.
        ///
        /// [`super::Batch::padding`] says which pixels are padding, and [`super::Batch::sizes`] how large each sample is; boxes as
        /// parts are parts of the sample. [`LoaderBuilder::build`] reads every file once for its header, with as many threads as
        /// there are cores. Memory is reserved for batches of the output's size.
        pad_to_largest(pads: bool) => loader.pad_to_largest = pads;
    }

    /// How the boxes of a batch say where they are, and what their coordinates are counted in (default: left, top,
    /// right and bottom in pixels of the sample). The unit is that of polygons and keypoints as well.
    pub fn boxes(mut self, format: BoxFormat, unit: Unit) -> Self {
        (self.options.labels.format, self.options.labels.unit) = (Some(format), Some(unit));
        self
    }

    /// Drops objects whose box is smaller than `min_area` pixels at the end, or of which less than the part
    /// `min_visibility` is left of what it would be if no canvas had cut it: the two numbers of Albumentations'
    /// `BboxParams` (default 0 and 0). Boxes without area are always dropped.
    ///
    /// `YoloPerspective` counts anew: what a mosaic cut off a box before is not missed. A box that it derives from
    /// outlines is compared with the box around its turned corners.
    pub fn box_filter(mut self, min_area: f64, min_visibility: f64) -> Self {
        let labels = &mut self.options.labels;
        (labels.min_area, labels.min_visibility) = (Some(min_area), Some(min_visibility));
        self
    }

    options! {
        /// Asks for semantic masks, which move with the pixels, nearest neighbour by nearest neighbour: [`super::Batch::masks`].
        /// What shows no image, and a sample without a mask, has the class `fill`; 255 is what most losses are told to ignore.
        masks(fill: u8) => labels.mask_fill = fill;
    }

    /// What a file may ask of the decoder.
    pub fn limits(mut self, limits: Limits) -> Self {
        let decode = &mut self.options.decode;
        (decode.max_pixels, decode.max_scans) = (Some(limits.max_pixels), Some(limits.max_scans));
        (decode.damaged, decode.tolerate_truncated) = (Some(limits.damaged), None);
        self
    }

    options! {
        /// Whether images are turned as their EXIF orientation asks (default yes).
        exif(apply: bool) => decode.exif = apply;

        /// Whether large JPEGs may be decoded at a fraction of their size where the augmentations shrink them anyway
        /// (default [`DecodeScale::Exact`]: no, since it changes pixels).
        decode_scale(scale: DecodeScale) => decode.scale = scale;

        /// What decodes JPEGs where a GPU makes the batches (default [`DecoderChoice::Auto`]: feedline's own
        /// decoder, for files of coefficients as well, whose pixels are those of the CPU device). What the chosen
        /// decoder does not take, the CPU decodes.
        decoder(decoder: DecoderChoice) => decode.decoder = decoder;

        /// Whether what a GPU's decoders write is verified (default true): that they do write, and for about one image in
        /// 4000 that it is what the CPU decodes. `Stats::decoders` says what was found.
        verify_decoding(verify: bool) => decode.verify = verify;

        /// Maximum bytes of decoded images that are kept for other samples of the window, where augmentations mix samples
        /// (default 256 MiB; 0 keeps none, so that each sample decodes its partners itself). On a GPU they are bytes of its
        /// memory, besides [`LoaderBuilder::device_memory`], and are reserved when the loader is built: whole steps of 2 MiB,
        /// as its driver hands them out.
        ///
        /// A window of 128 photographs of 640x480 pixels takes 118 MB, and two windows meet where one ends.
        image_cache(bytes: usize) => loader.image_cache = Bytes(bytes as u64);

        /// Maximum bytes of compressed files that are kept in memory from their first read on (default 0: none, since local
        /// files are in the system's own cache anyway). What came first stays, as [`crate::source::Cached`] says; hits and misses are in
        /// [`super::Stats::io`].
        byte_cache(bytes: u64) => loader.byte_cache = Bytes(bytes);
    }

    /// Decodes every image whole and renders nothing: batches carry labels and no pixels. For benchmarks.
    pub fn decode_only(mut self) -> Self {
        self.options.output.decode_only = Some(true);
        self
    }

    options! {
        /// Where decode indexes are kept, which let a crop be decoded from its own first row (default: in memory).
        ///
        /// They save time from the second look at a file on, and never change a result.
        decode_index(mode: IndexMode) => decode.index = mode;

        /// Maximum bytes that decode indexes may take (default [`crate::index::DEFAULT_BUDGET`]).
        index_budget(bytes: usize) => decode.index_budget = Bytes(bytes as u64);

        /// Maximum bytes of a GPU's memory for decoded images and scratch, the batches apart (default: a quarter of what is
        /// free, at least 8 MiB). A batch that needs more is made in parts.
        device_memory(bytes: u64) => device.memory = Bytes(bytes);

        /// Maximum bytes of page-locked host memory, all batches together, for files on their way to a GPU (default 1 GiB).
        /// What is beyond lies in ordinary memory, which is copied more slowly.
        pinned_memory(bytes: usize) => device.pinned_memory = Bytes(bytes as u64);

        /// Whether batches in the host's memory are page-locked, for copies to a GPU that run beside other work (default no). Where
        /// that cannot be done they lie in ordinary memory, and [`crate::loader::Loader::unpinned`] says why.
        pin_memory(pin: bool) => device.pin_memory = pin;

        /// Whether the loader's kernels run at the lowest priority that a GPU has (default no). On most GPUs that is what
        /// streams have anyway: the trainer goes ahead where it makes its own streams with a higher one.
        low_priority(low: bool) => device.low_priority = low;
    }
}
