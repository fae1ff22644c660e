//! Decoders that write where something has just read, and batches made under that pressure.
//!
//! nvJPEG's hardware engine on Hopper does not wait for earlier work on its stream, so if nothing else held it back, it
//! would write too early and batches would hold parts of other images. First each decoder is looked at alone, with the
//! host's wait and without; then whole batches are made in little memory and compared with batches made one at a time.

use crate::photos::{Repeated, read_all};
use crate::values::{Difference, compare};
use crate::{BACKENDS, Bench, open, print};
use feedline::device::Device;
use feedline::device::cuda::ImageDecoder;
use feedline::image::{Image, parse_header};
use feedline::loader::{Batch, Loader};
use feedline::output::{DType, Layout};
use feedline::policy::DecoderChoice;
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
/// Batches that the consumer takes before it waits for the first of them, so that the host has not seen their readers
/// end when the next ones are decoded.
const HELD: usize = 4;
/// Device memory in the largest images of the data set. A batch is then made in many parts, each in the memory of one
/// before.
const LITTLE_MEMORY: u64 = 6;

/// Decodings of each decoder, with the host's wait and without.
const ROUNDS: usize = 60;

pub(crate) fn run(arguments: &Arguments, bench: Bench) -> anyhow::Result<()> {
    decoders_alone(arguments, bench)?;
    batches(arguments, bench)
}

fn decoders_alone(arguments: &Arguments, bench: Bench) -> anyhow::Result<()> {
    let files = read_all(&arguments.data)?;
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).cycle().take(2 * arguments.batch_size).collect();
    let (first, second) = files.split_at(arguments.batch_size);
    for (word, route) in BACKENDS {
        let mut decoder = open(route, false)?;
        for guarded in [true, false] {
            let rounds = if bench.simulated { 4 } else { ROUNDS };
            let (read, different) = overwritten(&mut decoder, [first, second], rounds, guarded)?;
            if read == 0 {
                continue; // the device has no such decoder, or it takes none of these files
            }
            let wait =
                if guarded { "the host waits for the last reader" } else { "only the stream is ordered" };
            print(&json!({
                "what": format!("{word}, {wait}"),
                "required": guarded,
                "of": format!("{rounds} rounds, files"),
                "values": read,
                "different": different,
            }))?;
        }
    }
    Ok(())
}

/// Decodes two lists in turn into the same memory, each right after the copy that brings the pixels of the one before to
/// the host, and compares what the copies saw with lists decoded alone. Returns how many files were read, and of how many the
/// pixels were not what they are when nothing follows them.
///
/// With `guarded` the host first sees the copy end, as a loader does, and nothing may be wrong.
fn overwritten(
    decoder: &mut ImageDecoder,
    lists: [&[&[u8]]; 2],
    rounds: usize,
    guarded: bool,
) -> anyhow::Result<(usize, usize)> {
    let mut memory = decoder.rounds(&lists, 1)?;
    let mut alone: [Vec<Option<Image>>; 2] = Default::default();
    let (mut read, mut different) = (0, 0);
    // The first two rounds have nothing after them that could disturb them: they are the reference.
    for round in 0..rounds + 2 {
        let (turn, reference) = (round % 2, round < 2);
        let outcomes = memory.decode(turn, guarded || reference)?;
        memory.copy(turn)?;
        if reference {
            let images = memory.images(turn)?.into_iter().zip(outcomes);
            alone[turn] = images.map(|(image, outcome)| outcome.ok().map(|_| image)).collect();
        } else if round > 2 {
            for (seen, alone) in memory.images(1 - turn)?.iter().zip(&alone[1 - turn]) {
                let Some(alone) = alone else { continue };
                read += 1;
                different += usize::from(seen.data != alone.data);
            }
        }
    }
    memory.wait()?;
    Ok((read, different))
}

fn batches(arguments: &Arguments, bench: Bench) -> anyhow::Result<()> {
    let calm = build(arguments, bench.gpu, None, 1)?;
    let mut reference = Vec::new();
    for batch in calm.epoch(0) {
        let batch = batch?;
        batch.wait()?;
        reference.push(batch.to_host()?);
    }
    drop(calm);
    let largest = read_all(&arguments.data)?.iter().map(|file| decoded_bytes(file)).max().unwrap_or(0);
    for (memory, words) in [(Some(LITTLE_MEMORY * largest), "little memory"), (None, "usual memory")] {
        let pressed = build(arguments, bench.gpu, memory, HELD)?;
        let half = Duration::from_secs_f64(arguments.seconds / 2.0);
        let began = Instant::now();
        let (mut total, mut batches) = (Difference::default(), 0);
        while batches == 0 || began.elapsed() < half {
            let mut epoch = pressed.epoch(0);
            loop {
                let held: Vec<Batch> = epoch.by_ref().take(HELD).collect::<Result<_, _>>()?;
                for batch in &held {
                    total = total.and(compare(&reference[batch.number()], &batch.to_host()?, DType::F16));
                }
                batches += held.len();
                if held.is_empty() {
                    break;
                }
            }
        }
        print(&json!({
            "what": format!("batches in {words}, decoded by {}", decoders(&pressed)),
            // Which of two decoders takes a file depends on the time it takes, and their pixels may differ a little.
            "required": bench.simulated,
            "of": format!("{batches} batches, values"),
            "values": total.values,
            "different": total.different,
            "largest": total.largest,
        }))?;
    }
    Ok(())
}

fn decoded_bytes(file: &[u8]) -> u64 {
    parse_header(file).map_or(0, |header| 3 * header.size.pixels())
}

fn build(arguments: &Arguments, gpu: Device, memory: Option<u64>, prefetch: usize) -> anyhow::Result<Loader> {
    let source = Repeated::open(&arguments.data, BATCHES * arguments.batch_size)?;
    let builder = Loader::builder(source)
        .recipe(&Recipe::built_in("imagenet-train")?)
        .batch_size(arguments.batch_size)
        .prefetch(prefetch)
        .output(DType::F16, Layout::Nchw)
        .decoder(DecoderChoice::Nvjpeg)
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
    let counted = [
        ("hardware", by.hardware),
        ("gpu-huffman", by.gpu_huffman),
        ("hybrid", by.hybrid),
        ("cpu", by.cpu),
        ("feedline", by.feedline),
    ];
    let used = counted.iter().filter(|(_, images)| *images > 0);
    used.map(|(name, images)| format!("{name} {images}")).collect::<Vec<_>>().join(", ")
}
