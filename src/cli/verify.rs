//! `feedline verify`: which files training will not be able to read, and why.

use super::data;
use super::flags::{Flags, HowOpened};
use super::print;
use anyhow::{Context, ensure};
use feedline::geometry::Size;
use feedline::image::{self, Limits};
use feedline::options::DataOptions;
use feedline::source::{self, BadLabel, Kind, OnBadLabel, Opened, Source};
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Decode every image and report the files that would fail, with their causes; check labels
///
/// Finds image files at any depth, by the endings that torchvision knows in any case; what a file is, is decided by
/// its content. With --mask-dir the mask of each image is decoded too. The labels of a YOLO or COCO data set are checked too: all bad ones are listed with their places. Exits
/// with 1 if any file or label is bad. Of a data.yaml one split is looked at: --split, or train. Nothing is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder, one file of any name, or any other data set that --data of `bench` takes
    #[arg(value_name = "DIR|FILE")]
    path: PathBuf,
    #[command(flatten)]
    flags: Flags<HowOpened>,
    /// Print one JSON object a file: path, status, cause, width, height, format
    #[arg(long)]
    json: bool,
    /// Look into folders below each other; this is always done
    #[arg(long, hide = true)]
    recursive: bool,
}

/// What is known of one file.
#[derive(Default, Serialize)]
struct Finding {
    path: String,
    status: &'static str,
    cause: Option<String>,
    /// Width and height as the pipeline sees the image: upright.
    width: Option<u32>,
    height: Option<u32>,
    format: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let options = arguments.options();
    let kind = source::kind_of(&options)?;
    ensure!(
        options.label_cache.is_none(),
        "verify reads all labels anew and writes nothing: leave --label-cache out"
    );
    let bad = match data_of(arguments, kind) {
        Data::Labelled => verify_labelled(arguments, kind)?,
        Data::Opened => {
            let opened = data::opened(&options)?;
            verify_all(arguments, &opened, |key| key.into())?.finish()?
        }
        Data::Files if is_folder(&arguments.path)? => verify_folder(arguments)?,
        Data::Files => {
            ensure!(
                options.mask_dir.is_none(),
                "--mask-dir is for a data set: name the folder of the images"
            );
            let mut report = Report::new(1, arguments.json);
            let read = std::fs::read(&arguments.path).map_err(|error| error.to_string());
            report.add(examine(&arguments.path, read.as_deref()))?;
            report.finish()?
        }
    };
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How the data are looked at.
enum Data {
    /// File by file, as they lie there.
    Files,
    /// As training opens them.
    Opened,
    /// As training opens them, with all bad labels.
    Labelled,
}

/// A file that says nothing of what it is, is taken for an image itself.
fn data_of(arguments: &Arguments, kind: Kind) -> Data {
    let ending = arguments.path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_table = ["csv", "tsv", "jsonl", "ndjson"].iter().any(|table| ending == *table);
    let is_list = kind == Kind::List && (is_table || arguments.flags.options.data.kind.is_some());
    match kind.has_objects() {
        true => Data::Labelled,
        false if kind.names_files() && !is_list => Data::Files,
        false => Data::Opened,
    }
}

fn is_folder(path: &Path) -> anyhow::Result<bool> {
    let about = std::fs::metadata(path);
    Ok(about.with_context(|| format!("{} cannot be read: check the path", path.display()))?.is_dir())
}

impl Arguments {
    fn options(&self) -> DataOptions {
        DataOptions { path: Some(self.path.clone()), ..self.flags.options.data.clone() }
    }
}

fn verify_folder(arguments: &Arguments) -> anyhow::Result<u64> {
    let options = DataOptions { kind: Some(Kind::Folder), flat: Some(true), ..arguments.options() };
    verify_all(arguments, &source::open(&options)?, |key| arguments.path.join(key))?.finish()
}

fn verify_labelled(arguments: &Arguments, kind: Kind) -> anyhow::Result<u64> {
    let options = DataOptions {
        kind: Some(kind),
        on_bad_label: Some(OnBadLabel::SkipObject),
        bad_listed: Some(usize::MAX),
        ..arguments.options()
    };
    let opened = source::open(&options)?;
    say_which_split(arguments, kind);
    let report = verify_all(arguments, &opened, |key| key.into())?;
    let labels = opened.labels.unwrap_or_default();
    for label in &labels.bad {
        report.add_label(label)?;
    }
    let bad = report.finish()?;
    if !arguments.json {
        print(&format!(
            "{} objects, {} images without one: {} bad labels, {} duplicates, {} cut off at the edge",
            labels.objects, labels.backgrounds, labels.bad_labels, labels.duplicates, labels.clipped
        ))?;
    }
    Ok(bad + labels.bad_labels)
}

/// Looks at every image, and at its mask where a folder of them is named.
fn verify_all(
    arguments: &Arguments,
    opened: &Opened,
    path: impl Fn(&str) -> PathBuf,
) -> anyhow::Result<Report> {
    let Opened { source, stated_sizes, .. } = opened;
    let mut report = Report::new(source.len() as u64, arguments.json);
    let mut bytes = Vec::new();
    for index in 0..source.len() {
        let read = source.read(index, &mut bytes).map_err(cause);
        let mut finding = examine(&path(&source.key(index)), read.as_ref().map(|()| &bytes[..]));
        if let (Some(width), Some(height)) = (finding.width, finding.height) {
            let stated = stated_sizes.get(index).filter(|stated| !stated.contains(&0));
            finding.disagree_with(stated.copied().filter(|stated| *stated != [width, height]));
        }
        if arguments.flags.options.data.mask_dir.is_some() {
            finding.look_at_mask(source, index);
        }
        report.add(finding)?;
    }
    Ok(report)
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

/// What is wrong with a sample, without its name.
fn cause(error: feedline::error::Error) -> String {
    match error {
        feedline::error::Error::Sample { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Decodes one file; the pixels are forgotten.
fn examine(path: &Path, read: Result<&[u8], &String>) -> Finding {
    let path = path.display().to_string();
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(cause) => {
            let cause = Some(cause.clone());
            return Finding { path, status: "bad", cause, ..Finding::default() };
        }
    };
    let verified = image::verify(bytes, &Limits::default());
    let header = image::parse_header(bytes).ok();
    let size: Option<Size> = header.as_ref().map(|header| header.orientation.apply_size(header.size));
    Finding {
        path,
        status: if verified.is_ok() { "ok" } else { "bad" },
        cause: verified.err().map(|error| error.to_string()),
        width: size.map(|size| size.width),
        height: size.map(|size| size.height),
        format: header.map(|header| header.format.to_string().to_lowercase()),
    }
}

impl Finding {
    /// Notes a size that annotations say, and that is not the image's.
    fn disagree_with(&mut self, said: Option<[u32; 2]>) {
        if let (Some([width, height]), None) = (said, &self.cause) {
            self.status = "bad";
            self.cause = Some(format!(
                "the annotations say {width}x{height}, the image has {}x{}: its labels are those of another image",
                self.width.unwrap_or(0),
                self.height.unwrap_or(0)
            ));
        }
    }

    /// Notes what is wrong with the image's mask.
    fn look_at_mask(&mut self, masks: &dyn Source, index: usize) {
        let (Some(width), Some(height), None) = (self.width, self.height, &self.cause) else {
            return;
        };
        let mut bytes = Vec::new();
        let found = match masks.mask(index, &mut bytes) {
            Ok(false) => return,
            Ok(true) => image::decode_mask(&bytes, &Limits::default(), &mut Vec::new())
                .map_err(|error| error.to_string()),
            Err(error) => Err(cause(error)),
        };
        let size = Size::new(width, height);
        let wrong = match found {
            Ok(found) if found == size => return,
            Ok(found) => {
                format!("its mask has {found} pixels and the image {size}: make a mask of that size")
            }
            Err(cause) => format!("its mask: {cause}"),
        };
        (self.status, self.cause) = ("bad", Some(wrong));
    }
}

/// Prints findings as they come, and counts.
struct Report {
    json: bool,
    bar: ProgressBar,
    files: u64,
    bad: u64,
}

impl Report {
    fn new(files: u64, json: bool) -> Self {
        Self { json, bar: super::progress(files, "files"), files: 0, bad: 0 }
    }

    fn add(&mut self, finding: Finding) -> anyhow::Result<()> {
        self.files += 1;
        self.bad += u64::from(finding.cause.is_some());
        self.bar.inc(1);
        self.print(&finding)
    }

    fn print(&self, finding: &Finding) -> anyhow::Result<()> {
        let line = if self.json { serde_json::to_string(finding)? } else { describe(finding) };
        self.bar.suspend(|| print(&line))
    }

    /// A bad label, which is no file.
    fn add_label(&self, label: &BadLabel) -> anyhow::Result<()> {
        let (path, cause) = (label.place.clone(), Some(label.cause.clone()));
        self.print(&Finding { path, status: "bad label", cause, ..Finding::default() })
    }

    /// The summary; returns how many files are bad.
    fn finish(self) -> anyhow::Result<u64> {
        self.bar.finish_and_clear();
        if !self.json {
            print(&format!("{} files: {} ok, {} bad", self.files, self.files - self.bad, self.bad))?;
        }
        Ok(self.bad)
    }
}

fn describe(finding: &Finding) -> String {
    match (&finding.cause, finding.width, finding.height, &finding.format) {
        (None, Some(width), Some(height), Some(format)) => {
            format!("ok   {} ({format}, {width}x{height})", finding.path)
        }
        (cause, ..) => format!("bad  {}: {}", finding.path, cause.as_deref().unwrap_or("no header")),
    }
}
