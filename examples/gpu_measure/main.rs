//! What `gpu/run` measures that needs Rust: equal pixels, speed, and what each decoder makes of each kind of file.
//!
//! Each command prints one JSON object a line. On a simulated device, which needs `--simulated`, whatever is measured
//! in seconds, and what nvJPEG makes of pixels, is null: such a figure would say nothing.

mod any_chain;
mod common_files;
mod crops;
mod decode_parity;
mod hazard;
mod own_batches;
mod own_parity;
mod own_speed;
mod photos;
mod render_parity;
mod speed;
mod support;
mod values;

use anyhow::bail;
use clap::{Parser, Subcommand};
use feedline::device::Device;
use feedline::device::cuda::{ImageDecoder, Route};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Parser)]
#[command(version, about = "Measures what a GPU does; see docs/gpu.md")]
struct Command {
    /// Run on a simulated device, and print no figures
    #[arg(long, global = true)]
    simulated: bool,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    RenderParity(render_parity::Arguments),
    RenderSpeed(speed::Render),
    OwnParity(own_parity::Arguments),
    OwnBatches(own_batches::Arguments),
    OwnSpeed(own_speed::Arguments),
    DecodeParity(decode_parity::Whole),
    DecodeRegions(decode_parity::Parts),
    DecodeSpeed(speed::Decode),
    Hazard(hazard::Arguments),
    Crops(crops::Arguments),
    CommonFiles(common_files::Arguments),
    Support(support::Support),
    Damage(support::Damage),
}

/// nvJPEG's decoders by the words of the commands.
const NVJPEG: [(&str, Route); 3] =
    [("hardware", Route::Hardware), ("gpu-huffman", Route::GpuHuffman), ("hybrid", Route::Hybrid)];

/// All decoders on the GPU, feedline's own first.
const BACKENDS: [(&str, Route); 4] = [("feedline", Route::Feedline), NVJPEG[0], NVJPEG[1], NVJPEG[2]];

/// Device memory for feedline's own decoder.
const OWN_MEMORY: usize = 4 << 30;

/// nvJPEG decodes smaller batches on the CPU, whatever it is asked for.
const FOR_GPU_HUFFMAN: usize = 64;

/// The files, again and again where the decoder takes large batches only.
fn filled<'a>(files: &[&'a [u8]], route: Route) -> Vec<&'a [u8]> {
    let least = if route == Route::GpuHuffman { FOR_GPU_HUFFMAN } else { 0 };
    files.iter().copied().cycle().take(files.len().max(least)).collect()
}

/// A decoder that this route alone is chosen of; `parts` as in [`ImageDecoder::open`].
fn open(route: Route, parts: bool) -> anyhow::Result<ImageDecoder> {
    if route == Route::Feedline {
        return Ok(ImageDecoder::open_own(0, OWN_MEMORY)?);
    }
    let mut decoder = ImageDecoder::open(0, parts)?;
    decoder.choose(route);
    Ok(decoder)
}

/// Each folder of `data`, which holds files of one kind, with each of these decoders.
fn each_kind(
    data: &Path,
    backends: &[(&'static str, Route)],
    measure: impl Fn(&Path, &str, Route) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(data)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    folders.sort();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for &(word, route) in backends {
            measure(folder, word, route)?;
        }
    }
    Ok(())
}

/// The device that is measured, and whether it is one.
#[derive(Clone, Copy)]
struct Bench {
    gpu: Device,
    simulated: bool,
}

fn main() -> anyhow::Result<()> {
    let Command { simulated, what } = Command::parse();
    match what {
        // These two need no GPU.
        What::Crops(arguments) => crops::run(&arguments),
        What::CommonFiles(arguments) => common_files::run(&arguments),
        What::RenderParity(arguments) => render_parity::run(&arguments, Bench::open(simulated)?),
        What::RenderSpeed(arguments) => speed::render(&arguments, Bench::open(simulated)?),
        What::OwnParity(arguments) => {
            Bench::open(simulated)?;
            own_parity::run(&arguments)
        }
        What::OwnBatches(arguments) => own_batches::run(&arguments, Bench::open(simulated)?),
        What::OwnSpeed(arguments) => own_speed::run(&arguments, Bench::open(simulated)?),
        What::DecodeParity(arguments) => decode_parity::whole(&arguments, Bench::open(simulated)?),
        What::DecodeRegions(arguments) => {
            Bench::open(simulated)?;
            decode_parity::parts(&arguments)
        }
        What::DecodeSpeed(arguments) => speed::decode(&arguments, Bench::open(simulated)?),
        What::Hazard(arguments) => hazard::run(&arguments, Bench::open(simulated)?),
        What::Support(arguments) => {
            Bench::open(simulated)?;
            support::support(&arguments)
        }
        What::Damage(arguments) => {
            Bench::open(simulated)?;
            support::damage(&arguments)
        }
    }
}

impl Bench {
    /// The first GPU; a simulated one only where that is asked for, so that none is taken for a GPU.
    fn open(simulated: bool) -> anyhow::Result<Self> {
        let gpu = Device::cuda(0)?;
        if gpu.is_simulated() != simulated {
            bail!(
                "{} is {}: --simulated is for simulated devices, and for nothing else",
                gpu.describe(),
                if simulated { "a GPU" } else { "simulated" }
            );
        }
        Ok(Self { gpu, simulated })
    }

    /// A measured value; nothing where the device is simulated, whose pixels and times are no GPU's.
    fn figure(self, value: f64) -> Option<f64> {
        (!self.simulated).then_some(value)
    }
}

/// Prints one object on one line, at once.
fn print(row: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_string(row)?;
    line.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())?;
    Ok(out.flush()?)
}
