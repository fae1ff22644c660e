//! The GPU's batches against the CPU's, over random plans, from files that the CPU decodes for both.

use crate::any_chain::{AnyChain, AnyMix};
use crate::values::{Difference, compare, word};
use crate::{Bench, photos, print};
use anyhow::Context;
use feedline::augment::{EraseValue, RandomErasing, RandomHorizontalFlip};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::device::Device;
use feedline::geometry::Size;
use feedline::loader::{Batch, LastBatch, Loader};
use feedline::output::{DType, Layout};
use feedline::policy::DecoderChoice;
use feedline::source::Memory;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Compare what the GPU renders with what the CPU renders, value by value
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of images
    #[arg(long)]
    data: PathBuf,
    /// Seconds for all number formats and layouts together
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Samples to compare of each format, at most; the time may end it sooner
    #[arg(long, default_value_t = u64::MAX)]
    plans: u64,
    /// Samples in a batch
    #[arg(long, default_value_t = 16)]
    batch_size: usize,
}

/// Every number format in both layouts.
const FORMATS: [(DType, Layout); 8] = [
    (DType::F16, Layout::Nchw),
    (DType::F32, Layout::Nchw),
    (DType::U8, Layout::Nhwc),
    (DType::Bf16, Layout::Nhwc),
    (DType::F16, Layout::Nhwc),
    (DType::U8, Layout::Nchw),
    (DType::F32, Layout::Nhwc),
    (DType::Bf16, Layout::Nchw),
];
/// Odd in both directions, so that no row ends at a multiple of anything.
const SIZE: Size = Size::new(131, 97);

pub(crate) fn run(arguments: &Arguments, bench: Bench) -> anyhow::Result<()> {
    let source = photos::lossless(&arguments.data)?;
    let share = Duration::from_secs_f64(arguments.seconds / FORMATS.len() as f64);
    for (number, (dtype, layout)) in FORMATS.into_iter().enumerate() {
        let build = |device| build(&source, arguments, device, (dtype, layout), number as u64);
        let (cpu, gpu) = (build(Device::cpu())?, build(bench.gpu)?);
        let began = Instant::now();
        let mut total = Difference::default();
        let (mut plans, mut example) = (0, None);
        for epoch in 0.. {
            for (want, got) in cpu.epoch(epoch).zip(gpu.epoch(epoch)) {
                let (want, got) = (want?, got?);
                let found = compare(&want.to_host()?, &got.to_host()?, dtype);
                plans += want.len() as u64;
                if let (Some(at), None) = (found.first, &example) {
                    example = Some(describe(&cpu, &want, epoch, at)?);
                }
                total = total.and(found);
                if began.elapsed() > share || plans >= arguments.plans {
                    break;
                }
            }
            if began.elapsed() > share || plans >= arguments.plans {
                break;
            }
        }
        print(&json!({
            "what": format!("{} {layout:?}, {plans} random plans", word(dtype)).to_lowercase(),
            "values": total.values,
            "different": total.different,
            "largest": total.largest,
            "first": example,
        }))?;
    }
    Ok(())
}

fn build(
    source: &Memory,
    arguments: &Arguments,
    device: Device,
    (dtype, layout): (DType, Layout),
    seed: u64,
) -> anyhow::Result<Loader> {
    let builder = Loader::builder(source.clone())
        .batch_size(arguments.batch_size)
        .last_batch(LastBatch::Partial)
        .shuffle(true)
        .seed(seed)
        .augment(AnyChain { size: SIZE })
        .augment(RandomHorizontalFlip::default())
        .output(dtype, layout)
        .output_size(SIZE)
        // Ours alone: nvJPEG is not even opened, so that a sanitizer sees no kernel but ours.
        .decoder(DecoderChoice::Cpu)
        .device(device);
    let builder = match dtype {
        DType::U8 => builder,
        _ => builder
            .augment(RandomErasing { value: EraseValue::RANDOM, ..RandomErasing::default() })
            .normalize(IMAGENET_MEAN, IMAGENET_STD),
    };
    Ok(builder.augment(AnyMix).build()?)
}

/// The sample that value `at` of the batch belongs to, and the ops that were drawn for it.
fn describe(loader: &Loader, batch: &Batch, epoch: u64, at: usize) -> anyhow::Result<serde_json::Value> {
    let row = at / (SIZE.pixels() as usize * 3);
    let index = *batch.indices().get(row).context("a value behind the last row")?;
    let ops = loader.plan(epoch, index)?.ops;
    Ok(json!({ "key": batch.keys()[row], "epoch": epoch, "row": row, "value": at, "ops": ops }))
}
