//! From options to a loader: everything is checked, made-up samples are planned, and the memory is reserved.

use super::{AUTO_PREFETCH, LoaderBuilder, SLOTS_BESIDE};
use crate::augment::container::check_chain;
use crate::augment::view::{self, View};
use crate::device::Device;
use crate::device::backend::{BackendOptions, view_starts};
use crate::device::pinning::Pinning;
use crate::draft::op::Extent;
use crate::error::{Result, bail, ensure};
use crate::geometry::Size;
use crate::loader::batch::labels::LabelRules;
use crate::loader::companions::Companion;
use crate::loader::decode_index::DecodeIndexes;
use crate::loader::epoch::batch_size::{Sizes, SizesAsked};
use crate::loader::epoch::{fingerprint, ranks, sampling};
use crate::loader::planner::{Planner, ViewChain};
use crate::loader::queue::buffers::{backed, checked_bytes};
use crate::loader::report::errors::Report;
use crate::loader::report::stats::Meters;
use crate::loader::shared_cache::{self, Sources};
use crate::loader::worker::context::Context;
use crate::loader::worker::process::Process;
use crate::loader::worker::{self, MAX_WORKERS, PoolOptions};
use crate::loader::{Loader, Setup, validate};
use crate::options::{IGNORED, LoaderOptions, NormalizeOptions, Options, OutputOptions};
use crate::output::Output;
use crate::policy::{DecodeScale, DecoderChoice, FEW_FOR_A_GPU};
use crate::sampler::Sampler;
use crate::source::Source;
use std::sync::{Arc, Mutex, OnceLock};

/// Longest prefetch.
const MAX_PREFETCH: usize = 64;
/// Maximum rows of a batch.
const MAX_BATCH_ROWS: usize = 1 << 20;

impl LoaderBuilder {
    /// Checks the whole, plans made-up samples, and reserves the memory.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] with the remedy, for whatever could not work in any epoch.
    pub fn build(mut self) -> Result<Loader> {
        self.settle()?;
        let sampler = sampling::sampler(&self.options.loader, &*self.source)?;
        let setup = self.setup();
        self.check(&setup, sampler.len())?;
        let device = self.device.map_or_else(|| Device::open(self.options.device.name()), Ok)?;
        let pinning = self.pinning(device);
        let backend = self.backend_options(device, pinning.as_ref())?;
        let Options { loader, output, decode, .. } = &self.options;
        let (asked, bare, exif) = (SizesAsked::of(loader), output.decode_only(), decode.exif());
        asked.check(&sampler, bare, &self.augments)?;
        let planner = Planner {
            augments: self.augments,
            views: ViewChain::of(&self.views),
            seed: setup.seed,
            partner_window: loader.partner_window(),
            mixing_off_epoch: loader.mixing_off_epoch,
            bare,
        };
        planner.check_partners()?;
        let (setup, sampler) = (Setup { block: planner.block(), ..setup }, sampler.apart(planner.block()));
        let planner = Arc::new(planner);
        let Sources { source, headers } = Sources::of(self.source, &self.options)?;
        let (sampler, outputs, sizes) = match bare {
            true => (sampler, Arc::<[Output]>::default(), Sizes::none()),
            false => outputs_of((&self.options, &self.views), &asked, sampler, (&planner, &headers))?,
        };
        let largest: Vec<Output> = match sizes.differ() {
            true => outputs.iter().map(|output| output.of_size(sizes.largest())).collect(),
            false => outputs.to_vec(),
        };
        let labels = LabelRules::of(&self.options);
        let companions = Companion::of(&labels, source.fields());
        let [outputs, largest] = [&outputs, &*largest].map(|views| Companion::outputs(&companions, views));
        let Reserved { row_bytes, pool } = reserve(loader, device, &largest, setup.batch_size)?;
        let starts = view_starts(setup.batch_size, row_bytes.iter().copied()).unwrap_or_default();
        // A smaller transform is chosen for one plan, so its images cannot be shared.
        let shares = planner.block() > 1 && decode.scale() == DecodeScale::Exact;
        let image_cache = if shares { loader.image_cache().in_memory() } else { 0 };
        let backend = BackendOptions { row_bytes, image_cache, ..backend };
        let settings = fingerprint::settings(&self.options, outputs.first(), &self.views);
        let decode_indexes = DecodeIndexes::new(decode.index(), decode.index_budget().in_memory(), &*source);
        let context = Context {
            decode_indexes,
            source,
            planner,
            sampler,
            fingerprints: OnceLock::new(),
            outputs: outputs.into(),
            companions,
            starts,
            settings,
            sizes,
            limits: decode.limits(),
            exif,
            bad: loader.bad_sample(),
            labels,
            meters: Meters::default(),
            clock: self.clock,
            trace: self.trace,
            report: Mutex::new(Report::default()),
            process: Process::this(),
        };
        let pipeline = worker::open(device, backend, pool, context)?;
        Ok(Loader { pipeline, setup, options: self.options, pinning })
    }

    /// Puts into the options what follows from others.
    fn settle(&mut self) -> Result<()> {
        let named = ranks::device(&self.options)?;
        let Options { data, loader, labels, device, .. } = &mut self.options;
        if data.has_masks() || self.source.has_masks() || labels.outline_masks() {
            labels.mask_fill = labels.mask_fill.or(Some(IGNORED));
        }
        let (rank, world_size) = ranks::asked(loader)?;
        device.name = device.name.map(|_| named);
        (loader.rank, loader.world_size, loader.distributed) = (Some(rank), Some(world_size), None);
        Ok(())
    }

    /// The block is found with the planner.
    fn setup(&self) -> Setup {
        let loader = &self.options.loader;
        Setup {
            batch_size: loader.batch_size(),
            seed: loader.seed(),
            last: loader.last_batch(),
            max_failures: loader.max_failures,
            rank: loader.rank.unwrap_or(0) as u64,
            world_size: loader.world_size.unwrap_or(1) as u64,
            block: 1,
        }
    }

    /// Without what follows from the augmentations.
    fn backend_options(&self, on: Device, pinning: Option<&Result<Pinning>>) -> Result<BackendOptions> {
        let Options { loader, decode, device, .. } = &self.options;
        if decode.scale() != DecodeScale::Exact && on != Device::Cpu {
            bail!("decode_scale is for the CPU device, and this loader decodes on a GPU: leave it exact");
        }
        let decoder = decode.decoder();
        let is_nvjpeg = !decoder.is_own() && decoder != DecoderChoice::Cpu;
        if on == Device::Cpu && is_nvjpeg {
            bail!(
                "decoder = \"{}\" needs a GPU, and this loader is on the CPU device: leave it auto, or choose feedline",
                decoder.word()
            );
        }
        if decoder == DecoderChoice::NvjpegGpu && loader.batch_size() <= FEW_FOR_A_GPU {
            bail!(
                "decoder = \"nvjpeg-gpu\" decodes batches of more than {FEW_FOR_A_GPU} images, and batch_size is {}: raise \
                 it, or choose another decoder",
                loader.batch_size()
            );
        }
        Ok(BackendOptions {
            rows: loader.batch_size(),
            row_bytes: Vec::new(),
            limits: decode.limits(),
            scale: decode.scale(),
            decoder,
            verify: decode.verify(),
            image_cache: 0,
            device_memory: device.memory.map(|bytes| bytes.0),
            pinned: device.pinned_memory().in_memory()
                / (loader.prefetch.unwrap_or(AUTO_PREFETCH.1) + SLOTS_BESIDE),
            pinning: pinning.and_then(|pinning| pinning.as_ref().ok()).cloned(),
            low_priority: device.low_priority(),
        })
    }

    /// What page-locks batches where that is asked for, or why it cannot be done. On a GPU batches are its own.
    fn pinning(&self, on: Device) -> Option<Result<Pinning>> {
        let is_wanted = self.options.device.pin_memory() && on == Device::Cpu;
        is_wanted.then(|| Pinning::open(ranks::device_of_process()))
    }

    /// Refuses views that cannot be made, and what cannot be had with them.
    fn check_views(&self) -> Result<()> {
        view::check(&self.views)?;
        if self.views.is_empty() {
            return Ok(());
        }
        let Options { loader, output, .. } = &self.options;
        ensure!(
            !output.decode_only(),
            "decode_only renders nothing, so that there is nothing to view: leave the views out"
        );
        let differ = [
            (loader.rect(), "rect"),
            (loader.drawn_sizes().is_some(), "multi_scale"),
            (loader.pad_to_largest(), "pad_to_largest"),
        ];
        if let Some((_, name)) = differ.into_iter().find(|(asked, _)| *asked) {
            bail!(
                "{name} gives batches sizes, and each view has a size of its own: leave {name} or the views out"
            );
        }
        ensure!(
            output.size.is_none(),
            "each view has a size of its own, and the output has one as well: leave the output's size out"
        );
        Ok(())
    }

    /// `samples` are those of an epoch.
    fn check(&self, setup: &Setup, samples: u64) -> Result<()> {
        let Options { loader, output, normalize, .. } = &self.options;
        let batch_size = setup.batch_size;
        let in_range =
            |count: Option<usize>, most: usize| count.is_none_or(|count| (1..=most).contains(&count));
        ensure!(samples != 0, "the source has no samples: check its path and what it filters out");
        ensure!(
            (1..=MAX_BATCH_ROWS).contains(&batch_size),
            "batch_size is {batch_size}, and may be 1 to {MAX_BATCH_ROWS}: use a larger or a smaller batch_size"
        );
        shared_cache::check(&self.options, &*self.source)?;
        check_chain(self.augments.iter().map(|augment| &**augment))?;
        self.check_views()?;
        loader.check()?;
        ranks::check(setup, samples)?;
        ensure!(
            loader.repeats() == 1 || samples >= setup.world_size,
            "with repeats an epoch has {samples} rows, which are less than one for each of {} ranks: use fewer ranks, or \
             leave repeats out",
            setup.world_size
        );
        let labels = LabelRules::of(&self.options);
        labels.check().and_then(|()| labels.check_outlines(&*self.source))?;
        ensure!(
            in_range(loader.workers, MAX_WORKERS),
            "workers must be in 1..={MAX_WORKERS}: leave it out for automatic"
        );
        ensure!(
            in_range(loader.prefetch, MAX_PREFETCH),
            "prefetch must be in 1..={MAX_PREFETCH}: leave it out for automatic"
        );
        ensure!(loader.partner_window() != 0, "partner_window is 0: a window needs at least one position");
        form(output, normalize)?.check()
    }
}

/// What samples become in each view and how batches get their sizes, with the order that this needs.
fn outputs_of(
    (Options { output, normalize, decode, .. }, views): (&Options, &[View]),
    asked: &SizesAsked,
    sampler: Sampler,
    (planner, source): (&Arc<Planner>, &Arc<dyn Source>),
) -> Result<(Sampler, Arc<[Output]>, Sizes)> {
    let of_size = form(output, normalize)?;
    let size = output.size.map(Extent::square);
    let ends = match (asked.pads(), size) {
        (true, Some(most)) => vec![most],
        (true, None) => bail!(
            "pad_to_largest needs the output's size, which is the largest that a sample may have: set size under [output]"
        ),
        (false, _) => validate::output_sizes(planner, size, views)?,
    };
    let usual = ends.first().copied().unwrap_or_default();
    let (sampler, sizes) = asked.settle(usual, sampler, (planner, source), decode.exif())?;
    let check = |target| validate::check_target(planner, target);
    sizes.examples().into_iter().try_for_each(check)?;
    Ok((sampler, ends.into_iter().map(|size| of_size.of_size(size)).collect(), sizes))
}

/// The memory of batches.
struct Reserved {
    /// Of each view of a sample.
    row_bytes: Vec<usize>,
    /// With as many batches as there is memory for.
    pool: PoolOptions,
}

/// Finds how many batches of samples that become `outputs` there may be, for the threads that make them.
fn reserve(
    loader: &LoaderOptions,
    device: Device,
    outputs: &[Output],
    batch_size: usize,
) -> Result<Reserved> {
    let (ahead, reserved) = loader.prefetch.map_or(AUTO_PREFETCH, |batches| (batches, batches));
    let (buffers, reserved) = (ahead + SLOTS_BESIDE, reserved + SLOTS_BESIDE);
    let row_bytes = checked_bytes(outputs, batch_size, reserved)?;
    // Batches on a device are its own to back.
    let host_bytes = if device == Device::Cpu { row_bytes.iter().sum() } else { 0 };
    let most = backed(host_bytes, batch_size, buffers, reserved)?;
    let pool = PoolOptions {
        workers: loader.workers,
        priority: loader.worker_priority(),
        buffers,
        reserved: most,
        auto_prefetch: loader.prefetch.is_none(),
    };
    Ok(Reserved { row_bytes, pool })
}

/// What batches become, without a size.
fn form(output: &OutputOptions, normalize: &NormalizeOptions) -> Result<Output> {
    let (size, normalize) = (Size::default(), normalize.constants()?);
    Ok(Output { size, dtype: output.dtype(), layout: output.layout(), normalize })
}
