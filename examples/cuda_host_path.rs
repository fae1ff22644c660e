//! What the host pays for a CUDA device, measured on the null device, which does nothing: the share of the samples that
//! the workers decode beside a loop over the decoder alone, and the whole path where the device decodes all files.
//!
//! ```sh
//! make --directory testdouble WORK=none OUT=$PWD/target/testdouble/plain-null
//! export LD_LIBRARY_PATH=$PWD/target/testdouble/plain-null FAKECUDA=mode=sync
//! export FEEDLINE_NVJPEG=$LD_LIBRARY_PATH/libnvjpeg.so.13
//! cargo run --release --example cuda_host_path -- decode FOLDER
//! cargo run --release --example cuda_host_path -- stage FOLDER
//! cargo run --release --example cuda_host_path -- scan FOLDER
//! ```
//!
//! `decode` compares the loader with a loop that reads, parses and decodes the same parts of the same files by decode
//! indexes, in turns: A B A B. `stage` gives the split of a batch's way to decoders that take everything; `scan` the same
//! for feedline's own decoder on the device, with the whole decode index of each file known, and without any.

use anyhow::{Context, ensure};
use feedline::augment::{RandomHorizontalFlip, RandomResizedCrop, Resize};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::device::{Device, region};
use feedline::draft::op::Extent;
use feedline::image::{Decoder, Image, Index, Limits, parse_header};
use feedline::index::{IndexMode, IndexStore};
use feedline::label::Label;
use feedline::loader::{LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout};
use feedline::plan::Plan;
use feedline::policy::DecoderChoice;
use feedline::source::{Destination, Folder, Source};
use nix::sys::resource::{UsageWho, getrusage};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// Rounds of each contestant.
const ROUNDS: u64 = 9;
/// Samples of a round: the folder again and again.
const SAMPLES: usize = 1000;
const BATCH_SIZE: usize = 100;

/// Seconds by the clock, and of all processors together.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, folder, ..] = arguments.as_slice() else {
        anyhow::bail!("usage: cuda_host_path decode|stage|scan FOLDER [WORKERS]");
    };
    let workers = arguments.get(2).map_or(Ok(1), |workers| workers.parse())?;
    let device = Device::cuda(0)?;
    ensure!(
        device.describe().contains("NOTHING"),
        "{}: this is for the null device (make --directory testdouble WORK=none)",
        device.describe()
    );
    println!("{}", device.describe());
    let source: Arc<dyn Source> = Arc::new(Again(Folder::open_any(folder)?));
    // Nothing is verified: the null device's decoders would be left at once, since they write nothing.
    let loader = |decoder| recipe(&source, workers).device(device).decoder(decoder).verify_decoding(false);
    match task.as_str() {
        "decode" => decode(&loader(DecoderChoice::Cpu).build()?, &source),
        "stage" => stage(&loader(DecoderChoice::Nvjpeg).build()?),
        "scan" => {
            // The null device notes no places, so the indexes come from the CPU, and nothing is to be learned.
            let sidecar = std::env::temp_dir().join(format!("cuda-host-path-{}.index", std::process::id()));
            let index = IndexMode::File(sidecar.clone());
            learn(&source, index.clone())?;
            println!("by decode indexes:");
            stage(&loader(DecoderChoice::Feedline).decode_index(index).build()?)?;
            std::fs::remove_file(sidecar)?;
            println!("from the scan's start:");
            stage(&loader(DecoderChoice::Feedline).decode_index(IndexMode::Off).build()?)
        }
        other => anyhow::bail!("`{other}` is none of decode, stage and scan"),
    }
}

/// Writes the decode indexes of whole files.
fn learn(source: &Arc<dyn Source>, index: IndexMode) -> anyhow::Result<()> {
    let builder = Loader::builder(Arc::clone(source)).augment(Resize::new(Extent::Two([32, 32])));
    epoch(&builder.batch_size(BATCH_SIZE).decode_index(index).build()?, 0)
}

/// A folder of files, shown again until there are enough samples.
struct Again(Folder);

impl Source for Again {
    fn len(&self) -> usize {
        SAMPLES
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> feedline::error::Result<()> {
        self.0.read(self.record(index), bytes)
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> feedline::error::Result<()> {
        self.0.read_into(self.record(index), to)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.0.key(self.record(index))
    }

    fn label(&self, index: usize) -> Label {
        self.0.label(self.record(index))
    }

    fn record(&self, index: usize) -> usize {
        index % self.0.len()
    }
}

/// The recipe of all tasks.
fn recipe(source: &Arc<dyn Source>, workers: usize) -> LoaderBuilder {
    let builder = Loader::builder(Arc::clone(source)).batch_size(BATCH_SIZE).shuffle(true).seed(1);
    let builder = builder.augment(RandomResizedCrop::new(224)).augment(RandomHorizontalFlip::default());
    let builder = builder.normalize(IMAGENET_MEAN, IMAGENET_STD).output(DType::F16, Layout::Nchw);
    builder.last_batch(LastBatch::Drop).workers(workers).prefetch(2)
}

fn decode(loader: &Loader, source: &Arc<dyn Source>) -> anyhow::Result<()> {
    let (mut plain, mut on_device, mut by_loop) = (Plain::new(), Vec::new(), Vec::new());
    // Both have seen every file when it begins, as in the later epochs of a run.
    for round in 0..ROUNDS + 1 {
        let order: Vec<u64> = (0..SAMPLES as u64).collect();
        let plans: Result<Vec<Plan>, _> =
            order.iter().map(|&index| loader.plan(round, index).map(|planned| planned.plan)).collect();
        let plans = plans?;
        let a = measure(|| epoch(loader, round))?;
        let b = measure(|| plain.decode(&**source, &plans))?;
        if round > 0 {
            on_device.push(a);
            by_loop.push(b);
        }
    }
    let by = loader.stats().decoded_by.context("no device")?;
    ensure!(by.total() == by.cpu, "the device decoded: {by:?}");
    let (a, b) = (median(&on_device), median(&by_loop));
    println!("CPU seconds and seconds per {SAMPLES} samples, medians of {ROUNDS} rounds in turns:");
    println!("  the workers of the CUDA path  {:7.3}  {:7.3}", a.cpu, a.wall);
    println!("  a loop over the decoder       {:7.3}  {:7.3}", b.cpu, b.wall);
    println!("  the path costs {:+.1} % more CPU time", (a.cpu / b.cpu - 1.0) * 100.0);
    Ok(())
}

/// The loop: one file after the other is read, and what its plan reads of it is decoded.
struct Plain {
    indexes: IndexStore,
    decoder: Decoder,
    image: Image,
    index: Index,
    bytes: Vec<u8>,
}

impl Plain {
    fn new() -> Self {
        let (image, index, bytes) = Default::default();
        let decoder = Decoder::new(Limits::default());
        Self { indexes: IndexStore::new(1 << 30), decoder, image, index, bytes }
    }

    fn decode(&mut self, source: &dyn Source, plans: &[Plan]) -> anyhow::Result<()> {
        let Self { indexes, decoder, image, index, bytes } = self;
        for plan in plans {
            let (record, wanted) = (plan.images[0].index as usize, region(plan, 0));
            source.read(record, bytes)?;
            let header = parse_header(bytes)?;
            indexes.fetch(source.record(record) as u64, index);
            decoder.decode_part(bytes, &header, wanted.into(), Some(index), image)?;
            indexes.keep(source.record(record) as u64, index);
        }
        Ok(())
    }
}

fn stage(loader: &Loader) -> anyhow::Result<()> {
    epoch(loader, 0)?;
    let costs: anyhow::Result<Vec<Cost>> =
        (1..=ROUNDS).map(|round| measure(|| epoch(loader, round))).collect();
    let (cost, stats) = (median(&costs?), loader.stats());
    println!(
        "per {SAMPLES} samples, median of {ROUNDS} rounds: {:.4} CPU seconds, {:.4} seconds",
        cost.cpu, cost.wall
    );
    println!("  {:.0} images/s with {} workers", SAMPLES as f64 / cost.wall, stats.workers);
    let by = stats.decoded_by.context("no device")?;
    println!("  {} decoded by the device, {} by the workers", by.total() - by.cpu, by.cpu);
    let stages = [
        ("read", stats.source),
        ("plan", stats.plan),
        ("header, staging", stats.decode),
        ("submit", stats.render),
    ];
    for (name, timing) in stages {
        println!("  {name:16} {timing:?}");
    }
    Ok(())
}

fn epoch(loader: &Loader, number: u64) -> anyhow::Result<()> {
    for batch in loader.epoch(number) {
        batch?.wait()?;
    }
    Ok(())
}

fn measure(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Cost> {
    let cpu = || -> anyhow::Result<f64> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
        Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
    };
    let (started, before) = (Instant::now(), cpu()?);
    work()?;
    Ok(Cost { wall: started.elapsed().as_secs_f64(), cpu: cpu()? - before })
}

fn median(costs: &[Cost]) -> Cost {
    let middle = |of: fn(&Cost) -> f64| {
        let mut values: Vec<f64> = costs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Cost { wall: middle(|cost| cost.wall), cpu: middle(|cost| cost.cpu) }
}
