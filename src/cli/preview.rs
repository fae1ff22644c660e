//! `feedline preview`: a contact sheet of originals beside what the augmentations make of them.

mod font;
mod sheet;

use super::pipeline::Pipeline;
use super::still::{Pixels, Still, Studio, levels};
use super::{npy, print};
use anyhow::{Context, bail};
use feedline::color::Normalize;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Interpolation, Op};
use feedline::geometry::{Orientation, Size};
use feedline::image::Image;
use feedline::loader::Loader;
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::source::Source;
use sheet::{CELL, Sheet, Thumbnail};
use std::path::PathBuf;
use std::process::ExitCode;

/// Most samples on one sheet.
const MAX_COUNT: usize = 200;

/// Draw a contact sheet of augmented samples
///
/// Each pair shows the upright original at the left and the sample at the right, normalisation undone.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pipeline: Pipeline,
    /// The epoch whose dice are thrown
    #[arg(long, default_value_t = 0)]
    epoch: u64,
    /// How many samples to show, spread evenly over the data set
    #[arg(long, default_value_t = 12)]
    count: usize,
    /// The PNG file to write
    #[arg(long, value_name = "sheet.png")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if !(1..=MAX_COUNT).contains(&arguments.count) {
        bail!("--count must be from 1 to {MAX_COUNT}");
    }
    let source = arguments.pipeline.source()?;
    let loader = arguments.pipeline.planner(source.clone())?;
    let count = arguments.count.min(source.len());
    let mut sheet = Sheet::new(count);
    let mut studio = Studio::with_limits(arguments.pipeline.read_recipe()?.limits());
    for shown in 0..count {
        let index = shown * source.len() / count;
        let key = source.key(index).into_owned();
        let pair = pair(&mut studio, &loader, &*source, arguments.epoch, index)
            .with_context(|| format!("sample {index} ({key})"))?;
        sheet.add(shown, pair, &key, &format!("index {index}, epoch {}", arguments.epoch));
    }
    npy::make_folder(&arguments.out)?;
    sheet.write(&arguments.out)?;
    print(&format!(
        "{}: {count} samples, originals at the left, {} at the right",
        arguments.out.display(),
        arguments.pipeline.recipe
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The original and the sample, each small enough for its cell.
fn pair(
    studio: &mut Studio,
    loader: &Loader,
    source: &dyn Source,
    epoch: u64,
    index: usize,
) -> anyhow::Result<[Thumbnail; 2]> {
    let mut bytes = Vec::new();
    source.read(index, &mut bytes)?;
    let still = Still::new(bytes)?;
    let plan = fitted(still.draft())?;
    let original = thumbnail(&studio.develop(&still, &plan, levels(&plan))?);
    let (plan, _) = loader.plan(epoch, index as u64)?;
    let normalize = loader.output().and_then(|output| output.normalize).unwrap_or(Normalize::UNIT);
    let output =
        Output { size: plan.size(), dtype: DType::F32, layout: Layout::Nhwc, normalize: Some(normalize) };
    let sample = restored(&studio.develop_all(source, &plan, output)?, &normalize);
    let plan = fitted(Draft::new(0, sample.stored, Orientation::UPRIGHT))?;
    let sample = thumbnail(&studio.render(&sample, &plan, levels(&plan))?);
    Ok([original, sample])
}

/// Shrinks what is larger than a cell; what is smaller keeps its size.
fn fitted(mut draft: Draft) -> anyhow::Result<Plan> {
    let Size { width, height } = draft.size();
    let longer = width.max(height);
    if longer > CELL {
        let scaled = |edge: u32| ((u64::from(edge) * u64::from(CELL) / u64::from(longer)) as u32).max(1);
        let size = Extent::Two([scaled(height), scaled(width)]);
        let (interpolation, antialias) = (Interpolation::default(), true);
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias });
    }
    Ok(draft.freeze()?)
}

fn thumbnail(pixels: &Pixels) -> Thumbnail {
    Thumbnail { size: pixels.output.size, rgb: pixels.bytes().to_vec() }
}

/// Levels from normalised values; a value outside 0..=1, such as an erased rectangle's, is clamped.
fn restored(pixels: &Pixels, normalize: &Normalize) -> Image {
    let values: &[f32] = bytemuck::cast_slice(pixels.bytes());
    let mut image = Image::default();
    image.reset(pixels.output.size, pixels.output.size.rect());
    for (at, (&value, level)) in values.iter().zip(&mut image.data).enumerate() {
        let (mean, std) = (normalize.mean[at % 3], normalize.std[at % 3]);
        *level = ((f64::from(value) * std + mean) * 255.0).round().clamp(0.0, 255.0) as u8;
    }
    image
}
