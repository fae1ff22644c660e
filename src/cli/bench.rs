//! `feedline bench`: runs a pipeline against the clock, from the first call on, and says what limits it.

mod meter;
mod report;

use super::data::{self, Repeated};
use super::flags::Taken;
use super::pipeline::Pipeline;
use super::{print_report, progress};
use anyhow::{Context, ensure};
use feedline::atomic_file::write_file;
use feedline::error::Error;
use feedline::loader::{self, LastBatch, Loader, State, Trace};
use feedline::options::{DeviceWord, Options};
use feedline::recipe::Recipe;
use feedline::regular_file;
use feedline::source::{Source, Storage};
use meter::Meter;
use report::{Report, Unmeasured};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Images of a run that does not say how many: some seconds on a small machine.
const USUAL_IMAGES: usize = 2048;

/// All options, with a benchmark's own defaults.
#[derive(Clone, Debug)]
pub(crate) struct Benchmark;

impl Taken for Benchmark {
    fn usual() -> Options {
        let mut usual = Options::default();
        (usual.loader.batch_size, usual.loader.last_batch) = (Some(64), Some(LastBatch::Partial));
        usual.device.name = Some(DeviceWord::Auto(None));
        usual
    }
}

/// Run a pipeline against the clock and say what limits it
///
/// Everything is measured from the first call on, without a warm-up. A data set with fewer images than are asked for
/// is read again and again.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pipeline: Pipeline<Benchmark>,
    /// Images to run through
    #[arg(long, default_value_t = USUAL_IMAGES)]
    images: usize,
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
    /// Write what each thread did when, as JSON for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Read as slowly as from other storage: hdd, sata, nvme, s3, or a rate in MB/s
    #[arg(long, value_name = "STORAGE")]
    storage: Option<Storage>,
    /// Run on a simulated device all the same, and print no figures
    #[arg(long)]
    simulated: bool,
    /// Print one JSON object on one line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    ensure!(arguments.images > 0, "--images is 0: run at least one image");
    ensure!(arguments.steps != Some(0), "--steps is 0: run at least one batch");
    let recipe = arguments.recipe()?;
    let device = loader::open_device(&recipe.options)?;
    let simulated = device.is_simulated();
    ensure!(
        !simulated || arguments.simulated,
        "--device: the device is simulated, and its speed means nothing: use cpu, or a machine with a GPU; \
         --simulated runs it without figures"
    );
    if let Some(path) = &arguments.trace {
        let is_there = path.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir());
        ensure!(
            is_there,
            "--trace {}: its folder is not there: make it, or name another file",
            path.display()
        );
    }
    let opening = Instant::now();
    let source = data::open(&recipe.options.data)?;
    let open_s = opening.elapsed().as_secs_f64();
    let files = source.len();
    let mut meter = Meter::start()?;
    let source = data::as_on(source, arguments.storage);
    let source: Arc<dyn Source> = Arc::new(Repeated::new(source, arguments.images));
    let (builder, trace) = (Loader::builder(source).recipe(&recipe).device(device), Trace::new());
    let builder = if arguments.trace.is_some() { builder.trace(&trace) } else { builder };
    let loader = builder.build()?;
    if let Some(why) = loader.unpinned() {
        data::note(&format!("--pin-memory has no effect: {why}"));
    }
    drive(&loader, &mut meter, arguments, files)?;
    if simulated {
        let report = Unmeasured::new(device, &loader, meter.images);
        print_report(arguments.json, &report, |report| vec![report.describe()])?;
    } else {
        let report = Report::new((arguments, recipe.name, open_s), &loader, &meter, files)?;
        print_report(arguments.json, &report, Report::describe)?;
    }
    // Behind the figures, of which it is no part.
    if let Some(path) = &arguments.trace {
        write_file(path, |file| trace.write_json(file))
            .with_context(|| format!("--trace {}: name a file that can be written", path.display()))?;
    }
    Ok(true)
}

impl Arguments {
    /// What is run: what flags leave out is the recipe's, and then a benchmark's own. Every image counts, so that the last
    /// batch is left out only where a flag says so.
    fn recipe(&self) -> anyhow::Result<Recipe> {
        let said = &self.pipeline.flags.options.loader;
        let mut recipe = self.pipeline.recipe()?;
        let loader = &mut recipe.options.loader;
        // A benchmark of one rank may name that rank alone, or the number of ranks alone.
        if said.rank.is_some() != said.world_size.is_some() {
            (loader.rank, loader.world_size) = (loader.rank.or(Some(0)), loader.world_size.or(Some(1)));
        }
        loader.last_batch = said.last_batch.or(Some(LastBatch::Partial));
        Ok(recipe)
    }
}

/// Takes the batches of one epoch as a trainer would.
fn drive(loader: &Loader, meter: &mut Meter, arguments: &Arguments, files: usize) -> anyhow::Result<()> {
    let ranks = loader.options().loader.world_size.unwrap_or(1).max(1);
    let bar = progress((arguments.images / ranks) as u64, "images");
    let step = Duration::from_millis(arguments.step_ms.unwrap_or(0));
    let mut epoch = match &arguments.resume {
        Some(path) => loader.resume(&read_state(path)?)?,
        None => loader.epoch(0),
    };
    ensure!(epoch.len() > 0, "--resume: nothing is left of the epoch: start without it");
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
            meter.stepped += stepping.elapsed();
        }
    }
    bar.finish_and_clear();
    match &arguments.save_state {
        Some(path) => write_state(path, &epoch.state()),
        None => Ok(()),
    }
}

fn read_state(path: &Path) -> anyhow::Result<State> {
    let text = regular_file::read_text(path)
        .with_context(|| format!("--resume {}: name a file that --save-state wrote", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("--resume {}: this is no state that --save-state wrote", path.display()))
}

fn write_state(path: &Path, state: &State) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(state)? + "\n";
    write_file(path, |file| file.write_all(text.as_bytes()))
        .with_context(|| format!("--save-state {}: name a file that can be written", path.display()))
}
