//! `feedline verify`: which files training will not be able to read, and why.

mod finding;

use super::data;
use super::flags::{Flags, HowVerified};
use super::{print, print_report};
use anyhow::{Context, ensure};
use feedline::image::Limits;
use feedline::options::DataOptions;
use feedline::regular_file;
use feedline::source::{self, BadLabel, Folder, Kind, MaskOptions, OnBadLabel, Opened, Source};
use finding::{Finding, cause, describe, not_text};
use indicatif::ProgressBar;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

/// Decode every image and report the files that are damaged or would fail, with their causes; check labels
///
/// There are three answers: `ok`; `damaged`, a JPEG that libjpeg decodes with a warning, which is shown; and `bad`. Finds image files at any depth, by the endings that torchvision knows in any case; what a file is, is decided by
/// its content. A folder that cannot be read is bad. With --mask-dir the mask of each image is decoded too. The labels of a YOLO or COCO data set are checked too: all bad ones are listed with their places. Exits
/// with 1 if any file or label is bad, or a file is damaged and --damaged does not take it. Of a data.yaml one split is looked at: --split, or train. Nothing is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder, one file of any name, or any other data set that --data of `bench` takes
    #[arg(value_name = "DIR|FILE")]
    path: PathBuf,
    #[command(flatten)]
    flags: Flags<HowVerified>,
    /// Print one JSON object a file: path, status, damage, cause (why training cannot use it), width, height, format; and
    /// path_bytes where the path is not UTF-8
    #[arg(long)]
    json: bool,
    /// Print only what is bad or damaged: no sound files, no counts and no progress
    #[arg(short, long)]
    quiet: bool,
    /// Look into folders below each other; this is always done
    #[arg(long, hide = true)]
    recursive: bool,
}

impl Arguments {
    fn limits(&self) -> Limits {
        self.flags.options.decode.limits()
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let options = arguments.flags.data_at(&arguments.path);
    let kind = source::kind_of(&options)?;
    ensure!(
        options.label_cache.is_none(),
        "verify reads all labels anew and writes nothing: leave --label-cache out"
    );
    let bad = if kind.has_objects() {
        verify_labelled(arguments, kind, options)?
    } else if !is_looked_at_as_it_lies(arguments, kind) {
        verify_all(arguments, &data::opened(&options)?)?.finish()?
    } else if is_folder(&arguments.path)? {
        verify_folder(arguments, &options)?
    } else {
        ensure!(options.mask_dir.is_none(), "--mask-dir is for a data set: name the folder of the images");
        let mut report = Report::new(1, arguments);
        let read = content(&arguments.path, options.max_file_bytes().0).map_err(|error| error.to_string());
        report.add(Finding::at(&arguments.path).examine(read.as_deref(), arguments.limits()))?;
        report.finish()?
    };
    Ok(bad == 0)
}

/// Whether files are looked at one by one as they lie there, and not as training opens them. A file that says nothing of
/// what it is, is taken for an image itself.
fn is_looked_at_as_it_lies(arguments: &Arguments, kind: Kind) -> bool {
    let ending = arguments.path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_table = ["csv", "tsv", "jsonl", "ndjson"].iter().any(|table| ending == *table);
    let is_list = kind == Kind::List && (is_table || arguments.flags.options.data.kind.is_some());
    kind.names_files() && !is_list
}

fn is_folder(path: &Path) -> anyhow::Result<bool> {
    let about = std::fs::metadata(path);
    Ok(about.with_context(|| format!("{} cannot be read: check the path", path.display()))?.is_dir())
}

/// The content of a file that is not too large to be read in training.
fn content(path: &Path, max_file_bytes: u64) -> io::Result<Vec<u8>> {
    let (mut file, size) = regular_file::open_sized(path)?;
    if size > max_file_bytes {
        let what = format!("the file has {size} bytes, which is above max_file_bytes = {max_file_bytes}");
        return Err(io::Error::other(format!("{what}: raise max_file_bytes, or leave the file out")));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map(|_| bytes)
}

/// Images at any depth, whatever folders of classes there are; a folder that cannot be read is one more that is bad.
fn verify_folder(arguments: &Arguments, options: &DataOptions) -> anyhow::Result<u64> {
    let how = Folder::options().max_file_bytes(options.max_file_bytes().0);
    let (folder, unreadable) = how.flat_readable(&arguments.path)?;
    ensure!(
        !(folder.is_empty() && unreadable.is_empty()),
        "{} holds no image at any depth: name a folder of images",
        arguments.path.display()
    );
    let mut report = Report::new(folder.len() as u64, arguments);
    for error in &unreadable {
        report.add(Finding::of_folder(error))?;
    }
    let named = |index| folder.path(index).map(Finding::at).unwrap_or_default();
    match &options.mask_dir {
        Some(masks) => {
            let masked = MaskOptions::from(options).open(&folder, masks)?;
            examine_all(arguments, &masked, named, &mut report)?;
        }
        None => examine_all(arguments, &folder, named, &mut report)?,
    }
    report.finish()
}

fn verify_labelled(arguments: &Arguments, kind: Kind, options: DataOptions) -> anyhow::Result<u64> {
    let options = DataOptions {
        kind: Some(kind),
        on_bad_label: Some(OnBadLabel::SkipObject),
        bad_listed: Some(usize::MAX),
        ..options
    };
    let opened = source::open(&options)?;
    say_which_split(arguments, kind);
    let report = verify_all(arguments, &opened)?;
    let labels = opened.labels.unwrap_or_default();
    for label in &labels.bad {
        report.add_label(label)?;
    }
    let bad = report.finish()?;
    if !arguments.json && !arguments.quiet {
        print(&format!(
            "{} objects, {} images without one: {} bad labels, {} duplicates, {} cut off at the edge",
            labels.objects, labels.backgrounds, labels.bad_labels, labels.duplicates, labels.clipped
        ))?;
    }
    Ok(bad + labels.bad_labels)
}

fn verify_all(arguments: &Arguments, opened: &Opened) -> anyhow::Result<Report> {
    let Opened { source, stated_sizes, .. } = opened;
    let mut report = Report::new(source.len() as u64, arguments);
    let named = |index| Finding {
        path: source.key(index).into_owned(),
        path_bytes: source.path(index).and_then(not_text),
        stated_size: stated_sizes.get(index).copied().filter(|stated| !stated.contains(&0)),
        ..Finding::default()
    };
    examine_all(arguments, source, named, &mut report)?;
    Ok(report)
}

/// Looks at every image, which `named` names, and at its mask where a folder of them is named.
fn examine_all(
    arguments: &Arguments,
    source: &impl Source,
    named: impl Fn(usize) -> Finding,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    for index in 0..source.len() {
        let read = source.read(index, &mut bytes).map_err(cause);
        let read = read.as_ref().map(|()| &bytes[..]);
        let mut finding = named(index).examine(read, arguments.limits());
        if arguments.flags.options.data.mask_dir.is_some() {
            finding.look_at_mask(source, index);
        }
        report.add(finding)?;
    }
    Ok(())
}

/// A sound split must not be taken for a sound data set; standard error may be closed.
fn say_which_split(arguments: &Arguments, kind: Kind) {
    let path = &arguments.path;
    let has_splits = path.is_file() || ["data.yaml", "data.yml"].iter().any(|name| path.join(name).is_file());
    if kind == Kind::Yolo && has_splits && arguments.flags.options.data.split.is_none() {
        let note = "note: only the split `train` is checked: --split val or --split test checks another";
        let _ = writeln!(std::io::stderr(), "{note}");
    }
}

/// Prints findings as they come, and counts.
struct Report {
    json: bool,
    quiet: bool,
    bar: ProgressBar,
    files: u64,
    damaged: u64,
    bad: u64,
    /// Files that training cannot use: all bad ones, and damaged ones that are not taken.
    refused: u64,
}

impl Report {
    fn new(files: u64, arguments: &Arguments) -> Self {
        let &Arguments { json, quiet, .. } = arguments;
        let bar = if quiet { ProgressBar::hidden() } else { super::progress(files, "files") };
        Self { json, quiet, bar, files: 0, damaged: 0, bad: 0, refused: 0 }
    }

    fn add(&mut self, finding: Finding) -> anyhow::Result<()> {
        self.files += 1;
        match finding.status {
            "damaged" => self.damaged += 1,
            "bad" => self.bad += 1,
            _ => {}
        }
        self.refused += u64::from(finding.cause.is_some());
        self.bar.inc(1);
        if self.quiet && finding.status == "ok" { Ok(()) } else { self.print(&finding) }
    }

    fn print(&self, finding: &Finding) -> anyhow::Result<()> {
        self.bar.suspend(|| print_report(self.json, finding, |finding| vec![describe(finding)]))
    }

    /// A bad label, which is no file.
    fn add_label(&self, label: &BadLabel) -> anyhow::Result<()> {
        let (path, cause) = (label.place.clone(), Some(label.cause.clone()));
        self.print(&Finding { path, status: "bad label", cause, ..Finding::default() })
    }

    /// The summary; returns how many files training cannot use.
    fn finish(self) -> anyhow::Result<u64> {
        self.bar.finish_and_clear();
        if !self.json && !self.quiet {
            let Self { files, damaged, bad, refused, .. } = self;
            let ok = files - damaged - bad;
            let not_taken = match refused.saturating_sub(bad) {
                0 => String::new(),
                some => format!(" (of which {some} are refused)"),
            };
            print(&format!("{files} files: {ok} ok, {damaged} damaged{not_taken}, {bad} bad"))?;
        }
        Ok(self.refused)
    }
}
