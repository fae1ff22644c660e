//! `feedline doctor`: what this machine has and what will be used of it; with data, what limits a pipeline on them, what it
//! would give beside a trainer, and what would help.

mod cuda;
mod machine;
mod trainer;

pub(crate) use machine::simd_word;

use super::bench::Benchmark;
use super::data;
use super::pipeline::Pipeline;
use super::print_report;
use anyhow::ensure;
use feedline::doctor::{self, Diagnosis, Questions};
use feedline::recipe::Recipe;
use feedline::source::Storage;
use std::path::PathBuf;

/// Say what this machine can do or, with DATA, what limits a pipeline on them
///
/// Without DATA: what this machine and this build can do, and what will be used. With DATA: storage, work and trainer are
/// measured one by one, for 30 to 45 seconds in all, and put together: which of them limits, how many images a second
/// feedline would give, what other settings would give, and whether you need it.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The data set to examine, as --data
    #[arg(value_name = "DATA")]
    path: Option<PathBuf>,
    #[command(flatten)]
    pipeline: Pipeline<Benchmark>,
    /// The trainer takes this long for each batch
    #[arg(long, value_name = "MS", conflicts_with = "trainer")]
    step_ms: Option<f64>,
    /// A command that trains on one fixed batch, of as many images as --batch-size says, and prints a line after each step; it
    /// is ended once it was measured
    #[arg(long, value_name = "COMMAND")]
    trainer: Option<String>,
    /// About how long all measurements may take, at least 1
    #[arg(long, default_value_t = Questions::default().seconds, value_name = "S")]
    seconds: f64,
    /// Read as slowly as from other storage: hdd, sata, nvme, s3, or a rate in MB/s
    #[arg(long, value_name = "STORAGE")]
    storage: Option<Storage>,
    /// Do not try other settings
    #[arg(long)]
    no_alternatives: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let recipe = arguments.recipe()?;
    if recipe.options.data.path.is_none() && recipe.options.data.sets.is_none() {
        let asked = arguments.step_ms.is_some() || arguments.trainer.is_some() || arguments.storage.is_some();
        ensure!(!asked, "no data are named: say which, as in `feedline doctor photos --step-ms 120`");
        print_report(arguments.json, &machine::examine()?, machine::describe)?;
        return Ok(true);
    }
    print_report(arguments.json, &arguments.examine(&recipe)?, Diagnosis::describe)?;
    Ok(true)
}

impl Arguments {
    fn recipe(&self) -> anyhow::Result<Recipe> {
        let mut recipe = self.pipeline.recipe()?;
        if let Some(path) = &self.path {
            ensure!(
                self.pipeline.flags.options.data.path.is_none(),
                "the data are named twice, as DATA and by --data: leave one of them out"
            );
            recipe.options.data.path = Some(path.clone());
        }
        Ok(recipe)
    }

    /// What is wrong with the time or the data is found ahead of the trainer, which takes its time.
    fn examine(&self, recipe: &Recipe) -> anyhow::Result<Diagnosis> {
        let batch_size = recipe.options.loader.batch_size();
        let asked =
            Questions { seconds: self.seconds, alternatives: !self.no_alternatives, ..Questions::default() };
        let asked = match self.step_ms {
            Some(ms) => {
                ensure!(ms.is_finite() && ms > 0.0, "--step-ms is {ms}: say how long a step takes");
                asked.with_step(ms / 1000.0, batch_size)
            }
            None => asked,
        };
        let source = data::as_on(data::open(&recipe.options.data)?, self.storage);
        asked.check(&*source)?;
        let (trainer, gpus) = match &self.trainer {
            Some(command) => {
                let (trainer, gpus) = trainer::measure(command, batch_size, self.seconds)?;
                (Some(trainer), gpus)
            }
            None => (asked.trainer, Vec::new()),
        };
        let asked = Questions { trainer, ..asked };
        Ok(doctor::examine(source, recipe, &asked)?.with_gpus(gpus))
    }
}
