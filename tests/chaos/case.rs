//! One case: a data set, what a loader is asked for, and what is done to both.

use crate::chain::{self, Link};
use crate::dataset::DataSet;
use crate::disturbance::Disturbance;
use crate::draw::Draw;
use feedline::augment::View;
use feedline::device::Device;
use feedline::error::{Error, Result};
use feedline::field::Field;
use feedline::index::IndexMode;
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder};
use feedline::options::{Bytes, Fields, Kind, Listed, NormalizeOptions, Options};
use feedline::output::{DType, Layout};
use feedline::policy::{CachePlace, CachedForm, Damaged, DecodeScale, DecoderChoice};
use feedline::source::{self, Mixture, Source};
use feedline_test_support::clock;
use std::path::Path;

/// What happens to a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    /// Nothing.
    None,
    /// The loader is dropped in the middle of the epoch, and a state resumed by another.
    Dropped,
    /// A process that trains is killed.
    Killed,
    /// A process that packs is killed.
    PackKilled,
    /// A process may write no more than so many blocks of 512 bytes to a file.
    DiskFull(usize),
}

/// A part of a run, which ends after so many batches, or with the epoch.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) ranks: usize,
    pub(crate) batch_size: usize,
    pub(crate) workers: usize,
    pub(crate) prefetch: Option<usize>,
    pub(crate) batches: Option<usize>,
}

pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) data: DataSet,
    pub(crate) options: Options,
    pub(crate) chain: Vec<Link>,
    /// Behind the chain, where samples have several.
    views: Vec<View>,
    /// Whether each image is its own second image.
    twins: bool,
    /// Whether the data set is there twice, as a mixture.
    twice: bool,
    pub(crate) epoch: u64,
    pub(crate) event: Event,
    pub(crate) disturbance: Option<Disturbance>,
    pub(crate) stretches: Vec<Stretch>,
    /// Whether statistics see a clock that jumps.
    moves_clock: bool,
    /// Where batches are made; the oracle is always on the CPU.
    pub(crate) device: Device,
}

impl Case {
    pub(crate) fn draw(seed: u64, device: Device) -> Self {
        let data = DataSet::draw(seed);
        let draw = &mut Draw::new(seed, "case");
        let disturbance = draw.one_in(4).then(|| Disturbance::draw(seed, &data));
        // A sample that shows files of others would have as many right results as there are versions of all of them.
        let mixes = disturbance.is_none() && draw.one_in(3);
        let size = [0; 2].map(|_| draw.pick(&[8, 16, 33, 64]) + draw.below(5) as u32);
        let chain = chain::draw(draw, size, data.has_objects(), mixes);
        let mut options = options(draw, &data, disturbance.as_ref(), device);
        if mixes && options.device.memory == Some(Bytes(1)) {
            // The images of one sample would not fit.
            options.device.memory = None;
        }
        if device == Device::Cpu && !mixes && draw.one_in(6) {
            options.decode.scale = Some(DecodeScale::Fast);
        }
        let views = if draw.one_in(4) { chain::views(draw, size) } else { Vec::new() };
        // What is read twice may change between.
        let twins = data.has_folder() && disturbance.is_none() && draw.one_in(5);
        let twice = disturbance.is_none()
            && (options.loader.subset.is_none() && options.loader.weights.is_none())
            && options.loader.shuffle_shards.is_none()
            && draw.one_in(6);
        let event = match (disturbance.is_some(), draw.below(20)) {
            (true, _) | (_, 0..8) => Event::None,
            (_, 8..16) => Event::Dropped,
            (_, 16) => Event::Killed,
            (_, 17) if !data.has_objects() && device == Device::Cpu => Event::PackKilled,
            (_, 18) if device == Device::Cpu => Event::DiskFull(draw.pick(&[0, 1, 4, 16])),
            _ => Event::None,
        };
        if !matches!(event, Event::DiskFull(_)) {
            shared_cache(&mut Draw::new(seed, "cache"), &mut options);
        }
        let stretches = stretches(draw, event, device);
        let (epoch, moves_clock) = (draw.below(3) as u64, draw.one_in(4));
        Self {
            seed,
            data,
            options,
            chain,
            views,
            twins,
            twice,
            epoch,
            event,
            disturbance,
            stretches,
            moves_clock,
            device,
        }
    }

    /// The loader of one rank, for the data set that was written to `folder`.
    pub(crate) fn loader(&self, folder: &Path, stretch: &Stretch, rank: usize) -> Result<Loader> {
        let mut options = self.options.clone();
        let loader = &mut options.loader;
        (loader.batch_size, loader.prefetch) = (Some(stretch.batch_size), stretch.prefetch);
        loader.workers = (stretch.workers > 0).then_some(stretch.workers);
        (loader.rank, loader.world_size) = (Some(rank), Some(stretch.ranks));
        if let Some(IndexMode::File(path)) = &mut options.decode.index {
            *path = folder.with_extension("index");
        }
        if options.loader.cache.is_some() {
            options.loader.cache_file = Some(folder.with_extension("cache"));
        }
        let builder = Loader::builder_boxed(self.source(folder)?).options(&options).device(self.device);
        let builder = if self.moves_clock { builder.clock(clock::now) } else { builder };
        self.with_chain(builder).build()
    }

    /// A loader that is as plain as can be: one worker, and one sample a batch.
    pub(crate) fn plain_loader(&self, folder: &Path) -> Result<Loader> {
        let mut options = self.options.clone();
        options.loader.batch_size = Some(1);
        options.loader.workers = Some(1);
        options.loader.prefetch = Some(1);
        options.loader.last_batch = Some(LastBatch::Partial);
        options.loader.max_failures = None;
        options.loader.byte_cache = None;
        without_cache(&mut options);
        // `image_cache` stays: images that are shared are decoded whole, so that damage is met which one crop does not show.
        // An error names the sample.
        if options.loader.bad_sample() == BadSample::Skip {
            options.loader.bad_sample = Some(BadSample::Fail);
        }
        options.decode.index = Some(IndexMode::Off);
        options.decode.decoder = None;
        options.device.memory = None;
        self.with_chain(Loader::builder_boxed(self.source(folder)?).options(&options)).build()
    }

    pub(crate) fn source(&self, folder: &Path) -> Result<Box<dyn Source>> {
        let mut data = self.data.options(folder);
        data.label_cache = self.has_label_cache().then(|| folder.with_extension("labels"));
        data.max_file_bytes = self.options.data.max_file_bytes;
        if self.twins {
            let twin = Field::image("twin").from(folder.display().to_string());
            data.fields = Some(Fields(vec![twin]));
        }
        let open = || Ok::<_, Error>(source::open(&data)?.source);
        match self.twice {
            true => Ok(Box::new(Mixture::options().set("one", open()?).set("other", open()?).open()?)),
            false => open(),
        }
    }

    fn has_label_cache(&self) -> bool {
        self.data.has_objects() && self.seed.is_multiple_of(2)
    }

    fn with_chain(&self, builder: LoaderBuilder) -> LoaderBuilder {
        let builder = self.chain.iter().fold(builder, |builder, link| builder.augment_boxed(link.augment()));
        self.views.iter().cloned().fold(builder, LoaderBuilder::view)
    }

    /// Lets time pass, for who reads the clock that tests move.
    pub(crate) fn move_clock(&self, draw: &mut Draw) {
        if self.moves_clock {
            clock::advance(std::time::Duration::from_millis(draw.pick(&[0, 1, 40, 86_400_000])));
        }
    }

    /// The case in a few lines, for who has to understand it.
    pub(crate) fn describe(&self) -> String {
        let Self { data, options, chain, views, twins, twice, .. } = self;
        let Self { epoch, event, disturbance, stretches, device, moves_clock, .. } = self;
        format!(
            "{} records of {:?}, masks {}, twins {twins}, twice {twice}, {device:?}, epoch {epoch}, {event:?}, {disturbance:?}, clock {moves_clock}\n\
             {stretches:?}\n{chain:?}\n{views:?}\n{}",
            data.records.len(),
            data.kind,
            data.masks,
            serde_json::to_string(options).unwrap_or_default()
        )
    }
}

fn options(draw: &mut Draw, data: &DataSet, disturbance: Option<&Disturbance>, device: Device) -> Options {
    let mut options = Options::default();
    let records = data.records.len();
    options.data.max_file_bytes = draw.one_in(10).then(|| Bytes(draw.pick(&[900, 9_000])));
    let loader = &mut options.loader;
    loader.seed = Some(draw.bits() >> 40);
    match draw.below(4) {
        0 => loader.shuffle_window = Some(draw.between(1, 20) as u64),
        1 if data.kind == Kind::Tar => loader.shuffle_shards = Some(draw.between(1, 2) as u64),
        2 => {}
        _ => loader.shuffle = Some(true),
    }
    loader.last_batch =
        Some(draw.pick(&[LastBatch::Drop, LastBatch::Partial, LastBatch::Partial, LastBatch::Pad]));
    loader.bad_sample = Some(match disturbance {
        Some(_) => draw.pick(&[BadSample::Skip, BadSample::Skip, BadSample::Fail]),
        None => draw.pick(&[BadSample::Skip, BadSample::Substitute, BadSample::Skip, BadSample::Fail]),
    });
    if disturbance.is_none() && draw.one_in(5) {
        loader.max_failures = Some(draw.below(9) as u64);
    }
    if draw.one_in(6) {
        let kept: Vec<u64> = (0..records as u64).filter(|_| !draw.one_in(3)).collect();
        loader.subset = Some(Listed::List(if kept.is_empty() { vec![0] } else { kept }));
    } else if disturbance.is_none() && draw.one_in(8) {
        loader.weights = Some(Listed::List((0..records).map(|_| draw.part() + 0.01).collect()));
        (loader.shuffle, loader.shuffle_window, loader.shuffle_shards) = (None, None, None);
    }
    loader.partner_window = draw.one_in(2).then(|| draw.between(1, 16) as u64);
    loader.mixing_off_epoch = draw.one_in(6).then_some(1);
    loader.byte_cache = draw.one_in(3).then(|| Bytes(draw.pick(&[1, 20_000, 10 << 20])));
    loader.image_cache = Some(Bytes(draw.pick(&[0, 100_000, 64 << 20])));
    if device != Device::Cpu {
        // Reserved as a whole there.
        loader.image_cache = Some(Bytes(draw.pick(&[0, 100_000, 4 << 20])));
    }
    output(draw, &mut options);
    decode(draw, &mut options, disturbance.is_some(), device);
    options
}

fn output(draw: &mut Draw, options: &mut Options) {
    let dtype = draw.pick(&[DType::U8, DType::F32, DType::F16, DType::Bf16]);
    options.output.dtype = Some(dtype);
    options.output.layout = Some(draw.pick(&[Layout::Nchw, Layout::Nhwc]));
    if dtype != DType::U8 && draw.one_in(2) {
        let (mean, std) = (Some([0.4, 0.5, 0.3]), Some([0.2, 0.25, 0.3]));
        options.normalize = NormalizeOptions { preset: None, mean, std };
    }
}

fn decode(draw: &mut Draw, options: &mut Options, is_disturbed: bool, device: Device) {
    let decode = &mut options.decode;
    // What is shown of a huge header must not take gigabytes.
    let most = if device == Device::Cpu { 1 << 22 } else { 1 << 19 };
    decode.max_pixels = Some(draw.pick(&[most, most, 2_000]));
    decode.max_scans = draw.one_in(6).then(|| draw.between(1, 20) as u32);
    let damaged = [Damaged::Torchvision, Damaged::Refuse, Damaged::Libjpeg];
    // A file that is shortened while it is read has as many right results there as there are lengths.
    decode.damaged = Some(draw.pick(&damaged[..if is_disturbed { 2 } else { 3 }]));
    decode.exif = Some(!draw.one_in(5));
    decode.index = Some(draw.pick(&[IndexMode::Memory, IndexMode::Off, IndexMode::File("sidecar".into())]));
    decode.index_budget = draw.one_in(4).then(|| Bytes(draw.pick(&[0, 500, 5_000])));
    if device != Device::Cpu {
        use DecoderChoice::{Auto, Cpu, Feedline, Nvjpeg};
        decode.decoder = Some(draw.pick(&[Auto, Nvjpeg, Feedline, Feedline, Cpu]));
        options.device.memory = draw.one_in(2).then(|| Bytes(draw.pick(&[1, 8 << 20, 32 << 20])));
        options.device.pinned_memory = draw.one_in(3).then(|| Bytes(draw.pick(&[0, 100_000])));
    }
}

/// A cache that all ranks share, and the stretches of a run.
fn shared_cache(draw: &mut Draw, options: &mut Options) {
    let loader = &mut options.loader;
    if !cfg!(target_os = "linux") || !draw.one_in(3) {
        return;
    }
    loader.byte_cache = None;
    loader.cache = Some(draw.pick(&[CachePlace::Ram, CachePlace::Disk]));
    loader.cache_limit = Some(Bytes(draw.pick(&[40_000, 200_000, 10 << 20, 10 << 20])));
    let takes_pixels =
        options.decode.scale.is_none() && options.decode.decoder != Some(DecoderChoice::Nvjpeg);
    if takes_pixels && draw.one_in(2) {
        loader.cache_form = Some(CachedForm::Decoded);
    }
}

fn without_cache(options: &mut Options) {
    let loader = &mut options.loader;
    (loader.cache, loader.cache_form, loader.cache_limit) = (None, None, None);
}

fn stretches(draw: &mut Draw, event: Event, device: Device) -> Vec<Stretch> {
    let parts = match event {
        Event::Dropped => draw.between(2, 4),
        Event::Killed => 2,
        _ => 1,
    };
    let mut stretches: Vec<Stretch> = Vec::new();
    for part in 0..parts {
        let is_last = part + 1 == parts;
        // On the same ranks and batches, or on others.
        let [ranks, batch_size] = match stretches.last() {
            Some(before) if draw.one_in(2) => [before.ranks, before.batch_size],
            _ => [draw.pick(&[1, 1, 1, 2, 3, 5]), draw.pick(&[1, 2, 3, 4, 7, 16, 50])],
        };
        stretches.push(Stretch {
            ranks: if event == Event::Killed { 1 } else { ranks },
            batch_size,
            workers: match device {
                Device::Cpu => draw.pick(&[0, 1, 2, 3, 5, 8, 16, 70, 130]),
                _ => draw.pick(&[0, 1, 2, 3, 5, 9]),
            },
            prefetch: draw.pick(&[None, Some(1), Some(2), Some(3), Some(9)]),
            batches: (!is_last).then(|| draw.below(7)),
        });
    }
    stretches
}
