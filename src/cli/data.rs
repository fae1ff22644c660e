//! The data set that a command works on: a folder, tar files, a list of files, a YOLO or COCO data set, or the photographs
//! that come with the crate.

mod remote;

use anyhow::bail;
use clap::ValueEnum;
use feedline::error::Result;
use feedline::label::Label;
use feedline::source::{Coco, Folder, LabelReport, List, OnBadLabel, Shards, Source, Traffic, Yolo};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a data set is, and how it is opened.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct DataOptions {
    /// What the data is [default: found by looking at it]
    #[arg(long, value_name = "KIND")]
    pub(crate) source: Option<Kind>,
    /// Which images of a YOLO data set [default: train, or all where there is no data.yaml]
    #[arg(long, value_name = "train|val|test")]
    pub(crate) split: Option<String>,
    /// The folder that the images of COCO annotations lie in [default: that of the annotations]
    #[arg(long, value_name = "DIR")]
    pub(crate) image_dir: Option<PathBuf>,
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
        let kind = self.source.unwrap_or_else(|| kind_of(path));
        let (yolo, coco) = (kind == Kind::Yolo, kind == Kind::Coco);
        let given = [
            ("--split", self.split.is_some(), yolo, "YOLO data sets (--source yolo)"),
            ("--image-dir", self.image_dir.is_some(), coco, "COCO annotations (--source coco)"),
            ("--on-bad-label", self.on_bad_label.is_some(), yolo || coco, "labels (--source yolo or coco)"),
            ("--label-cache", self.label_cache.is_some(), yolo || coco, "labels (--source yolo or coco)"),
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

/// The words for a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Images, with or without a directory for each class
    Folder,
    /// A text file that lists images
    List,
    /// A tar file, or a folder of them
    Tar,
    /// A data.yaml, or a folder with images/ and labels/ in it
    Yolo,
    /// A COCO annotation file (JSON)
    Coco,
    /// A URL: s3://, gs://, az://, https:// or http://
    Remote,
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
    Ok(match kind {
        Kind::Tar if path.is_file() => Arc::new(Shards::open([&path])?),
        Kind::Tar => Arc::new(Shards::folder(&path)?),
        Kind::List => Arc::new(List::open(path)?),
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
    })
}

/// What the data at `path` looks like.
pub(crate) fn kind_of(path: &Path) -> Kind {
    if remote::is_url(path) {
        return Kind::Remote;
    }
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    match path.is_file() {
        true if Shards::is_archive(path) => Kind::Tar,
        true if is_json => Kind::Coco,
        true if Yolo::is_at(path) => Kind::Yolo,
        true => Kind::List,
        false if Shards::are_in(path) => Kind::Tar,
        false if Yolo::is_at(path) => Kind::Yolo,
        false => Kind::Folder,
    }
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

/// A source over and over, until there are `samples` of them, so that a small data set makes one long epoch.
pub(crate) struct Repeated {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) samples: usize,
}

impl Repeated {
    fn own(&self, index: usize) -> usize {
        index % self.source.len().max(1)
    }
}

impl Source for Repeated {
    fn len(&self) -> usize {
        if self.source.is_empty() { 0 } else { self.samples }
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.source.read(self.own(index), bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.source.key(self.own(index))
    }

    fn label(&self, index: usize) -> Label {
        self.source.label(self.own(index))
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        self.source.mask(self.own(index), bytes)
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn record(&self, index: usize) -> usize {
        self.source.record(self.own(index))
    }

    fn traffic(&self) -> Traffic {
        self.source.traffic()
    }
}
