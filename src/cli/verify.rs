//! `feedline verify`: which files training will not be able to read, and why.

use super::data;
use super::flags::{Flags, HowVerified};
use super::print;
use anyhow::{Context, ensure};
use feedline::geometry::Size;
use feedline::image::{self, Damage, Limits, Verified};
use feedline::options::DataOptions;
use feedline::policy::Damaged;
use feedline::source::{self, BadLabel, Kind, OnBadLabel, Opened, Source};
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Decode every image and report the files that are damaged or would fail, with their causes; check labels
///
/// There are three answers: `ok`; `damaged`, a JPEG that libjpeg decodes with a warning, which is shown; and `bad`. Finds image files at any depth, by the endings that torchvision knows in any case; what a file is, is decided by
/// its content. With --mask-dir the mask of each image is decoded too. The labels of a YOLO or COCO data set are checked too: all bad ones are listed with their places. Exits
/// with 1 if any file or label is bad, or a file is damaged and --damaged does not take it. Of a data.yaml one split is looked at: --split, or train. Nothing is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder, one file of any name, or any other data set that --data of `bench` takes
    #[arg(value_name = "DIR|FILE")]
    path: PathBuf,
    #[command(flatten)]
    flags: Flags<HowVerified>,
    /// Print one JSON object a file: path, status, damage, cause (why training cannot use it), width, height, format
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
    /// What is wrong with a file that can be decoded.
    damage: Option<String>,
    /// Why training cannot use it.
    cause: Option<String>,
    /// Width and height as the pipeline sees the image: upright.
    width: Option<u32>,
    height: Option<u32>,
    format: Option<String>,
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
        verify_all(arguments, &data::opened(&options)?, |key| key.into())?.finish()?
    } else if is_folder(&arguments.path)? {
        // Images at any depth, whatever folders of classes there are.
        let options = DataOptions { kind: Some(Kind::Folder), flat: Some(true), ..options };
        verify_all(arguments, &source::open(&options)?, |key| arguments.path.join(key))?.finish()?
    } else {
        ensure!(options.mask_dir.is_none(), "--mask-dir is for a data set: name the folder of the images");
        let mut report = Report::new(1, arguments.json);
        let read = std::fs::read(&arguments.path).map_err(|error| error.to_string());
        report.add(examine(&arguments.path, read.as_deref(), arguments.limits()))?;
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

fn verify_labelled(arguments: &Arguments, kind: Kind, options: DataOptions) -> anyhow::Result<u64> {
    let options = DataOptions {
        kind: Some(kind),
        on_bad_label: Some(OnBadLabel::SkipObject),
        bad_listed: Some(usize::MAX),
        ..options
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
        let read = read.as_ref().map(|()| &bytes[..]);
        let mut finding = examine(&path(&source.key(index)), read, arguments.limits());
        if let Some(stated) = stated_sizes.get(index).filter(|stated| !stated.contains(&0)) {
            finding.compare(*stated);
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
fn examine(path: &Path, read: Result<&[u8], &String>, limits: Limits) -> Finding {
    let path = path.display().to_string();
    let mut finding = Finding { path, status: "ok", ..Finding::default() };
    if let Some(header) = read.ok().and_then(|bytes| image::parse_header(bytes).ok()) {
        let Size { width, height } = header.orientation.apply_size(header.size);
        (finding.width, finding.height) = (Some(width), Some(height));
        finding.format = Some(header.format.to_string().to_lowercase());
    }
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(cause) => {
            finding.blame(cause.clone());
            return finding;
        }
    };
    match image::verify(bytes, &limits) {
        Ok(Verified { damage, .. }) => finding.note_damage(damage),
        Err(error) => {
            finding.blame(error.to_string());
            // Another setting may take it.
            let all = Limits { damaged: Damaged::Libjpeg, ..limits };
            if let Ok(Verified { damage, .. }) = image::verify(bytes, &all) {
                finding.note_damage(damage);
            }
        }
    }
    finding
}

impl Finding {
    fn note_damage(&mut self, damage: Option<Damage>) {
        if let Some(damage) = damage {
            (self.status, self.damage) = ("damaged", Some(damage.to_string()));
        }
    }

    fn blame(&mut self, cause: String) {
        (self.status, self.cause) = ("bad", Some(cause));
    }

    /// The size of an image with which nothing is wrong so far.
    fn sound(&self) -> Option<Size> {
        Some(Size::new(self.width?, self.height?)).filter(|_| self.cause.is_none())
    }

    /// Notes a size that annotations state, and that is not the image's.
    fn compare(&mut self, [width, height]: [u32; 2]) {
        if let Some(size) = self.sound().filter(|size| *size != Size::new(width, height)) {
            self.blame(format!(
                "the annotations say {width}x{height}, the image has {size}: its labels are those of another image"
            ));
        }
    }

    /// Notes what is wrong with the image's mask.
    fn look_at_mask(&mut self, masks: &dyn Source, index: usize) {
        let Some(size) = self.sound() else { return };
        let mut bytes = Vec::new();
        let found = match masks.mask(index, &mut bytes) {
            Ok(false) => return,
            Ok(true) => image::decode_mask(&bytes, &Limits::default(), &mut Vec::new())
                .map_err(|error| error.to_string()),
            Err(error) => Err(cause(error)),
        };
        match found {
            Ok(found) if found == size => {}
            Ok(found) => self
                .blame(format!("its mask has {found} pixels and the image {size}: make a mask of that size")),
            Err(cause) => self.blame(format!("its mask: {cause}")),
        }
    }
}

/// Prints findings as they come, and counts.
struct Report {
    json: bool,
    bar: ProgressBar,
    files: u64,
    damaged: u64,
    bad: u64,
    /// Files that training cannot use: all bad ones, and damaged ones that are not taken.
    refused: u64,
}

impl Report {
    fn new(files: u64, json: bool) -> Self {
        Self { json, bar: super::progress(files, "files"), files: 0, damaged: 0, bad: 0, refused: 0 }
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

    /// The summary; returns how many files training cannot use.
    fn finish(self) -> anyhow::Result<u64> {
        self.bar.finish_and_clear();
        if !self.json {
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

/// A name as it is shown: what would move a terminal's cursor, or end the line, is escaped.
fn shown(name: &str) -> String {
    let escaped = |character: char| match character.is_control() {
        true => character.escape_default().collect(),
        false => character.to_string(),
    };
    name.chars().map(escaped).collect()
}

fn describe(finding: &Finding) -> String {
    let Finding { path, status, damage, cause, width, height, format } = finding;
    let path = shown(path);
    let shape = match (width, height, format) {
        (Some(width), Some(height), Some(format)) => format!(" ({format}, {width}x{height})"),
        _ => String::new(),
    };
    match (damage, cause) {
        (None, None) => format!("{status:<7} {path}{shape}"),
        (None, Some(cause)) => format!("{status:<7} {path}: {cause}"),
        (Some(damage), None) => format!("{status:<7} {path}{shape}: {damage}"),
        (Some(damage), Some(cause)) => format!("{status:<7} {path}{shape}: {damage}; refused: {cause}"),
    }
}
