//! The data set that a command works on: a folder, a list, tar, TFRecord or Parquet files, an LMDB environment, a YOLO or
//! COCO data set, or the photographs that come with the crate.

mod remote;
mod repeated;

pub(crate) use repeated::Repeated;

use anyhow::bail;
use clap::ValueEnum;
use feedline::error::Result;
use feedline::source::{
    self, Coco, Folder, LabelReport, List, Lmdb, OnBadLabel, Parquet, Shards, Source, TfRecord, WithMasks,
    Yolo,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a data set is, and how it is opened.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct DataOptions {
    /// What the data is [default: found by looking at it]
    #[arg(long, value_name = "KIND")]
    pub(crate) source: Option<Kind>,
    /// Which images of a YOLO data set [default: train, or all where there is no data.yaml], or which of the tar, TFRecord
    /// or Parquet files, by their names [default: all, where they are of one split]
    #[arg(long, value_name = "train|val|test")]
    pub(crate) split: Option<String>,
    /// The folder that the images of COCO annotations lie in [default: that of the annotations]
    #[arg(long, value_name = "DIR")]
    pub(crate) image_dir: Option<PathBuf>,
    /// The folder of the semantic masks: that of images/a/b.jpg, or of a/b.jpg, is a/b.png there
    #[arg(long, value_name = "DIR")]
    pub(crate) mask_dir: Option<PathBuf>,
    /// The folder that the paths of a list are relative to [default: that of the list]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The column or feature that holds the images, or in a list their paths [default: found by its name]
    #[arg(long, value_name = "NAME")]
    pub(crate) image_column: Option<String>,
    /// The column or feature that holds the labels [default: found by its name]
    #[arg(long, value_name = "NAME")]
    pub(crate) label_column: Option<String>,
    /// What becomes of a label that cannot be right [default: fail]
    #[arg(long, value_name = "WHAT")]
    pub(crate) on_bad_label: Option<OnBad>,
    /// Keep the labels of a YOLO or COCO data set in this file from run to run
    #[arg(long, value_name = "FILE")]
    pub(crate) label_cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: remote::RemoteArguments,
}

impl DataOptions {
    /// What the data at `path` is. An option that would mean nothing for it is an error, not a surprise in training.
    pub(crate) fn kind_of(&self, path: &Path) -> anyhow::Result<Kind> {
        let kind = self.source.unwrap_or_else(|| source::Kind::of(path).into());
        let (yolo, coco, list) = (kind == Kind::Yolo, kind == Kind::Coco, kind == Kind::List);
        let columns = list || matches!(kind, Kind::Tfrecord | Kind::Parquet);
        let splits = yolo || matches!(kind, Kind::Tar | Kind::Tfrecord | Kind::Parquet);
        let (objects, tables) =
            ("labels (--source yolo or coco)", "tables (--source list, tfrecord or parquet)");
        let given = [
            (
                "--split",
                self.split.is_some(),
                splits,
                "YOLO data sets and files by split (--source yolo, tar, tfrecord or parquet)",
            ),
            ("--image-dir", self.image_dir.is_some(), coco, "COCO annotations (--source coco)"),
            ("--root", self.root.is_some(), list, "lists (--source list)"),
            ("--image-column", self.image_column.is_some(), columns, tables),
            ("--label-column", self.label_column.is_some(), columns, tables),
            ("--on-bad-label", self.on_bad_label.is_some(), yolo || coco, objects),
            ("--label-cache", self.label_cache.is_some(), yolo || coco, objects),
            ("--cache-dir", self.remote.cache_dir.is_some(), kind == Kind::Remote, "URLs (s3://...)"),
        ];
        if let Some((option, .., what)) = given.iter().find(|(_, given, serves, _)| *given && !serves) {
            let name = kind.to_possible_value().map_or_else(String::new, |word| word.get_name().to_owned());
            bail!(
                "{option} is for {what}, but {} is read as `{name}`: leave it out, or name the data set",
                path.display()
            );
        }
        Ok(kind)
    }
}

impl DataOptions {
    /// The masks of a source's images, where a folder of them is named.
    pub(crate) fn masks_of<S: Source>(&self, source: S) -> feedline::error::Result<Option<WithMasks<S>>> {
        self.mask_dir.as_ref().map(|folder| WithMasks::open(source, folder)).transpose()
    }
}

/// The words for a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Images, with or without a directory for each class
    Folder,
    /// A file that lists images: text, CSV, TSV or JSON lines
    List,
    /// A tar file, a folder of them, or a pattern
    Tar,
    /// A TFRecord file, a folder of them, or a pattern
    Tfrecord,
    /// An LMDB environment
    Lmdb,
    /// A Parquet file, a folder of them, or a pattern
    Parquet,
    /// A data.yaml, or a folder with images/ and labels/ in it
    Yolo,
    /// A COCO annotation file (JSON)
    Coco,
    /// A URL: s3://, gs://, az://, https:// or http://
    Remote,
}

impl From<source::Kind> for Kind {
    fn from(kind: source::Kind) -> Kind {
        match kind {
            source::Kind::List => Kind::List,
            source::Kind::Tar => Kind::Tar,
            source::Kind::TfRecord => Kind::Tfrecord,
            source::Kind::Lmdb => Kind::Lmdb,
            source::Kind::Parquet => Kind::Parquet,
            source::Kind::Yolo => Kind::Yolo,
            source::Kind::Coco => Kind::Coco,
            source::Kind::Remote => Kind::Remote,
            _ => Kind::Folder,
        }
    }
}

/// The words for what becomes of bad labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnBad {
    /// Stop, and say which labels are bad
    #[default]
    Fail,
    /// Leave the object out
    SkipObject,
    /// Leave its image out
    SkipImage,
}

impl From<OnBad> for OnBadLabel {
    fn from(word: OnBad) -> OnBadLabel {
        match word {
            OnBad::Fail => OnBadLabel::Fail,
            OnBad::SkipObject => OnBadLabel::SkipObject,
            OnBad::SkipImage => OnBadLabel::SkipImage,
        }
    }
}

/// A data set of labelled objects.
pub(crate) enum Labelled {
    Yolo(Yolo),
    Coco(Coco),
}

impl Labelled {
    pub(crate) fn report(&self) -> &LabelReport {
        match self {
            Labelled::Yolo(source) => source.report(),
            Labelled::Coco(source) => source.report(),
        }
    }

    pub(crate) fn source(&self) -> &dyn Source {
        match self {
            Labelled::Yolo(source) => source,
            Labelled::Coco(source) => source,
        }
    }
}

/// Opens what `--data` names.
pub(crate) fn open(data: Option<&Path>, options: &DataOptions) -> anyhow::Result<Arc<dyn Source>> {
    let path = data.map_or_else(bundled, |path| Ok(path.to_owned()))?;
    let kind = options.kind_of(&path)?;
    let source: Arc<dyn Source> = match kind {
        Kind::Tar => Arc::new(Shards::find(&path, options.split.as_deref())?),
        Kind::List => Arc::new(open_list(&path, options)?),
        Kind::Tfrecord => Arc::new(open_tfrecord(&path, options)?),
        Kind::Lmdb => Arc::new(Lmdb::open(&path)?),
        Kind::Parquet => Arc::new(open_parquet(&path, options)?),
        Kind::Folder => Arc::new(open_folder(&path)?),
        Kind::Remote => remote::open(&path, &options.remote)?,
        Kind::Yolo | Kind::Coco => {
            let labelled = open_labelled(&path, kind, options, false)?;
            say_what_it_is(&path, &labelled, options);
            match labelled {
                Labelled::Yolo(source) => Arc::new(source),
                Labelled::Coco(source) => Arc::new(source),
            }
        }
    };
    if options.source.is_none() {
        say_what_was_found(&path, kind, &*source);
    }
    Ok(match &options.mask_dir {
        Some(folder) => Arc::new(WithMasks::open(source, folder)?),
        None => source,
    })
}

fn open_list(path: &Path, options: &DataOptions) -> Result<List> {
    let mut list = List::options();
    if let Some(root) = &options.root {
        list = list.root(root);
    }
    if let Some(column) = &options.image_column {
        list = list.path_column(column);
    }
    if let Some(column) = &options.label_column {
        list = list.label_column(column);
    }
    list.open(path)
}

fn open_tfrecord(path: &Path, options: &DataOptions) -> Result<TfRecord> {
    let mut files = TfRecord::options();
    if let Some(split) = &options.split {
        files = files.split(split);
    }
    if let Some(feature) = &options.image_column {
        files = files.image_feature(feature);
    }
    if let Some(feature) = &options.label_column {
        files = files.label_feature(feature);
    }
    files.open(path)
}

fn open_parquet(path: &Path, options: &DataOptions) -> Result<Parquet> {
    let mut files = Parquet::options();
    if let Some(split) = &options.split {
        files = files.split(split);
    }
    if let Some(column) = &options.image_column {
        files = files.image_column(column);
    }
    if let Some(column) = &options.label_column {
        files = files.label_column(column);
    }
    files.open(path)
}

/// What cannot be seen from the name alone is said; standard error may be closed.
fn say_what_was_found(path: &Path, kind: Kind, source: &dyn Source) {
    let what = match kind {
        Kind::Tfrecord => "TFRecord files",
        Kind::Lmdb => "an LMDB environment",
        Kind::Parquet => "Parquet files",
        _ => return,
    };
    let _ = writeln!(
        std::io::stderr(),
        "note: {} is taken for {what} of {} images and {} named classes; --source decides otherwise",
        path.display(),
        source.len(),
        source.classes().len()
    );
}

/// Opens a YOLO or COCO data set. With `all_bad` bad labels are skipped, and all of them are listed; no cache is used then,
/// for it would have to be written anew for these options, and again by the next training.
pub(crate) fn open_labelled(
    path: &Path,
    kind: Kind,
    options: &DataOptions,
    all_bad: bool,
) -> feedline::error::Result<Labelled> {
    let on_bad =
        if all_bad { OnBadLabel::SkipObject } else { options.on_bad_label.unwrap_or_default().into() };
    let cache = options.label_cache.as_ref().filter(|_| !all_bad);
    if kind == Kind::Coco {
        let mut coco = Coco::options().on_bad_label(on_bad);
        if let Some(cache) = cache {
            coco = coco.cache(cache);
        }
        if all_bad {
            coco = coco.bad_listed(usize::MAX);
        }
        let own = path.parent().unwrap_or(Path::new(""));
        return Ok(Labelled::Coco(coco.open(path, options.image_dir.as_deref().unwrap_or(own))?));
    }
    let mut yolo = Yolo::options().on_bad_label(on_bad);
    if let Some(cache) = cache {
        yolo = yolo.cache(cache);
    }
    if let Some(split) = &options.split {
        yolo = yolo.split(split);
    }
    if all_bad {
        yolo = yolo.bad_listed(usize::MAX);
    }
    Ok(Labelled::Yolo(yolo.open(path)?))
}

/// Labels are easily taken for something else, so what was found is said; standard error may be closed.
fn say_what_it_is(path: &Path, labelled: &Labelled, options: &DataOptions) {
    let report = labelled.report();
    let mut error = std::io::stderr();
    let name = if matches!(labelled, Labelled::Yolo(_)) { "YOLO" } else { "COCO" };
    if options.source.is_none() {
        let _ = writeln!(
            error,
            "note: {} is taken for a {name} data set of {} images ({} of them background) and {} objects; --source \
             decides otherwise",
            path.display(),
            report.images,
            report.backgrounds,
            report.objects
        );
    }
    if report.bad_labels > 0 {
        let _ = writeln!(
            error,
            "note: {} bad labels are left out, and {} images; the first is {}",
            report.bad_labels,
            report.skipped_images,
            report.bad.first().map_or_else(String::new, ToString::to_string)
        );
    }
    if let Some(cache) = &report.cache {
        let _ = writeln!(error, "note: {cache}");
    }
}

fn open_folder(path: &Path) -> feedline::error::Result<Folder> {
    let folder = Folder::open_any(path)?;
    if folder.loose_images() > 0 {
        // As torchvision does, but not in silence; standard error may be closed, and the data set is usable anyway.
        let _ = writeln!(
            std::io::stderr(),
            "note: {} images directly in {} belong to no class and are left out: move them into a class directory",
            folder.loose_images(),
            path.display()
        );
    }
    Ok(folder)
}

/// The photographs in the crate's own tree, where it was built or where the command runs.
fn bundled() -> anyhow::Result<PathBuf> {
    let places = [Path::new(env!("CARGO_MANIFEST_DIR")).join("data/photos"), PathBuf::from("data/photos")];
    match places.iter().find(|place| place.is_dir()) {
        Some(place) => Ok(place.clone()),
        None => bail!(
            "the bundled photographs are in none of {} and {}: name a folder of images with --data",
            places[0].display(),
            places[1].display()
        ),
    }
}
