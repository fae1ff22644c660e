//! `feedline bench`: runs a pipeline against the clock, from the first call on, and says what limits it.

mod meter;
mod report;
mod state;

use super::data::Repeated;
use super::options::{BatchLayoutName, ByteCount, DTypeName, DeviceName, progress};
use super::pipeline::Pipeline;
use super::print;
use anyhow::bail;
use clap::ValueEnum;
use feedline::error::Error;
use feedline::index::IndexMode;
use feedline::loader::{BadSample, LastBatch, Loader};
use feedline::output::{DType, Layout};
use feedline::policy::DecodeScale;
use feedline::source::Source;
use meter::Meter;
use report::{Report, Unmeasured};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Images of a run that does not say how many: some seconds on a small machine.
const USUAL_IMAGES: usize = 2048;
const USUAL_BATCH: usize = 64;

/// Run a pipeline against the clock and say what limits it
///
/// Everything is measured from the first call on, without a warm-up. A data set with fewer images than are asked for
/// is read again and again.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pipeline: Pipeline,
    /// Samples in a batch [default: the recipe's, or 64]
    #[arg(long)]
    batch_size: Option<usize>,
    /// Threads that decode and render [default: the recipe's, or one a core]
    #[arg(long)]
    workers: Option<usize>,
    /// Batches made ahead [default: the recipe's, or automatic]
    #[arg(long)]
    prefetch: Option<usize>,
    /// Images to run through
    #[arg(long, default_value_t = USUAL_IMAGES)]
    images: usize,
    /// The number format [default: the recipe's, or f32]
    #[arg(long)]
    dtype: Option<DTypeName>,
    /// The order of a batch's axes [default: the recipe's, or nchw]
    #[arg(long)]
    layout: Option<BatchLayoutName>,
    /// auto (the first GPU that is usable, else the CPU), cpu or cuda:N
    #[arg(long, default_value = "auto")]
    device: DeviceName,
    /// Which of the ranks to run as, from 0
    #[arg(long, default_value_t = 0)]
    rank: usize,
    /// How many ranks share the images
    #[arg(long, default_value_t = 1, value_name = "K")]
    world_size: usize,
    /// Stop after this many batches [default: when all images are through]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Write where the run stands at its end, as JSON, for --resume
    #[arg(long, value_name = "FILE")]
    save_state: Option<PathBuf>,
    /// Go on from where the run that wrote this file stood; data, recipe, seed and --images must be the same
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Simulate a trainer that takes this long for each batch
    #[arg(long, value_name = "MS")]
    step_ms: Option<u64>,
    /// Most compressed bytes kept in memory from one look at a file to the next, as 4G [default: the recipe's, or none]
    #[arg(long, value_name = "BYTES")]
    byte_cache: Option<ByteCount>,
    /// What becomes of a file that cannot be used [default: the recipe's, or fail]
    #[arg(long)]
    bad_sample: Option<BadSampleName>,
    /// Whether it is kept where a JPEG's rows begin, so that a later crop of it starts at its own first row
    #[arg(long, default_value = "memory", value_parser = ["off", "memory"])]
    decode_index: String,
    /// Whether large JPEGs may be decoded at a half or less, which changes pixels [default: the recipe's, or exact]
    #[arg(long, value_parser = ["exact", "fast"])]
    decode_scale: Option<String>,
    /// Run on a simulated device all the same, and print no figures
    #[arg(long)]
    simulated: bool,
    /// Print one JSON object on one line
    #[arg(long)]
    json: bool,
}

/// The words for what becomes of a bad sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BadSampleName {
    Fail,
    Skip,
    Substitute,
}

impl From<BadSampleName> for BadSample {
    fn from(name: BadSampleName) -> BadSample {
        match name {
            BadSampleName::Fail => BadSample::Fail,
            BadSampleName::Skip => BadSample::Skip,
            BadSampleName::Substitute => BadSample::Substitute,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if arguments.images == 0 {
        bail!("--images is 0: run at least one image");
    }
    if arguments.steps == Some(0) {
        bail!("--steps is 0: run at least one batch");
    }
    let device = arguments.device.open()?;
    let simulated = device.is_simulated();
    if simulated && !arguments.simulated {
        bail!(
            "--device: the device is simulated, and its speed means nothing: use cpu, or a machine with a GPU; \
             --simulated runs it without figures"
        );
    }
    let source = arguments.pipeline.source()?;
    let files = source.len();
    let mut meter = Meter::start()?;
    let loader = arguments.loader(source)?;
    drive(&loader, &mut meter, arguments, files)?;
    if simulated {
        let report = Unmeasured::new(device, &loader, meter.images());
        print(&if arguments.json { serde_json::to_string(&report)? } else { report.describe() })?;
        return Ok(ExitCode::SUCCESS);
    }
    let report = Report::new(arguments, &loader, &meter.stop()?, files)?;
    if arguments.json {
        print(&serde_json::to_string(&report)?)?;
    } else {
        report.describe().iter().try_for_each(|line| print(line))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn loader(&self, source: Arc<dyn Source>) -> anyhow::Result<Loader> {
        let mut recipe = self.pipeline.read_recipe()?;
        let section = &mut recipe.options.loader;
        section.batch_size = self.batch_size.or(section.batch_size).or(Some(USUAL_BATCH));
        section.workers = self.workers.or(section.workers);
        section.prefetch = self.prefetch.or(section.prefetch);
        section.byte_cache =
            self.byte_cache.map(|bytes| feedline::options::Bytes(bytes.0)).or(section.byte_cache);
        recipe.options.output.dtype = self.dtype.map(DType::from).or(recipe.options.output.dtype);
        recipe.options.output.layout = self.layout.map(Layout::from).or(recipe.options.output.layout);
        let source: Arc<dyn Source> = Arc::new(Repeated { source, samples: self.images });
        let mut builder = Loader::builder(source)
            .recipe(&recipe)
            .device(self.device.open()?)
            .decode_index(match self.decode_index.as_str() {
                "off" => IndexMode::Off,
                _ => IndexMode::Memory,
            })
            .last_batch(LastBatch::Partial)
            .rank(self.rank, self.world_size);
        if let Some(scale) = &self.decode_scale {
            builder =
                builder.decode_scale(if scale == "fast" { DecodeScale::Fast } else { DecodeScale::Exact });
        }
        if let Some(name) = self.bad_sample {
            builder = builder.bad_sample(name.into());
        }
        Ok(self.pipeline.with_masks(builder, &recipe).build()?)
    }
}

/// Takes the batches of one epoch as a trainer would.
fn drive(loader: &Loader, meter: &mut Meter, arguments: &Arguments, files: usize) -> anyhow::Result<()> {
    let bar = progress((arguments.images / arguments.world_size.max(1)) as u64, "images");
    let step = Duration::from_millis(arguments.step_ms.unwrap_or(0));
    let mut epoch = match &arguments.resume {
        Some(path) => loader.resume(&state::read(path)?)?,
        None => loader.epoch(0),
    };
    if epoch.len() == 0 {
        bail!("--resume: nothing is left of the epoch: start without it");
    }
    for _ in 0..arguments.steps.unwrap_or(usize::MAX) {
        let asked = Instant::now();
        let Some(batch) = epoch.next() else { break };
        // An index counts the repeated epoch; the user counts files.
        let batch = batch.map_err(|error| match error {
            Error::Sample { key, index, source } => Error::sample(key, index % files as u64, source),
            other => other,
        })?;
        // A device may still be at work on it: only finished pixels count.
        batch.wait()?;
        let rows = batch.len();
        meter.delivered(asked.elapsed(), rows)?;
        bar.inc(rows as u64);
        if !step.is_zero() {
            let stepping = Instant::now();
            std::thread::sleep(step);
            meter.stepped(stepping.elapsed());
        }
    }
    bar.finish_and_clear();
    match &arguments.save_state {
        Some(path) => state::write(path, &epoch.state()),
        None => Ok(()),
    }
}
