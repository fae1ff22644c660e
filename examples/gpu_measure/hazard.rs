//! Batches made under pressure against the same batches made one at a time.
//!
//! Little device memory lets decoders write where a kernel has just read. nvJPEG's hardware engine on Hopper does not
//! wait for earlier work on its stream, so if nothing else held it back, it would write too early and batches would
//! hold parts of other images.

use crate::photos::Repeated;
use crate::values::{Difference, compare};
use crate::{Bench, print};
use feedline::device::Device;
use feedline::loader::Loader;
use feedline::output::{DType, Layout};
use feedline::recipe::Recipe;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Make batches as fast as possible in little memory, and compare them with those made one at a time
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of images
    #[arg(long)]
    data: PathBuf,
    /// Seconds for the batches under pressure
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Samples in a batch
    #[arg(long, default_value_t = 64)]
    batch_size: usize,
}

/// Batches of an epoch; every epoch is compared with the same reference.
const BATCHES: usize = 8;
/// Enough for some images: a batch is then made in many parts, each in the memory of one before.
const LITTLE_MEMORY: u64 = 24 << 20;

pub(crate) fn run(arguments: &Arguments, bench: Bench) -> anyhow::Result<()> {
    let calm = build(arguments, bench.gpu, None, 1)?;
    let mut reference = Vec::new();
    for batch in calm.epoch(0) {
        let batch = batch?;
        batch.wait()?;
        reference.push(batch.to_host()?);
    }
    drop(calm);
    for (memory, words) in [(Some(LITTLE_MEMORY), "little memory"), (None, "usual memory")] {
        let pressed = build(arguments, bench.gpu, memory, 4)?;
        let half = Duration::from_secs_f64(arguments.seconds / 2.0);
        let began = Instant::now();
        let (mut total, mut batches) = (Difference::default(), 0);
        while batches == 0 || began.elapsed() < half {
            for (number, batch) in pressed.epoch(0).enumerate() {
                let found = compare(&reference[number], &batch?.to_host()?, DType::F16);
                total = total.and(found);
                batches += 1;
            }
        }
        print(&json!({
            "what": words,
            "decoder": decoders(&pressed),
            "batches": batches,
            "values": total.values,
            "different": total.different,
            "largest": total.largest,
        }))?;
    }
    Ok(())
}

fn build(arguments: &Arguments, gpu: Device, memory: Option<u64>, prefetch: usize) -> anyhow::Result<Loader> {
    let source = Repeated::open(&arguments.data, BATCHES * arguments.batch_size)?;
    let builder = Loader::builder(source)
        .recipe(&Recipe::built_in("imagenet-train")?)
        .batch_size(arguments.batch_size)
        .prefetch(prefetch)
        .output(DType::F16, Layout::Nchw)
        .device(gpu);
    Ok(match memory {
        Some(bytes) => builder.device_memory(bytes),
        None => builder,
    }
    .build()?)
}

/// Which decoders the loader's images went through.
fn decoders(loader: &Loader) -> String {
    let Some(by) = loader.stats().decoded_by else { return "none".into() };
    let counted =
        [("hardware", by.hardware), ("gpu-huffman", by.gpu_huffman), ("hybrid", by.hybrid), ("cpu", by.cpu)];
    let used = counted.iter().filter(|(_, images)| *images > 0);
    used.map(|(name, images)| format!("{name} {images}")).collect::<Vec<_>>().join(", ")
}
