//! How fast feedline's own decoder is on the device: its kernels by the device's clock, with the copies, and from files.

use crate::photos::read_all;
use crate::speed::cpu_seconds;
use crate::{Bench, print};
use anyhow::{Context, Error};
use feedline::augment::{Augment, RandomResizedCrop};
use feedline::coefficients::{Converter, Profile};
use feedline::device;
use feedline::device::cuda::jpeg::{FilePart, ParallelDecoder, Prepared, Settling};
use feedline::draft::Draft;
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::{Index, Limits, parse_header};
use feedline::rng::Rng;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Decode the same files over and over with feedline's decoder on the GPU
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of JPEG files
    #[arg(long)]
    data: PathBuf,
    /// Files decoded at a time
    #[arg(long, value_delimiter = ',')]
    batch_sizes: Vec<usize>,
    /// Of crop-index, crop, crop-packed, whole-index, whole and whole-packed: what is wanted of each file, and whether its decode
    /// index is known, or it is a file of coefficients
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "crop-index,crop,crop-packed,whole-index,whole,whole-packed"
    )]
    modes: Vec<String>,
    /// Seconds for each row
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Only launch the kernels once, for a profiler
    #[arg(long)]
    once: bool,
}

/// The crops' edge; it does not matter for what is decoded.
const SIZE: u32 = 224;
/// Device memory for one batch.
const MEMORY: usize = 8 << 30;
/// Device memory for all batches that are on their way, beyond that of the first two.
const MEMORY_ON_THE_WAY: usize = 24 << 30;
/// Decodings by the device's clock, at most.
const ROUNDS: usize = 100;
/// Decodings whose kernels are timed one by one.
const KERNEL_ROUNDS: usize = 5;

/// A file that the device takes, with its whole decode index; and its coefficients.
struct File {
    bytes: Vec<u8>,
    index: Index,
    /// Where a mode asks for them.
    packed: Vec<u8>,
}

/// What is decoded in a row.
struct Batch<'a> {
    parts: Vec<FilePart<'a>>,
    /// Bytes of its pixels.
    pixels: usize,
}

pub(crate) fn run(arguments: &Arguments, bench: Bench) -> anyhow::Result<()> {
    let mut decoders = vec![open()?];
    let (mut files, mut left_out) = (Vec::new(), 0);
    let mut converter = Converter::new(&Limits::default(), Profile::Small);
    let is_converted = arguments.modes.iter().any(|mode| mode.ends_with("packed"));
    for bytes in read_all(&arguments.data)? {
        // A profiler is to see the batch's launches, and no others.
        match if arguments.once { Some(Index::default()) } else { learn(&mut decoders[0], &bytes)? } {
            Some(index) => {
                let mut packed = Vec::new();
                match is_converted.then(|| converter.convert(&bytes, &mut packed)) {
                    None | Some(Ok(())) => files.push(File { bytes, index, packed }),
                    // Damaged where no pixel shows it.
                    Some(Err(_)) => left_out += 1,
                }
            }
            // What the device does not take is the workers' work, and not measured here.
            None => left_out += 1,
        }
    }
    anyhow::ensure!(!files.is_empty(), "the device takes none of the files");
    let nothing = Index::default();
    for &batch_size in &arguments.batch_sizes {
        for mode in &arguments.modes {
            let (is_crop, is_known) = (mode.starts_with("crop"), mode.ends_with("index"));
            let is_packed = mode.ends_with("packed");
            let files = files.iter().cycle().take(batch_size).map(|file| match is_packed {
                true => (&file.packed[..], None),
                false => (&file.bytes[..], Some(if is_known { &file.index } else { &nothing })),
            });
            let batch = batch(files, is_crop)?;
            let prepared = decoders[0].prepare(&batch.parts).map_err(Error::from_boxed)?;
            if arguments.once {
                prepared.time(1, false).map_err(Error::from_boxed)?;
                continue;
            }
            let mut row = Map::new();
            row.insert("batch_size".into(), batch_size.into());
            row.insert("left_out".into(), left_out.into());
            row.insert("wanted".into(), if is_crop { "crop" } else { "whole" }.into());
            // A file of coefficients has none.
            row.insert("index".into(), if is_packed { Value::Null } else { is_known.into() });
            on_device(&prepared, arguments, bench, &mut row)?;
            drop(prepared);
            let lanes = lanes_for(batch.pixels, bench);
            while decoders.len() < lanes {
                decoders.push(open()?);
            }
            from_files(&mut decoders[..lanes], &batch.parts, (arguments.seconds, bench), &mut row)?;
            print(&row)?;
        }
    }
    Ok(())
}

/// The decode index of a file; `None` where the device does not take it.
fn learn(decoder: &mut ParallelDecoder, bytes: &[u8]) -> anyhow::Result<Option<Index>> {
    let part = FilePart { bytes, region: None, index: Some(&Index::default()) };
    let learned = decoder.decode_on_device(&[part]).map_err(Error::from_boxed)?;
    Ok(learned.into_iter().find_map(Result::ok).flatten())
}

/// Crops of these files, or all of them, with what is known of each.
fn batch<'a>(
    files: impl Iterator<Item = (&'a [u8], Option<&'a Index>)>,
    is_crop: bool,
) -> anyhow::Result<Batch<'a>> {
    let mut batch = Batch { parts: Vec::new(), pixels: 0 };
    for (number, (bytes, index)) in (0..).zip(files) {
        let whole = parse_header(bytes)?.size;
        let region = if is_crop { crop(whole, number)? } else { whole.rect() };
        batch.parts.push(FilePart { bytes, region: Some(region), index });
        batch.pixels += 3 * region.size().pixels() as usize;
    }
    Ok(batch)
}

fn open() -> anyhow::Result<ParallelDecoder> {
    ParallelDecoder::open(0, MEMORY).map_err(Error::from_boxed)
}

/// The part of an image that the recipe imagenet-train would read for a sample of this number.
fn crop(stored: Size, number: u64) -> anyhow::Result<Rect> {
    let mut draft = Draft::new(number, stored, Orientation::UPRIGHT);
    RandomResizedCrop::new(SIZE).plan(&mut draft, Vec::new(), &mut Rng::new(1, 0, number, 0));
    Ok(device::region(&draft.freeze()?, 0))
}

/// By the device's clock.
fn on_device(
    prepared: &Prepared<'_>,
    arguments: &Arguments,
    bench: Bench,
    row: &mut Map<String, Value>,
) -> anyhow::Result<()> {
    let images = prepared.files() as f64;
    let time = |with_copies| -> anyhow::Result<f64> {
        let first = prepared.time(1, with_copies).map_err(Error::from_boxed)?;
        let most = arguments.seconds / 4.0 / f64::from(first[0].max(1e-3)) * 1e3;
        let rounds = if bench.simulated { 1 } else { (most as usize).clamp(5, ROUNDS) };
        let mut times = prepared.time(rounds, with_copies).map_err(Error::from_boxed)?;
        times.sort_by(f32::total_cmp);
        Ok(f64::from(times[times.len() / 2]) / 1e3)
    };
    let (kernels, copied) = (time(false)?, time(true)?);
    let rounds = if bench.simulated { 1 } else { KERNEL_ROUNDS };
    let each = prepared.time_kernels(rounds).map_err(Error::from_boxed)?;
    let each: Map<String, Value> = each
        .into_iter()
        .map(|(name, ms)| (name.to_owned(), json!(bench.figure(1e3 * f64::from(ms) / images))))
        .collect();
    let moved = prepared.moved();
    let settling = prepared.settling().map_err(Error::from_boxed)?;
    row.insert("taken".into(), prepared.files().into());
    row.insert("us_per_image".into(), json!(bench.figure(1e6 * kernels / images)));
    row.insert("kernels_us".into(), each.into());
    row.insert("decoded_per_s".into(), json!(bench.figure(images / kernels)));
    row.insert("with_copies_per_s".into(), json!(bench.figure(images / copied)));
    row.insert("bytes_to_device".into(), (moved.to_device / prepared.files()).into());
    row.insert("bytes_to_host".into(), (moved.to_host / prepared.files()).into());
    row.insert("settling".into(), settled(settling));
    Ok(())
}

/// Rounds until the cuts of a file fit each other.
fn settled(found: Settling) -> Value {
    let mut rounds: Vec<u32> = found.rounds.iter().map(|rounds| rounds.unwrap_or(u32::MAX)).collect();
    rounds.sort_unstable();
    let at =
        |share: usize| rounds.get(rounds.len().saturating_sub(1) * share / 100).filter(|&&at| at < u32::MAX);
    json!({ "cut_pieces": rounds.len(), "cuts": found.cuts, "median": at(50), "p90": at(90), "largest": at(100),
            "unsettled_cuts": found.unsettled })
}

/// Batches on their way at a time: one a core, as far as there is memory.
fn lanes_for(pixel_bytes: usize, bench: Bench) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Coefficients and samples take up to twice the pixels.
    if bench.simulated { 1 } else { cores.min((MEMORY_ON_THE_WAY / (3 * pixel_bytes)).max(2)) }
}

/// From files in the host's memory to pixels in the device's: each thread does the host's part for a batch and waits for the
/// device, as a loader's workers do together.
fn from_files(
    decoders: &mut [ParallelDecoder],
    parts: &[FilePart<'_>],
    (seconds, bench): (f64, Bench),
    row: &mut Map<String, Value>,
) -> anyhow::Result<()> {
    let (lanes, time) = (decoders.len(), Duration::from_secs_f64(seconds / 2.0));
    let ready = Barrier::new(lanes + 1);
    let lane = |decoder: &mut ParallelDecoder| -> anyhow::Result<usize> {
        let mut decode = || {
            let outcomes = decoder.decode_on_device(parts).map_err(Error::from_boxed)?;
            Ok(outcomes.iter().filter(|outcome| outcome.is_ok()).count())
        };
        // Memory grows once; whether that fails or not, nobody is kept waiting.
        let warm: anyhow::Result<usize> = decode();
        ready.wait();
        warm?;
        let (began, mut images) = (Instant::now(), decode()?);
        while began.elapsed() < time {
            images += decode()?;
        }
        Ok(images)
    };
    let (images, took, cpu) = std::thread::scope(|scope| {
        let started: Vec<_> = decoders.iter_mut().map(|decoder| scope.spawn(|| lane(decoder))).collect();
        ready.wait();
        let (began, cpu) = (Instant::now(), cpu_seconds()?);
        let images =
            started.into_iter().map(|lane| lane.join().map_err(|_| Error::msg("a lane has ended"))?);
        let images: usize = images.sum::<anyhow::Result<usize>>().context("from files")?;
        anyhow::Ok((images, began.elapsed(), cpu_seconds()? - cpu))
    })?;
    row.insert("batches_on_their_way".into(), lanes.into());
    row.insert("images_per_s".into(), json!(bench.figure(images as f64 / took.as_secs_f64())));
    row.insert("cpu_s_per_1000".into(), json!(bench.figure(1000.0 * cpu / images as f64)));
    Ok(())
}
