//! `feedline index`: the decode indexes of a data set, found ahead of training.

use super::data::{self, DataOptions};
use super::options::progress;
use super::print;
use anyhow::Context;
use feedline::loader;
use std::path::PathBuf;
use std::process::ExitCode;

/// Find where the rows of each JPEG begin, so that training decodes crops from their own first row
///
/// Training finds the same by itself during its first epochs; this saves the finding. Results never change. Exits with
/// 1 if any file is bad; the images are only read.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder, a text file that lists images, a tar file, or a YOLO or COCO data set
    #[arg(value_name = "DIR|LIST")]
    data: PathBuf,
    #[command(flatten)]
    options: DataOptions,
    /// The file to write [default: beside the data, its name with .feedline-index behind it]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Threads that read and decode [default: one a core]
    #[arg(long)]
    workers: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let source = data::open(Some(&arguments.data), &arguments.options)?;
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => {
            let data = arguments.data.canonicalize()?;
            let name = data.file_name().context("the root folder has no place beside it: give --out")?;
            let mut name = name.to_owned();
            name.push(".feedline-index");
            data.with_file_name(name)
        }
    };
    let bar = progress(source.len() as u64, "files");
    let built =
        loader::build_index(source, &out, arguments.workers, &mut |done| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    for file in &built.report.files {
        print(&format!("bad  {}: {}", file.key, file.cause))?;
    }
    let bytes = std::fs::metadata(&out)?.len();
    let loader::BuiltIndex { samples, images, report, .. } = &built;
    print(&format!(
        "{samples} files: {images} indexed, {} bad; {} ({bytes} bytes)",
        report.failures,
        out.display()
    ))?;
    Ok(if report.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
