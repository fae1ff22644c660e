//! How fast the GPU decodes and renders, each alone.

use crate::photos::read_all;
use crate::{Bench, NVJPEG, print};
use anyhow::Context;
use feedline::augment::{Augment, ColorJitter, RandomHorizontalFlip, RandomResizedCrop};
use feedline::color::Normalize;
use feedline::device;
use feedline::device::cuda::{ImageDecoder, Renderer, Route};
use feedline::draft::Draft;
use feedline::geometry::{Orientation, Size};
use feedline::image::{Image, parse_header};
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::rng::{Draws, Rng};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Decode the same files over and over with one of the GPU's decoders
#[derive(clap::Args)]
pub(crate) struct Decode {
    /// A folder of JPEG files
    #[arg(long)]
    data: PathBuf,
    /// hardware, gpu-huffman, hybrid, or auto for all of them by their measured speeds
    #[arg(long)]
    backend: String,
    /// Give the engines files of all samplings in one call
    #[arg(long)]
    mixed: bool,
    /// Files decoded at a time
    #[arg(long, value_delimiter = ',')]
    batch_sizes: Vec<usize>,
    /// Seconds for each batch size
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

/// Render batches of noise, by the device's own clock
#[derive(clap::Args)]
pub(crate) struct Render {
    /// Size of the decoded images, WIDTHxHEIGHT
    #[arg(long)]
    source: String,
    /// Both edges of the samples
    #[arg(long)]
    size: u32,
    /// f32, f16, bf16 or u8
    #[arg(long)]
    dtype: String,
    /// nchw or nhwc
    #[arg(long)]
    layout: String,
    /// Samples in a batch
    #[arg(long)]
    batch_size: usize,
    /// crop, or colour for a crop and a colour jitter
    #[arg(long)]
    recipe: String,
}

/// Decoded pixels of all batches together: several times the cache of any GPU, so that its memory is measured.
const WORKING_SET: usize = 512 << 20;
/// Most different batches.
const MAX_BATCHES: usize = 64;
/// Renderings that are timed.
const RENDERINGS: usize = 100;

pub(crate) fn decode(arguments: &Decode, bench: Bench) -> anyhow::Result<()> {
    let files = read_all(&arguments.data)?;
    let mut decoder = ImageDecoder::open(0, true)?;
    if let Some((_, route)) = NVJPEG.iter().find(|(word, _)| *word == arguments.backend) {
        decoder.choose(*route);
    }
    decoder.group_by_sampling(!arguments.mixed);
    for &batch_size in &arguments.batch_sizes {
        let batch: Vec<&[u8]> = files.iter().map(Vec::as_slice).cycle().take(batch_size).collect();
        let pixels: u64 =
            batch.iter().map(|bytes| parse_header(bytes).map_or(0, |header| header.size.pixels())).sum();
        // Once for all that is only done once, however long that takes.
        let (_, _, routes) = time(&mut decoder, &batch, Duration::ZERO)?;
        let count = |route| routes.iter().filter(|&&by| by == route).count();
        let by = NVJPEG.map(|(word, route)| (word, count(route)));
        if routes.len() < batch_size
            || by.iter().any(|&(word, files)| word == arguments.backend && files == 0)
        {
            // The rate of a batch that was not decoded, or not by this decoder, would say nothing.
            print(
                &json!({ "backend": arguments.backend, "batch_size": batch_size, "decoded_by": words(by) }),
            )?;
            continue;
        }
        let cpu = cpu_seconds()?;
        let (rounds, took, _) = time(&mut decoder, &batch, Duration::from_secs_f64(arguments.seconds))?;
        let cpu = cpu_seconds()? - cpu;
        let images = (rounds * batch_size) as f64;
        // One more round went ahead of those that were timed.
        let cpu_images = ((rounds + 1) * batch_size) as f64;
        print(&json!({
            "backend": arguments.backend,
            "batch_size": batch_size,
            "decoded_by": words(by),
            "images_per_s": bench.figure(images / took.as_secs_f64()),
            "megapixels_per_s": bench.figure(pixels as f64 * rounds as f64 / 1e6 / took.as_secs_f64()),
            "cpu_s_per_1000": bench.figure(1000.0 * cpu / cpu_images),
        }))?;
    }
    Ok(())
}

/// Decodes all files again and again for about `time`, and once more ahead of it. Returns how many rounds that were, how long
/// they took, and which decoders took the files of the last one; files that none took are left out.
fn time(
    decoder: &mut ImageDecoder,
    files: &[&[u8]],
    time: Duration,
) -> anyhow::Result<(usize, Duration, Vec<Route>)> {
    // As in a loader: one round is decoded while the next one's files are prepared.
    let lists = [files];
    let mut rounds = decoder.rounds(&lists, 2)?;
    // This one warms up: memory grows, kernels are loaded.
    rounds.decode(0, true)?;
    rounds.wait()?;
    let (began, mut count) = (Instant::now(), 0);
    let routes = loop {
        let routes = rounds.decode(0, true)?;
        count += 1;
        if began.elapsed() >= time {
            break routes.into_iter().filter_map(Result::ok).collect();
        }
    };
    rounds.wait()?;
    Ok((count, began.elapsed(), routes))
}

/// How many files of a batch each decoder has taken.
fn words(by: [(&str, usize); 3]) -> String {
    let taken = by.iter().filter(|(_, files)| *files > 0).map(|(word, files)| format!("{word} {files}"));
    taken.collect::<Vec<_>>().join(", ")
}

pub(crate) fn render(arguments: &Render, bench: Bench) -> anyhow::Result<()> {
    let (width, height) = arguments.source.split_once('x').context("--source is WIDTHxHEIGHT")?;
    let source = Size::new(width.parse()?, height.parse()?);
    let dtype: DType = serde_json::from_value(json!(arguments.dtype))?;
    let layout: Layout = serde_json::from_value(json!(arguments.layout))?;
    let normalize = (dtype != DType::U8).then_some(Normalize::IMAGENET);
    let output = Output { size: Size::new(arguments.size, arguments.size), dtype, layout, normalize };
    let batch_bytes = source.pixels() as usize * 3 * arguments.batch_size;
    let count = if bench.simulated { 1 } else { WORKING_SET.div_ceil(batch_bytes).min(MAX_BATCHES) };
    let samples = (count * arguments.batch_size) as u64;
    let plans: Vec<Plan> =
        (0..samples).map(|sample| plan(arguments, source, sample)).collect::<Result<_, _>>()?;
    let images: Vec<Image> = plans.iter().zip(0..).map(|(plan, sample)| noise(plan, sample)).collect();
    let images: Vec<&[Image]> = images.iter().map(std::slice::from_ref).collect();
    let batches: Vec<(&[Plan], &[&[Image]])> =
        plans.chunks(arguments.batch_size).zip(images.chunks(arguments.batch_size)).collect();
    let rounds = if bench.simulated { 1 } else { RENDERINGS.div_ceil(count) };
    let mut times = Renderer::new(0)
        .and_then(|mut gpu| gpu.time(&batches, &output, rounds))
        .map_err(anyhow::Error::from_boxed)?;
    times.sort_by(f32::total_cmp);
    let seconds = f64::from(times[times.len() / 2]) / 1000.0;
    // What must be moved at least: the pixels that the plans read, once, and the samples, once.
    let read: u64 = plans.iter().map(|plan| 3 * device::region(plan, 0).size().pixels()).sum();
    let bytes = read as f64 / count as f64 + (output.sample_bytes() * arguments.batch_size) as f64;
    print(&json!({
        "recipe": arguments.recipe,
        "source": arguments.source,
        "size": arguments.size,
        "dtype": arguments.dtype,
        "layout": arguments.layout,
        "batch_size": arguments.batch_size,
        "batches": count,
        "renderings": times.len(),
        "bytes": bytes as u64,
        "us_per_image": bench.figure(1e6 * seconds / arguments.batch_size as f64),
        "fastest_us_per_image": bench.figure(1e3 * f64::from(times[0]) / arguments.batch_size as f64),
        "gb_per_s": bench.figure(bytes / 1e9 / seconds),
    }))
}

fn plan(arguments: &Render, source: Size, sample: u64) -> feedline::error::Result<Plan> {
    let mut draft = Draft::new(sample, source, Orientation::UPRIGHT);
    let mut chain: Vec<Box<dyn Augment>> =
        vec![Box::new(RandomResizedCrop::new(arguments.size)), Box::new(RandomHorizontalFlip::default())];
    if arguments.recipe == "colour" {
        chain.push(Box::new(ColorJitter::new(0.4, 0.4, 0.4, 0.1)));
    }
    for (number, augment) in chain.iter().enumerate() {
        augment.plan(&mut draft, Vec::new(), &mut Rng::new(1, 0, sample, number as u32));
    }
    draft.freeze()
}

/// The part of the image that the plan reads, as a decoder would have made it; never zeros, which are faster to move.
fn noise(plan: &Plan, sample: u64) -> Image {
    let mut rng = Rng::new(2, 0, sample, 0);
    let mut image = Image::default();
    image.reset(plan.images[0].stored, device::region(plan, 0));
    image
        .data
        .chunks_mut(4)
        .for_each(|bytes| bytes.copy_from_slice(&rng.bits().to_le_bytes()[..bytes.len()]));
    image
}

/// User and system time of this process.
pub(crate) fn cpu_seconds() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
