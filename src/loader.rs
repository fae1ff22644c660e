//! The loader: the only place with threads and queues.
//!
//! Workers take the samples of an epoch in order, one row each, and carry it through four stages: read, plan, decode,
//! render. Batches are delivered in order. What happens to a sample depends on seed, epoch, order and window; never on
//! the number of workers, the prefetch, the batch size, the rank or the number of ranks. Only where batches are asked to
//! differ in size does a sample have the size of its batch.

mod batch;
mod build_index;
mod builder;
mod companions;
mod decode_index;
mod epoch;
mod parallel_map;
mod planner;
mod promises;
mod queue;
mod report;
mod shared_cache;
mod spread;
mod stored_pixels;
mod upright;
mod validate;
mod worker;

pub use crate::policy::{BadSample, LastBatch, WorkerPriority};
pub use crate::sampler::Shuffle;
#[cfg(feature = "tch")]
pub(crate) use batch::ViewArrays;
pub use batch::fields::BatchField;
pub use batch::instances::{MaskPlanes, ObjectMasks};
pub use batch::objects::BatchObjects;
#[cfg(feature = "tch")]
pub(crate) use batch::one_hot::one_hot;
pub use batch::{Batch, BatchPixels, BatchView, ObjectMaskPixels};
pub use build_index::{BuiltIndex, build_index};
pub use builder::{AUTO_PREFETCH, LoaderBuilder, SLOTS_BESIDE};
pub use epoch::Epoch;
#[cfg(feature = "pack")]
pub(crate) use epoch::fingerprint::of_source as fingerprint;
pub use epoch::resume::{STATE_VERSION, State};
pub(crate) use parallel_map::parallel_map;
pub use planner::{Choice, Planned, PlannedPartner};
pub use report::errors::{BadFile, DamagedFile, Report, Stage, Status};
pub use report::prometheus::prometheus;
pub use report::stats::{Limit, Stats};
pub use report::timing::{Histogram, Timing};
pub use report::trace::Trace;
pub(crate) use spread::spread;
pub(crate) use stored_pixels::stored_pixels;
#[cfg(feature = "pack")]
pub(crate) use upright::Upright;
pub(crate) use worker::cores;

use crate::device::Device;
use crate::device::backend::BackendUsage;
use crate::device::pinning::Pinning;
use crate::error::{Error, Result, ensure};
use crate::options::Options;
use crate::output::Output;
use crate::plan::Plan;
use crate::plan::label_apply::TransformedObject;
use crate::recipe::Recipe;
use crate::sampler::{Order, RankPartition};
use crate::source::{self, Note, Source};
use companions::Companion;
use epoch::plan::EpochPlan;
use epoch::resume;
use planner::SampleContext;
use report::errors::Failure;
use std::sync::Arc;
use worker::context::Context;
use worker::files::SampleFiles;
use worker::pictures::{Drawer, KnownImages};
use worker::pipeline::Pipeline;

/// Delivers the batches of any epoch; made by [`Loader::builder`].
///
/// Worker threads start with the first epoch and stay until the loader and its epochs are dropped.
pub struct Loader {
    pipeline: Arc<dyn Pipeline>,
    setup: Setup,
    options: Options,
    /// What page-locks batches, where that was asked for.
    pinning: Option<Result<Pinning>>,
}

/// The device that a loader with these options works on: `cuda` and `auto` mean the GPU of `LOCAL_RANK` where
/// `distributed = "env"` is set, and else the first.
///
/// # Errors
/// Those of [`Device::open`], and [`Error::Config`] where `LOCAL_RANK` is no number.
pub fn open_device(options: &Options) -> Result<Device> {
    Device::open(epoch::ranks::device(options)?)
}

/// What an epoch is made of.
#[derive(Clone, Copy)]
struct Setup {
    batch_size: usize,
    seed: u64,
    last: LastBatch,
    max_failures: Option<u64>,
    rank: u64,
    world_size: u64,
    /// Consecutive positions that go to one rank.
    block: u64,
}

impl Loader {
    /// Starts a loader's description.
    pub fn builder(source: impl Source + 'static) -> LoaderBuilder {
        LoaderBuilder::new(Box::new(source))
    }

    /// The same for a source whose type is chosen at run time.
    pub fn builder_boxed(source: Box<dyn Source>) -> LoaderBuilder {
        LoaderBuilder::new(source)
    }

    /// The loader that a recipe describes as a whole, its data included, and what the user should know of the data.
    ///
    /// ```
    /// use feedline::{loader::Loader, options::Options, recipe::Recipe};
    ///
    /// let mut options = Options::default();
    /// options.data.path = Some("data/photos".into());
    /// options.loader.batch_size = Some(32);
    /// let (loader, notes) = Loader::open(&Recipe::load("imagenet-train")?.with(options)?)?;
    /// assert!(loader.batches() == 1 && notes.is_empty());
    /// # Ok::<(), feedline::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`source::open`] and [`LoaderBuilder::build`].
    pub fn open(recipe: &Recipe) -> Result<(Self, Vec<Note>)> {
        let opened = source::open(&recipe.options.data)?;
        Ok((Self::builder_boxed(opened.source).recipe(recipe).build()?, opened.notes))
    }

    /// What the loader was told, with rank and world size as they were found.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The batches of epoch `epoch`. Starting an epoch ends the one that still runs.
    pub fn epoch(&self, epoch: u64) -> Epoch {
        self.epoch_from(epoch, 0)
    }

    /// The batches of epoch `epoch` from batch `first` on, for a run that is resumed; nothing ahead of it is read.
    pub fn epoch_from(&self, epoch: u64, first: usize) -> Epoch {
        Epoch::start(&self.pipeline, self.epoch_plan(epoch), first, self.setup.max_failures)
    }

    /// Where a run stands ahead of the first batch of epoch `epoch`, without starting it.
    pub fn state_ahead_of(&self, epoch: u64) -> State {
        resume::state(self.context(), &self.epoch_plan(epoch), 0)
    }

    /// Refuses a state that [`Loader::resume`] would refuse, and starts nothing.
    ///
    /// # Errors
    /// As [`Loader::resume`].
    pub fn check_state(&self, state: &State) -> Result<()> {
        resume::check(state, self.context(), (self.setup.seed, self.setup.block))
    }

    /// The rest of the epoch that `state` was taken in; nothing ahead of it is read. Later epochs are as ever:
    /// [`Loader::epoch`].
    ///
    /// With the same batch size and number of ranks, each rank goes on with the very batches that it would have got,
    /// whatever workers, prefetch and device are. With others, the ranks together show the samples that were left, each
    /// once and with the plans that it would have had (but for what does not fill the last batches, where that is
    /// dropped); they are dealt one by one, partner windows included, until the epoch ends, and batches are counted from
    /// 0 again. Where batches differ in size, each then has the size that is due at its number of samples.
    ///
    /// # Errors
    /// [`Error::Config`] naming the field in which the state does not fit this loader.
    pub fn resume(&self, state: &State) -> Result<Epoch> {
        self.check_state(state)?;
        let (plan, first) = resume::rest(self.epoch_plan(state.epoch), self.setup.block, state);
        Ok(Epoch::start(&self.pipeline, plan, first, self.setup.max_failures))
    }

    /// Whether this is the process that the loader was made in. A forked child has none of its threads.
    ///
    /// # Errors
    /// [`Error::Config`] with the remedy, in a forked child; so are its batches there.
    pub fn check_process(&self) -> Result<()> {
        self.context().process.check()
    }

    /// Batches of an epoch, exactly; every rank has as many.
    pub fn batches(&self) -> usize {
        self.epoch_plan(0).batches()
    }

    /// Why batches are not page-locked, or not all of them, although they were asked to be (`pin_memory`).
    pub fn unpinned(&self) -> Option<String> {
        match self.pinning.as_ref()? {
            Ok(pinning) => pinning.failed().map(str::to_owned),
            Err(why) => Some(why.to_string()),
        }
    }

    /// Rows that all batches of an epoch have together, before bad samples are left out; every rank has as many.
    pub fn rows(&self) -> usize {
        let plan = self.epoch_plan(0);
        (0..plan.batches()).next_back().map_or(0, |last| last * self.setup.batch_size + plan.rows(last))
    }

    /// Whether augmentations make a sample of several, whose classes are then mixed: [`Batch::one_hot`].
    pub fn mixes_samples(&self) -> bool {
        self.context().planner.mixes_samples()
    }

    /// Number of samples in the source.
    pub fn samples(&self) -> usize {
        self.context().source.len()
    }

    /// The source.
    pub fn source(&self) -> &dyn Source {
        &*self.context().source
    }

    /// Size, number format, layout and normalise of the samples; `None` where nothing is rendered. Where batches differ in
    /// size it is the one that they were asked for by; [`Batch::shape`] tells each batch's own. Of several views it is the
    /// first.
    pub fn output(&self) -> Option<&Output> {
        self.outputs().first()
    }

    /// The same of each view; none where nothing is rendered.
    pub fn outputs(&self) -> &[Output] {
        let outputs = &self.context().outputs;
        &outputs[..outputs.len().min(self.view_count())]
    }

    /// Views of each sample; 1 where it was given none.
    pub fn view_count(&self) -> usize {
        self.context().planner.view_count()
    }

    /// What is done to sample `index` in epoch `epoch`, with the ops that were drawn for it and what containers chose; of
    /// several views, in the first.
    ///
    /// # Errors
    /// As [`Loader::plan_view`].
    pub fn plan(&self, epoch: u64, index: u64) -> Result<Planned> {
        self.plan_view(epoch, index, 0)
    }

    /// What is done to sample `index` in epoch `epoch` for view `view`.
    ///
    /// The files of the sample and of its partners are read here; workers have no part in it. Where batches differ in size
    /// the sample has that of the batch that shows it.
    ///
    /// # Errors
    /// [`Error::Config`] for an index or a view that there is not; [`Error::Sample`] where a file cannot be read or the
    /// augmentations fail.
    pub fn plan_view(&self, epoch: u64, index: u64, view: usize) -> Result<Planned> {
        let context = self.context();
        let views = self.view_count();
        ensure!(view < views, "there is no view {view}: a sample has {views}, counted from 0");
        let order = self.order(epoch);
        let Some(position) = order.position(index) else { return Err(self.no_position(&order, index)) };
        let mut files = SampleFiles::new(context);
        // The sample may be another rank's, whose batches may have other sizes.
        let mut epoch_plan = self.epoch_plan(epoch);
        epoch_plan.rank = epoch_plan.partition.rank_of(position);
        let target = epoch_plan.target(epoch_plan.batch_of(position));
        let sample = SampleContext { epoch, order: &order, position, index, target };
        let memory = Option::<Vec<u8>>::unwrap_or_default;
        let mut images = KnownImages::new(context, |index| files.load_header(index, memory));
        let planned = context.planner.plan(sample, view, &mut images);
        planned.map_err(|error| context.unplanned(index, error).into_error())
    }

    /// What a batch would say is seen in the sample that `plan` makes, in the unit that was asked for; `None` where no
    /// image's label says what is seen in it.
    pub fn objects(&self, plan: &Plan) -> Option<Vec<TransformedObject>> {
        let context = self.context();
        context.labels.list(&*context.source, plan)
    }

    /// What a batch would hold as the mask of the sample that `plan` makes: a class for each pixel, row by row; `None`
    /// where none of its images has a mask, or the loader makes no masks.
    ///
    /// # Errors
    /// [`Error::Sample`] where a mask cannot be read, is no PNG of one channel, or is not as large as its image.
    pub fn mask(&self, plan: &Plan) -> Result<Option<Vec<u8>>> {
        let drawn =
            self.context().mask().map(|mask| Drawer::new(self.context()).draw(mask, plan)).transpose();
        Ok(drawn.map_err(Failure::into_error)?.flatten())
    }

    /// The names of the fields that are second images or depth maps.
    pub fn picture_names(&self) -> impl Iterator<Item = &str> {
        self.context().companions.iter().filter_map(|companion| companion.name.as_deref())
    }

    /// What a batch would show of the second images or depth maps of the field `name` in the sample that `plan` makes, row by
    /// row: of second images R, G and B of each pixel in 0..=1, whatever the loader's output is, of depth maps the depth;
    /// `None` where there is no such field.
    ///
    /// # Errors
    /// [`Error::Sample`] where a file cannot be read, is none of its kind, or is not as large as its image.
    pub fn picture(&self, plan: &Plan, name: &str) -> Result<Option<Vec<f32>>> {
        let is_it = |companion: &&Companion| companion.name.as_deref() == Some(name);
        let picture = self.context().companions.iter().find(is_it);
        let drawn = picture.map(|picture| Drawer::new(self.context()).draw(picture, plan)).transpose();
        let bytes = drawn.map_err(Failure::into_error)?.flatten();
        Ok(bytes.map(|bytes| bytemuck::pod_collect_to_vec(&bytes)))
    }

    /// The bad samples of the batches delivered so far.
    pub fn report(&self) -> Report {
        self.context().report().clone()
    }

    /// The figures since the loader was built.
    pub fn stats(&self) -> Stats {
        let context = self.context();
        let stats = context.meters.snapshot(self.pipeline.threads(), self.pipeline.buffers());
        let BackendUsage { decoded_by, decoders, shared_decoded, shared_hits, shared_bytes, memory } =
            self.pipeline.backend_usage();
        Stats {
            index: context.decode_indexes.stats(),
            decoded_by,
            decoders,
            // What a device decodes is decoded after it was staged.
            images: decoded_by.map_or(stats.images + shared_decoded, |by| by.total()),
            io: context.source.io_stats(),
            images_shared: shared_hits,
            image_cache_bytes: shared_bytes,
            device_memory: memory,
            ..stats
        }
    }

    /// What limits the speed so far, why, and what to do about it, in one sentence: [`Stats::explain`].
    pub fn explain(&self) -> String {
        self.stats().explain()
    }

    /// Writes the decode indexes found so far to their sidecar file. This also happens by itself at the end of an
    /// epoch that found many, and when the loader and its epochs are dropped.
    ///
    /// # Errors
    /// [`Error::Config`] where no file was asked for, or the path names a file of another kind; [`Error::Io`].
    pub fn save_index(&self) -> Result<()> {
        self.context().decode_indexes.save()
    }

    fn no_position(&self, order: &Order, index: u64) -> Error {
        let samples = self.samples();
        Error::config(match (index < samples as u64, order.is_drawn()) {
            (false, _) => format!("there is no sample {index}: the source has {samples}, counted from 0"),
            (true, false) if order.is_cut() => format!(
                "sample {index} does not come in this epoch, which shows a part of the samples again and again: name \
                 another sample or epoch, or build the loader without repeats to plan it"
            ),
            (true, true) => format!(
                "sample {index} may come several times in an epoch or never, since samples are drawn by weights: \
                 build the loader without weights to plan it, and a mixture with mix = \"concat\""
            ),
            (true, false) => format!("sample {index} is not in the loader's subset: name one that is"),
        })
    }

    fn order(&self, epoch: u64) -> Order {
        self.context().sampler.order(self.setup.seed, epoch)
    }

    fn context(&self) -> &Context {
        self.pipeline.context()
    }

    fn epoch_plan(&self, epoch: u64) -> EpochPlan {
        let Setup { batch_size, last, seed, rank, world_size, block, .. } = self.setup;
        let order = self.order(epoch);
        let partition = RankPartition::new(order.len(), world_size, block);
        let Context { outputs, sizes, .. } = self.context();
        let (outputs, sizes) = (Arc::clone(outputs), sizes.clone());
        let (consumed, found) = (None, Arc::default());
        EpochPlan { epoch, order, partition, rank, batch_size, last, seed, outputs, sizes, consumed, found }
    }
}
