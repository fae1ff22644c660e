//! The data that a loader is given: a path of any kind that the library reads, or records in memory.

use feedline::error::{Error, Result};
use feedline::label::Label;
use feedline::source::{Coco, Folder, Kind, LabelReport, Memory, OnBadLabel, Source, Yolo};
use pyo3::prelude::*;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What the first argument of a loader may be.
#[derive(FromPyObject)]
pub(crate) enum Data {
    Path(PathBuf),
    /// Key, compressed bytes, class.
    Records(Vec<(String, Vec<u8>, Option<i64>)>),
}

/// How a path is opened.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct How {
    kind: Option<Kind>,
    split: Option<String>,
    image_dir: Option<PathBuf>,
    on_bad_label: Option<OnBadLabel>,
    label_cache: Option<PathBuf>,
}

/// An opened data set.
pub(crate) struct Opened {
    pub(crate) source: Box<dyn Source>,
    /// Whether samples are labelled with objects.
    pub(crate) objects: bool,
    /// Keypoints of an object; 0 where there are none.
    pub(crate) keypoints: usize,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

impl Opened {
    fn plain(source: Box<dyn Source>) -> Self {
        Self { source, objects: false, keypoints: 0, notes: Vec::new() }
    }
}

pub(crate) fn open(data: Data, how: &How) -> Result<Opened> {
    let path = match data {
        Data::Records(records) => {
            refuse_unread(how, None, "records in memory")?;
            let label = |class: Option<i64>| class.map_or(Label::Unlabelled, Label::Class);
            let records = records.into_iter().map(|(key, bytes, class)| (key, bytes, label(class))).collect();
            return Ok(Opened::plain(Box::new(Memory::new(records))));
        }
        Data::Path(path) => path,
    };
    let kind = how.kind.unwrap_or_else(|| Kind::of(&path));
    refuse_unread(how, Some(kind), &path.display().to_string())?;
    Ok(match kind {
        Kind::Folder => {
            let folder = Folder::open_any(&path)?;
            let loose = folder.loose_images();
            let mut opened = Opened::plain(Box::new(folder));
            if loose > 0 {
                opened.notes.push(format!(
                    "{loose} images directly in {} belong to no class and are left out: move them into a class \
                     directory",
                    path.display()
                ));
            }
            opened
        }
        Kind::Yolo => open_yolo(&path, how)?,
        Kind::Coco => open_coco(&path, how)?,
        kind => Opened::plain(kind.open(&path, how.split.as_deref())?),
    })
}

/// An option that nothing reads would be a setting that does nothing.
fn refuse_unread(how: &How, kind: Option<Kind>, what: &str) -> Result<()> {
    let (yolo, coco) = (kind == Some(Kind::Yolo), kind == Some(Kind::Coco));
    let given = [
        ("kind", how.kind.is_some(), kind.is_some(), "paths"),
        (
            "split",
            how.split.is_some(),
            kind.is_some_and(Kind::has_splits),
            "YOLO data sets and files by split (kind=\"yolo\", \"tar\", ...)",
        ),
        ("image_dir", how.image_dir.is_some(), coco, "COCO annotations (kind=\"coco\")"),
        ("on_bad_label", how.on_bad_label.is_some(), yolo || coco, "labels (kind=\"yolo\" or \"coco\")"),
        ("label_cache", how.label_cache.is_some(), yolo || coco, "labels (kind=\"yolo\" or \"coco\")"),
    ];
    match given.iter().find(|(_, given, serves, _)| *given && !serves) {
        None => Ok(()),
        Some((option, .., whom)) => Err(Error::config(match kind {
            Some(kind) => {
                let kind = format!("{kind:?}").to_lowercase();
                format!(
                    "{option} is for {whom}, but {what} is read as kind=\"{kind}\": leave it out, or set kind"
                )
            }
            None => format!("{option} is for {whom}, but the data are {what}: leave it out"),
        })),
    }
}

fn open_yolo(path: &Path, how: &How) -> Result<Opened> {
    let mut options = Yolo::options().on_bad_label(how.on_bad_label.unwrap_or_default());
    if let Some(split) = &how.split {
        options = options.split(split);
    }
    if let Some(cache) = &how.label_cache {
        options = options.cache(cache);
    }
    let yolo = options.open(path)?;
    let (keypoints, notes) = (yolo.skeleton().map_or(0, |skeleton| skeleton.count), notes_of(yolo.report()));
    Ok(Opened { source: Box::new(yolo), objects: true, keypoints, notes })
}

fn open_coco(path: &Path, how: &How) -> Result<Opened> {
    let mut options = Coco::options().on_bad_label(how.on_bad_label.unwrap_or_default());
    if let Some(cache) = &how.label_cache {
        options = options.cache(cache);
    }
    let own = path.parent().unwrap_or(Path::new(""));
    let coco = options.open(path, how.image_dir.as_deref().unwrap_or(own))?;
    let (keypoints, notes) = (coco.skeleton().map_or(0, |skeleton| skeleton.count), notes_of(coco.report()));
    Ok(Opened { source: Box::new(coco), objects: true, keypoints, notes })
}

fn notes_of(report: &LabelReport) -> Vec<String> {
    let mut notes = Vec::new();
    if report.bad_labels > 0 {
        let first = report.bad.first().map_or_else(String::new, ToString::to_string);
        let (labels, images) = (report.bad_labels, report.skipped_images);
        notes.push(format!("{labels} bad labels are left out, and {images} images; the first is {first}"));
    }
    notes.extend(report.cache.iter().map(ToString::to_string));
    notes
}
