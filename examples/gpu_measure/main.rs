//! What `gpu/run` measures that needs Rust: equal pixels, speed, and batches for a training step in another process.
//!
//! Each command prints one JSON object a line. On a simulated device, which needs `--simulated`, whatever is measured
//! in seconds, and what nvJPEG makes of pixels, is null: such a figure would say nothing.

mod any_chain;
mod crops;
mod decode_parity;
mod feed;
mod hazard;
mod photos;
mod render_parity;
mod speed;
mod values;

use anyhow::bail;
use clap::{Parser, Subcommand};
use feedline::device::Device;
use feedline::device::cuda::Route;
use serde::Serialize;
use std::io::Write;

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
    DecodeParity(decode_parity::Whole),
    DecodeRegions(decode_parity::Parts),
    DecodeSpeed(speed::Decode),
    Hazard(hazard::Arguments),
    Crops(crops::Arguments),
    Feed(feed::Arguments),
}

/// The GPU's decoders by the words of the commands.
const BACKENDS: [(&str, Route); 3] =
    [("hardware", Route::Hardware), ("gpu-huffman", Route::GpuHuffman), ("hybrid", Route::Hybrid)];

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
        What::Feed(arguments) if arguments.on_cpu() => feed::run(&arguments, Device::cpu()),
        What::Feed(arguments) => feed::run(&arguments, Bench::open(simulated)?.gpu),
        What::RenderParity(arguments) => render_parity::run(&arguments, Bench::open(simulated)?),
        What::RenderSpeed(arguments) => speed::render(&arguments, Bench::open(simulated)?),
        What::DecodeParity(arguments) => decode_parity::whole(&arguments, Bench::open(simulated)?),
        What::DecodeRegions(arguments) => {
            Bench::open(simulated)?;
            decode_parity::parts(&arguments)
        }
        What::DecodeSpeed(arguments) => speed::decode(&arguments, Bench::open(simulated)?),
        What::Hazard(arguments) => hazard::run(&arguments, Bench::open(simulated)?),
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
