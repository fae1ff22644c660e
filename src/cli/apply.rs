//! `feedline apply`: explicit ops on one file or many, without dice.

use super::flags::{Flags, HowDecoded};
use super::still::{Still, Studio, levels};
use super::{labels, npy, ops, print_json, words};
use anyhow::{Context, bail};
use feedline::color::Normalize;
use feedline::draft::op::Op;
use feedline::label::{BoxFormat, Objects};
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::regular_file;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Apply explicit operations to an image and write the result as a NumPy array
///
/// Operations carry torchvision's functional names and arguments; `feedline plan` prints such a list. Without
/// normalize the array is u8, height x width x channel; with it f32, channel x height x width.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A file of operations, `-` for standard input, or the JSON itself
    #[arg(long, value_name = "OPS.json", required_unless_present = "batch", conflicts_with = "batch")]
    ops: Option<String>,
    /// A JPEG, a PNG, a WebP, a PNM or a file of coefficients; its content decides, not its name
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    input: Option<PathBuf>,
    /// The .npy file to write
    #[arg(long, value_name = "OUT.npy", required_unless_present = "batch", conflicts_with = "batch")]
    out: Option<PathBuf>,
    /// The number format; bf16 is written as its bits in u16
    #[arg(long, value_name = "f32|f16|bf16|u8", value_parser = words::value::<DType>)]
    dtype: Option<DType>,
    /// The order of the axes
    #[arg(long, value_name = "chw|hwc", value_parser = words::value::<Layout>)]
    layout: Option<Layout>,
    /// The image's labels, as a YOLO text file or a JSON list like [{"class": 0, "bbox": [left, top, right, bottom]}] in
    /// pixels, also with "polygons", "keypoints" and "crowd"; where the operations move them to is printed as JSON
    #[arg(long, value_name = "LABELS.txt", conflicts_with = "batch")]
    labels: Option<String>,
    /// Many cases in one process: each line is {"ops": [...], "input": "...", "out": "..."}, with "labels", and "dtype"
    /// and "layout" where they differ from the arguments; `-` for standard input
    #[arg(long, value_name = "CASES.jsonl")]
    batch: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags<HowDecoded>,
}

/// One line of `--batch`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    ops: serde_json::Value,
    input: PathBuf,
    out: PathBuf,
    dtype: Option<DType>,
    layout: Option<Layout>,
    /// The path of a YOLO text file, or a list of objects.
    labels: Option<serde_json::Value>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let mut studio = Studio::new(arguments.flags.options.decode.limits());
    let format = (arguments.dtype, arguments.layout);
    match arguments {
        Arguments { batch: Some(cases), .. } => run_batch(&mut studio, cases, format)?,
        Arguments { ops: Some(list), input: Some(input), out: Some(out), .. } => {
            let labels = arguments.labels.as_deref().map(labels::read).transpose()?;
            run_one(&mut studio, &read_ops(list)?, input, out, (format, labels))?;
        }
        _ => bail!("give --ops, an image and --out, or --batch"),
    }
    Ok(true)
}

fn run_batch(studio: &mut Studio, cases: &Path, format: Format) -> anyhow::Result<()> {
    let remedy = || format!("{} cannot be read: check the path", cases.display());
    let reader: Box<dyn Read> = match cases.to_str() {
        Some("-") => Box::new(std::io::stdin()),
        _ => Box::new(regular_file::open(cases).with_context(remedy)?),
    };
    for (number, line) in (1..).zip(BufReader::new(reader).lines()) {
        let done = line.map_err(anyhow::Error::from).and_then(|line| run_case(studio, &line, format));
        done.with_context(|| format!("{}, line {number}", cases.display()))?;
    }
    Ok(())
}

fn run_case(studio: &mut Studio, line: &str, (dtype, layout): Format) -> anyhow::Result<()> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let case: Case = serde_json::from_str(line)?;
    let format = (case.dtype.or(dtype), case.layout.or(layout));
    let labels = case.labels.map(|labels| match labels {
        serde_json::Value::String(path) => labels::read(&path),
        list => labels::parse(list),
    });
    let labels = labels.transpose()?;
    run_one(studio, &ops::parse(case.ops)?, &case.input, &case.out, (format, labels))
}

type Format = (Option<DType>, Option<Layout>);

fn run_one(
    studio: &mut Studio,
    ops: &[Op],
    input: &Path,
    out: &Path,
    (format, labels): (Format, Option<Arc<Objects>>),
) -> anyhow::Result<()> {
    keep_input(input, out)?;
    let still = Still::open(input)?;
    let (plan, normalize) = still.plan(ops)?;
    let output = output(&plan, normalize, format);
    let pixels = studio.develop(&still, &plan, output).with_context(|| input.display().to_string())?;
    npy::write(out, pixels.output.dtype, &pixels.shape(), pixels.bytes())?;
    if labels.is_some() {
        let seen = plan.objects(&[labels]);
        let objects: Vec<_> = seen.iter().map(|object| labels::describe(object, BoxFormat::Xyxy)).collect();
        print_json(&serde_json::json!({ "objects": objects }).to_string())?;
    }
    Ok(())
}

fn output(plan: &Plan, normalize: Option<Normalize>, (dtype, layout): Format) -> Output {
    let usual = match normalize {
        Some(_) => Output { dtype: DType::F32, layout: Layout::Nchw, normalize, ..levels(plan) },
        None => levels(plan),
    };
    Output { dtype: dtype.unwrap_or(usual.dtype), layout: layout.unwrap_or(usual.layout), ..usual }
}

/// The ops in a file, on standard input, or in the argument itself.
fn read_ops(list: &str) -> anyhow::Result<Vec<Op>> {
    if list.trim_start().starts_with(['[', '{']) {
        return ops::parse_text(list);
    }
    let mut text = String::new();
    match list {
        "-" => std::io::stdin().read_to_string(&mut text).map(|_| ()),
        path => regular_file::read_text(Path::new(path)).map(|read| text = read),
    }
    .with_context(|| format!("the ops cannot be read from {list}: check the path"))?;
    ops::parse_text(&text).with_context(|| list.to_owned())
}

/// Refuses to write over the image that is read: user data is never changed.
pub(crate) fn keep_input(input: &Path, out: &Path) -> anyhow::Result<()> {
    match (input.canonicalize(), out.canonicalize()) {
        (Ok(a), Ok(b)) if a == b => bail!("this would overwrite {}: name another file", input.display()),
        _ => Ok(()),
    }
}
