//! The files that every decoder on a GPU is made for, so that all can be measured with the same ones.

use crate::photos::Named;
use crate::print;
use feedline::jpeg::{ColorModel, parse_header};
use serde_json::json;
use std::path::PathBuf;

/// List the files of a folder that all of the GPU's decoders are made for
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of JPEG files
    #[arg(long)]
    data: PathBuf,
}

/// nvJPEG's engines take no wider and no higher images.
const EDGE: u32 = 16_000;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.data.canonicalize()?;
    for Named { key, bytes } in Named::read_all(&folder)? {
        if is_common(&bytes) {
            print(&json!({ "file": folder.join(key) }))?;
        }
    }
    Ok(())
}

/// Whether it is baseline, in one scan, YCbCr or grey, and of a sampling that the engines take.
fn is_common(bytes: &[u8]) -> bool {
    let Ok(header) = parse_header(bytes) else { return false };
    header.baseline
        && header.first_scan == header.components
        && matches!(header.color, ColorModel::Grey | ColorModel::YCbCr)
        && matches!(header.sampling.name(), "grey" | "4:4:4" | "4:2:2" | "4:2:0" | "4:4:0")
        && header.size.width.max(header.size.height) <= EDGE
}
