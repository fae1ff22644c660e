//! `feedline decode`: the pixels of one file exactly as the pipeline sees them.

use super::flags::{Flags, HowDecoded};
use super::still::{Pixels, Still, Studio, levels};
use super::{apply::keep_input, npy};
use anyhow::{Context, bail};
use feedline::device::Device;
use feedline::geometry::Orientation;
use feedline::options::DeviceWord;
use feedline::plan::Plan;
use std::path::PathBuf;

/// Decode one image into a NumPy array of u8, height x width x RGB
///
/// The array holds what augmentations would see: EXIF orientation applied, grey and CMYK turned into RGB.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A JPEG, a PNG, a WebP, a PNM or a file of coefficients; its content decides, not its name
    input: PathBuf,
    /// The .npy file to write
    #[arg(long, value_name = "OUT.npy")]
    out: PathBuf,
    /// Leave the image as it is stored: do not apply its EXIF orientation
    #[arg(long)]
    raw: bool,
    /// cpu, cuda:N or auto; a GPU takes JPEGs only, and not every kind, and its pixels are nvJPEG's
    #[arg(long, default_value = "cpu")]
    device: DeviceWord,
    #[command(flatten)]
    flags: Flags<HowDecoded>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    keep_input(&arguments.input, &arguments.out)?;
    let mut still = Still::open(&arguments.input)?;
    if arguments.raw {
        still.header.orientation = Orientation::UPRIGHT;
    }
    let plan = still.draft().freeze()?;
    let decoding = &arguments.flags.options.decode;
    let developed = match Device::open(arguments.device)? {
        Device::Cuda { .. } if decoding.damaged.is_some() => {
            bail!(
                "--damaged is for the CPU's decoder, and a GPU has its own: give --device cpu, or leave --damaged out"
            )
        }
        Device::Cuda { ordinal } => develop_on_gpu(ordinal, &still, &plan),
        _ => Studio::new(decoding.limits()).develop(&still, &plan, levels(&plan)),
    };
    let pixels = developed.with_context(|| arguments.input.display().to_string())?;
    npy::write(&arguments.out, pixels.output.dtype, &pixels.shape(), pixels.bytes())?;
    Ok(true)
}

#[cfg(feature = "cuda")]
fn develop_on_gpu(ordinal: u32, still: &Still, plan: &Plan) -> anyhow::Result<Pixels> {
    use feedline::device::{cuda, region};
    use feedline::image::Limits;
    let mut decoder = cuda::ImageDecoder::open(ordinal, true)?;
    let decoded =
        decoder.decode(&[&still.bytes], Some(region(plan, 0)))?.pop().context("no image came back")?;
    let decoded = decoded.map_err(anyhow::Error::from_boxed)?;
    Studio::new(Limits::default()).render(&[decoded.image], plan, levels(plan))
}

#[cfg(not(feature = "cuda"))]
fn develop_on_gpu(_: u32, _: &Still, _: &Plan) -> anyhow::Result<Pixels> {
    anyhow::bail!("this build was made without the feature `cuda`")
}
