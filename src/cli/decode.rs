//! `feedline decode`: the pixels of one file exactly as the pipeline sees them.

use super::still::{Still, Studio, levels};
use super::{apply::keep_input, npy};
use anyhow::Context;
use std::path::PathBuf;
use std::process::ExitCode;

/// Decode one image into a NumPy array of u8, height x width x RGB
///
/// The array holds what augmentations would see: EXIF orientation applied, grey and CMYK turned into RGB.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A JPEG, PNG or WebP file; its content decides, not its name
    input: PathBuf,
    /// The .npy file to write
    #[arg(long, value_name = "OUT.npy")]
    out: PathBuf,
    /// Leave the image as it is stored: do not apply its EXIF orientation
    #[arg(long)]
    raw: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    keep_input(&arguments.input, &arguments.out)?;
    let still = Still::open(&arguments.input)?;
    let draft = if arguments.raw { still.raw_draft() } else { still.draft() };
    let plan = draft.freeze()?;
    let pixels = Studio::new()
        .develop(&still, &plan, levels(&plan))
        .with_context(|| arguments.input.display().to_string())?;
    npy::write(&arguments.out, pixels.output.dtype, &pixels.shape(), pixels.bytes())?;
    Ok(ExitCode::SUCCESS)
}
