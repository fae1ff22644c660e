//! Batches for a trainer in another process, which takes a step for each line that is printed here.

use crate::photos::Repeated;
use feedline::device::Device;
use feedline::loader::{LastBatch, Loader};
use feedline::output::{DType, Layout};
use feedline::recipe::Recipe;
use std::io::{BufRead, Write};
use std::path::PathBuf;

/// Print `batch N` for each finished batch, and wait for a line on standard input before giving it back
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of images
    #[arg(long)]
    data: PathBuf,
    /// cpu or cuda:0
    #[arg(long, default_value = "cuda:0")]
    device: String,
    /// Samples in a batch
    #[arg(long, default_value_t = 256)]
    batch_size: usize,
}

/// Samples of an epoch: more than any measurement takes.
const ENDLESS: usize = 1 << 30;

impl Arguments {
    pub(crate) fn on_cpu(&self) -> bool {
        self.device == "cpu"
    }
}

pub(crate) fn run(arguments: &Arguments, device: Device) -> anyhow::Result<()> {
    let loader = Loader::builder(Repeated::open(&arguments.data, ENDLESS)?)
        .recipe(&Recipe::built_in("imagenet-train")?)
        .batch_size(arguments.batch_size)
        .last_batch(LastBatch::Drop)
        .output(DType::F16, Layout::Nchw)
        .device(device)
        .build()?;
    let (mut out, mut taken) = (std::io::stdout().lock(), std::io::stdin().lock().lines());
    for batch in loader.epoch(0) {
        let batch = batch?;
        batch.wait()?;
        writeln!(out, "batch {}", batch.len())?;
        out.flush()?;
        // The trainer has gone: so does the feed.
        if taken.next().transpose()?.is_none() {
            break;
        }
    }
    Ok(())
}
