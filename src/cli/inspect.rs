//! `feedline inspect`: what a data set holds.

use super::data;
use super::flags::{DataSet, Flags};
use super::{print, print_report, progress};
use anyhow::{Context, ensure};
use feedline::inspect::{Spread, Summary, inspect};
use feedline::pack::Manifest;
use std::collections::BTreeMap;

/// Classes that are shown one by one.
const SHOWN_CLASSES: usize = 20;

/// Show what a data set holds: counts, sizes, formats, samplings, classes
///
/// Reads every record, but decodes only headers. Of a folder that `pack` wrote --checksums also compares every shard with
/// its SHA-256. Exits with 1 if a record or a shard is bad.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    flags: Flags<DataSet>,
    /// Compare packed shards with their checksums
    #[arg(long, requires = "data")]
    checksums: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Threads that read [default: one a core]
    #[arg(long)]
    workers: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    ensure!(arguments.workers != Some(0), "--workers 0 would do nothing: give at least 1");
    let options = &arguments.flags.options.data;
    if let Some(folder) = options.path.as_ref().filter(|_| arguments.checksums) {
        let remedy = "--checksums is for folders that `feedline pack` wrote";
        let manifest = Manifest::read(folder)?
            .with_context(|| format!("{} has no manifest.json: {remedy}", folder.display()))?;
        let wrong = manifest.verify(folder)?;
        if !wrong.is_empty() {
            match arguments.json {
                true => print(&serde_json::json!({ "bad_shards": wrong }).to_string())?,
                false => wrong.iter().try_for_each(|shard| print(&format!("bad  {shard}")))?,
            }
            return Ok(false);
        }
    }
    let source = data::open(options)?;
    let bar = progress(source.len() as u64, "files");
    let summary = inspect(&*source, arguments.workers, &mut |done| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    print_report(arguments.json, &summary, describe)?;
    Ok(summary.bad == 0)
}

fn describe(summary: &Summary) -> Vec<String> {
    let mut lines: Vec<String> = summary.first_bad.iter().map(|bad| format!("bad  {bad}")).collect();
    if summary.bad > summary.first_bad.len() {
        lines.push(format!("bad  and {} more", summary.bad - summary.first_bad.len()));
    }
    let mut line = |name: &str, what: String| lines.push(format!("{name:<12} {what}"));
    line("records", format!("{}, {} bad, {} bytes", summary.records, summary.bad, summary.bytes));
    line("file bytes", spread(summary.file_bytes));
    line("width", spread(summary.width));
    line("height", spread(summary.height));
    line("formats", counts(&summary.formats));
    line("samplings", counts(&summary.samplings));
    line("progressive", summary.progressive.to_string());
    line("turned", format!("{} by EXIF", summary.turned));
    line("objects", summary.objects.to_string());
    line("classes", format!("{}, {} images without a label", summary.classes.len(), summary.unlabelled));
    for (class, count) in summary.classes.iter().take(SHOWN_CLASSES) {
        line("", format!("{:>9}  {class} {}", count.count, count.name.as_deref().unwrap_or("")));
    }
    if summary.classes.len() > SHOWN_CLASSES {
        line("", format!("and {} classes more: --json has all", summary.classes.len() - SHOWN_CLASSES));
    }
    lines
}

fn spread(Spread { min, median, max }: Spread) -> String {
    format!("{min} to {max}, median {median}")
}

fn counts(counts: &BTreeMap<String, usize>) -> String {
    let words: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    words.join(", ")
}
