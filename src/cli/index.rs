//! `feedline index`: the decode indexes of a data set, found ahead of training.

use super::data;
use super::flags::{Flags, HowOpened};
use super::{print, progress};
use anyhow::{Context, ensure};
use feedline::loader;
use feedline::source::{self, Kind, Shards};
use std::path::PathBuf;

/// Find where the rows of each JPEG begin, so that training decodes crops from their own first row
///
/// Training finds the same by itself during its first epochs; this saves the finding. Results never change. Exits with
/// 1 if any file is bad; the images are only read.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder, a text file that lists images, a tar file, a YOLO or COCO data set, or a URL
    #[arg(value_name = "DIR|LIST")]
    data: PathBuf,
    #[command(flatten)]
    flags: Flags<HowOpened>,
    /// The file to write [default: beside the data, its name with .feedline-index behind it]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Threads that read and decode [default: one a core]
    #[arg(long)]
    workers: Option<usize>,
    /// Instead, write a table of each tar file beside it (NAME.tar.index), with which it is opened by one request once both
    /// lie in an object store
    #[arg(long, conflicts_with_all = ["out", "workers"])]
    tables: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    if arguments.tables {
        return write_tables(arguments);
    }
    let options = arguments.flags.data_at(&arguments.data);
    let source = data::open(&options)?;
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => {
            let remote = source::kind_of(&options)? == Kind::Remote;
            ensure!(!remote, "nothing is written beside a URL: say where the indexes go with --out");
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
    let (samples, images, bad) = (built.samples, built.images, built.report.failures);
    print(&format!("{samples} files: {images} indexed, {bad} bad; {} ({bytes} bytes)", out.display()))?;
    Ok(bad == 0)
}

fn write_tables(arguments: &Arguments) -> anyhow::Result<bool> {
    let data = &arguments.data;
    let options = arguments.flags.data_at(data);
    let is_tar = source::kind_of(&options)? == Kind::Tar;
    ensure!(is_tar, "--tables is for tar files, and {} is none, nor a folder of them", data.display());
    let shards = Shards::find(data, options.split.as_deref())?;
    for table in shards.write_tables()? {
        print(&table.display().to_string())?;
    }
    Ok(true)
}
