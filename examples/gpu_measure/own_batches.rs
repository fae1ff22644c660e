//! Batches that feedline's decoder and renderer make on the GPU from files, against those of the CPU device.

use crate::photos::Repeated;
use crate::values::{Difference, compare, word};
use crate::{Bench, print};
use anyhow::ensure;
use feedline::device::Device;
use feedline::loader::{LastBatch, Loader};
use feedline::output::{DType, Layout};
use feedline::policy::DecoderChoice;
use feedline::recipe::Recipe;
use feedline::source::Source;
use serde_json::json;
use std::path::PathBuf;

/// Compare whole batches, from files to the tensor, with the CPU device's
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of JPEG files
    #[arg(long)]
    data: PathBuf,
    /// What the rows are called
    #[arg(long)]
    name: String,
    /// Samples in a batch
    #[arg(long, default_value_t = 64)]
    batch_size: usize,
    /// Samples in an epoch; all of the folder unless this is set
    #[arg(long)]
    samples: Option<usize>,
}

/// The second finds the decode indexes that the first has learned.
const EPOCHS: u64 = 2;

pub(crate) fn run(arguments: &Arguments, bench: Bench) -> anyhow::Result<()> {
    for (dtype, layout) in [(DType::F16, Layout::Nchw), (DType::F32, Layout::Nhwc)] {
        let build = |device, decoder| build(arguments, (device, decoder), (dtype, layout));
        let cpu = build(Device::cpu(), DecoderChoice::Auto)?;
        let gpu = build(bench.gpu, DecoderChoice::Feedline)?;
        for epoch in 0..EPOCHS {
            let (mut total, mut example) = (Difference::default(), None);
            for (want, got) in cpu.epoch(epoch).zip(gpu.epoch(epoch)) {
                let (want, got) = (want?, got?);
                ensure!(want.keys() == got.keys(), "batches of other samples");
                let found = compare(&want.to_host()?, &got.to_host()?, dtype);
                if let (Some(at), None) = (found.first, &example) {
                    let row = at * want.len() * dtype.bytes() / want.to_host()?.len();
                    example =
                        Some(json!({ "key": want.keys()[row], "epoch": epoch, "row": row, "value": at }));
                }
                total = total.and(found);
            }
            let by = gpu.stats().decoded_by.unwrap_or_default();
            print(&json!({
                "what": format!("{}, {} {layout:?}, epoch {epoch}: from files by feedline's decoder ({} so far, by the CPU {})",
                    arguments.name, word(dtype), by.feedline, by.cpu).to_lowercase(),
                "values": total.values,
                "different": total.different,
                "largest": total.largest,
                "first": example,
            }))?;
        }
    }
    Ok(())
}

fn build(
    arguments: &Arguments,
    (device, decoder): (Device, DecoderChoice),
    (dtype, layout): (DType, Layout),
) -> anyhow::Result<Loader> {
    let mut source = Repeated::open(&arguments.data, 0)?;
    source.samples = arguments.samples.unwrap_or(source.folder.len());
    Ok(Loader::builder(source)
        .recipe(&Recipe::built_in("imagenet-train")?)
        .batch_size(arguments.batch_size)
        .last_batch(LastBatch::Partial)
        .output(dtype, layout)
        .decoder(decoder)
        .device(device)
        .build()?)
}
