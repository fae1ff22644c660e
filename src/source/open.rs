//! Opens any data set from its options: only here is it decided how each kind is recognised and opened.

mod beside;
mod note;
#[cfg(feature = "remote")]
mod remote;
mod sets;

pub use note::Note;

use super::labels::report::LabelReport;
use super::{
    Cifar, Coco, CocoOptions, Folder, Idx, List, ListOptions, Lmdb, Shards, Source, Yolo, YoloOptions,
};
use crate::error::{Error, Result, bail};
use crate::field::Field;
use crate::label::Skeleton;
use crate::options::{DataOptions, Entry, Kind, catalogue};
#[cfg(feature = "remote")]
use remote::open as remote_data;
use std::path::Path;

/// A data set that was opened from options.
pub struct Opened {
    /// The data set, with its masks where a folder of them was named.
    pub source: Box<dyn Source>,
    /// What it is.
    pub kind: Kind,
    /// What the user should know, in words for the command and for logs.
    pub notes: Vec<Note>,
    /// What was found in the labels of objects; `None` for data without them.
    pub labels: Option<LabelReport>,
    /// Whether samples are labelled with objects.
    pub objects: bool,
    /// Keypoints of an object; 0 where there are none.
    pub keypoints: usize,
    /// Width and height that COCO annotations say each image has, zero where they do not; empty for other data.
    pub stated_sizes: Vec<[u32; 2]>,
}

/// Opens the data set that `options` name, as the kind that they name or that is found by looking at it.
///
/// # Errors
/// [`Error::Config`] where no data are named, for an option that data of the kind do not take, and for a kind whose
/// feature is not built in; otherwise those of the source.
pub fn open(options: &DataOptions) -> Result<Opened> {
    if let Some(sets) = &options.sets {
        return sets::sets(options, sets);
    }
    refuse_what_mixes(options)?;
    open_one(options, options)
}

/// Opens one data set. Of the options, `own` are those that were given for it alone.
fn open_one(options: &DataOptions, own: &DataOptions) -> Result<Opened> {
    let (path, kind) = (path(options)?, kind_of(options)?);
    // Fields that have their files in folders.
    let mut pictures = match kind {
        Kind::Folder | Kind::Yolo | Kind::Coco => fields(options).unwrap_or_default(),
        _ => Vec::new(),
    };
    let mut opened = match kind {
        Kind::Folder => folder(options, path)?,
        Kind::List => list(options, path)?,
        Kind::Tar => tar(options, path)?,
        #[cfg(feature = "tfrecord")]
        Kind::TfRecord => tfrecord(options, path)?,
        Kind::Lmdb => lmdb(options, path)?,
        #[cfg(feature = "parquet")]
        Kind::Parquet => parquet(options, path)?,
        Kind::Yolo => yolo(options, path)?,
        Kind::Coco => coco(options, path)?,
        Kind::Idx => idx(options, path)?,
        Kind::Cifar => cifar(options, path)?,
        Kind::Remote => remote_data(options, own, path, &mut pictures)?,
        #[cfg(not(feature = "tfrecord"))]
        Kind::TfRecord => return Err(not_built_in(kind, path, "convert the data")),
        #[cfg(not(feature = "parquet"))]
        Kind::Parquet => return Err(not_built_in(kind, path, "convert the data")),
    };
    if options.kind.is_none() {
        opened.notes.splice(0..0, opened.taken_for(path));
    }
    if let Some(masks) = &options.mask_dir {
        opened.source = beside::with_masks(options, opened.source, masks)?;
    }
    if !pictures.is_empty() {
        opened.source = beside::with_images(options, opened.source, pictures)?;
    }
    if options.classes.is_some() || options.rename.is_some() {
        opened.source = Box::new(sets::classes(options).open(opened.source)?);
    }
    Ok(opened)
}

#[cfg(not(feature = "remote"))]
fn remote_data(_: &DataOptions, _: &DataOptions, path: &Path, _: &mut Vec<Field>) -> Result<Opened> {
    Err(not_built_in(Kind::Remote, path, "copy the data to a disk"))
}

/// What says how several data sets follow each other means nothing for one.
fn refuse_what_mixes(options: &DataOptions) -> Result<()> {
    let said = [
        ("mix", options.mix.is_some()),
        ("stopping_strategy", options.stopping_strategy.is_some()),
        ("epoch_samples", options.epoch_samples.is_some()),
    ];
    match said.into_iter().find(|(_, said)| *said) {
        Some((key, _)) => Err(Error::config(format!(
            "[data]: {key} is for several data sets, and sets lists none: leave it out, or list them (sets)"
        ))),
        None => Ok(()),
    }
}

/// What the data are that `options` name.
///
/// # Errors
/// [`Error::Config`] where no data are named, and for an option that data of the kind do not take.
pub fn kind_of(options: &DataOptions) -> Result<Kind> {
    let (path, kind) = (path(options)?, kind_at(options)?);
    let names_url = names_url(options);
    refuse_unread(options, kind, path, |entry| entry.serves(kind) || names_url && entry.is_of_urls())?;
    Ok(kind)
}

/// What the data are; the options are not looked at further. What a URL names is remote, whatever kind of data set it is.
fn kind_at(options: &DataOptions) -> Result<Kind> {
    let path = path(options)?;
    Ok(match is_url(path) || options.image_dir.as_deref().is_some_and(is_url) {
        true => Kind::Remote,
        false => options.kind.unwrap_or_else(|| Kind::of(path)),
    })
}

/// Whether files beside the images are at a URL.
fn names_url(options: &DataOptions) -> bool {
    let fields = options.fields.iter().flat_map(|fields| &fields.0);
    options.mask_dir.as_deref().is_some_and(is_url)
        || fields.into_iter().any(|field| is_url(Path::new(field.stored_as())))
}

fn path(options: &DataOptions) -> Result<&Path> {
    let none = || {
        Error::config("no data are named: set the option data to a path or a URL, or sets to several of them")
    };
    options.path.as_deref().ok_or_else(none)
}

impl Kind {
    /// What `path` looks like: its name, the names in it if it is a folder, and for some kinds its first bytes. A path
    /// that looks like nothing else is a list if it is a file, and a folder of images if it is none.
    pub fn of(path: &Path) -> Self {
        if is_url(path) {
            return Kind::Remote;
        }
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        match path.is_file() {
            _ if Shards::is_at(path) => Kind::Tar,
            true if is_json => Kind::Coco,
            _ if Yolo::is_at(path) => Kind::Yolo,
            _ if Lmdb::is_at(path) => Kind::Lmdb,
            #[cfg(feature = "parquet")]
            _ if super::Parquet::is_at(path) => Kind::Parquet,
            #[cfg(feature = "tfrecord")]
            _ if super::TfRecord::is_at(path) => Kind::TfRecord,
            _ if Idx::is_at(path) => Kind::Idx,
            _ if Cifar::is_at(path) => Kind::Cifar,
            true => Kind::List,
            false => Kind::Folder,
        }
    }
}

fn is_url(path: &Path) -> bool {
    let schemes = ["s3://", "gs://", "az://", "https://", "http://"];
    path.to_str().is_some_and(|text| schemes.iter().any(|scheme| text.starts_with(scheme)))
}

/// An option that nothing reads would be a setting that does nothing.
fn refuse_unread(
    options: &DataOptions,
    kind: Kind,
    path: &Path,
    is_read: impl Fn(&Entry) -> bool,
) -> Result<()> {
    let mut readable = options.clone();
    let DataOptions { path: data, root, image_dir, mask_dir, label_cache, cache_dir, .. } = &mut readable;
    // Paths that are no text cannot be written as JSON; here it only matters that they are given.
    for path in [data, root, image_dir, mask_dir, label_cache, cache_dir].into_iter().flatten() {
        *path = path.to_string_lossy().into_owned().into();
    }
    let given = serde_json::to_value(readable).map_err(|error| Error::config(error.to_string()))?;
    let is_given = |key: &str| !given[key].is_null();
    let mut unread = catalogue().iter().filter(|entry| entry.section == "data" && !is_read(entry));
    if let Some(entry) = unread.find(|entry| is_given(entry.key)) {
        let words: Vec<&str> = entry.kinds.unwrap_or_default().iter().map(|kind| kind.word()).collect();
        bail!(
            "{} is for data of the kind {}, but {} is read as `{}`: leave it out, or set kind",
            entry.name,
            words.join(" or "),
            path.display(),
            kind.word()
        );
    }
    match options.mask_dir.is_none() && options.allow_missing_masks.is_some() {
        true => Err(Error::config(
            "allow_missing_masks means nothing without mask_dir: leave it out, or set mask_dir",
        )),
        false => Ok(()),
    }
}

impl Opened {
    fn of(kind: Kind, source: impl Source + 'static) -> Self {
        let (notes, stated_sizes) = (Vec::new(), Vec::new());
        let objects = kind.has_objects();
        Self { source: Box::new(source), kind, notes, labels: None, objects, keypoints: 0, stated_sizes }
    }

    fn labelled(
        kind: Kind,
        source: impl Source + 'static,
        report: LabelReport,
        skeleton: Option<usize>,
    ) -> Self {
        let mut opened = Self { keypoints: skeleton.unwrap_or(0), ..Self::of(kind, source) };
        if report.bad_labels > 0 {
            let first = report.bad.first().map_or_else(String::new, ToString::to_string);
            let (labels, images) = (report.bad_labels, report.skipped_images);
            opened.notes.push(Note::BadLabels { labels, images, first });
        }
        opened.notes.extend(report.cache.clone().map(Note::LabelCache));
        opened.labels = Some(report);
        opened
    }

    /// Of shards, which have objects if they have a report of them.
    fn packed(
        kind: Kind,
        source: impl Source + 'static,
        labels: Option<LabelReport>,
        skeleton: Option<usize>,
    ) -> Self {
        let (objects, keypoints) = (labels.is_some(), skeleton.unwrap_or(0));
        Self { objects, labels, keypoints, ..Self::of(kind, source) }
    }

    /// A note where what the data are cannot be seen from their name alone.
    fn taken_for(&self, path: &Path) -> Option<Note> {
        let (images, classes) = (self.source.len(), self.source.classes().len());
        let what = match self.kind {
            Kind::Folder | Kind::List | Kind::Tar | Kind::Remote => return None,
            Kind::TfRecord | Kind::Lmdb | Kind::Parquet | Kind::Idx | Kind::Cifar => {
                format!("{} of {images} images and {classes} named classes", self.kind.description())
            }
            Kind::Yolo | Kind::Coco => {
                let LabelReport { images, backgrounds, objects, .. } =
                    self.labels.clone().unwrap_or_default();
                format!(
                    "{} of {images} images ({backgrounds} of them background) and {objects} objects",
                    self.kind.description()
                )
            }
        };
        Some(Note::TakenFor { path: path.to_owned(), what })
    }
}

/// Hands an option on, if it is given.
fn given<S, T: Clone>(source: S, value: &Option<T>, set: impl FnOnce(S, T) -> S) -> S {
    match value {
        Some(value) => set(source, value.clone()),
        None => source,
    }
}

fn fields(options: &DataOptions) -> Option<Vec<Field>> {
    options.fields.clone().map(|fields| fields.0)
}

fn folder(options: &DataOptions, path: &Path) -> Result<Opened> {
    let how = Folder::options().allow_empty(options.allow_empty()).max_file_bytes(options.max_file_bytes().0);
    let folder = if options.flat() { how.flat(path)? } else { how.open_any(path)? };
    let images = folder.loose_images();
    let mut opened = Opened::of(Kind::Folder, folder);
    if images > 0 {
        opened.notes.push(Note::LooseImages { path: path.to_owned(), images });
    }
    Ok(opened)
}

fn list(options: &DataOptions, path: &Path) -> Result<Opened> {
    let list = list_options(options)
        .fields(fields(options).unwrap_or_default())
        .open(path)?
        .max_field_bytes(options.max_field_bytes().0);
    Ok(Opened::of(Kind::List, list.max_file_bytes(options.max_file_bytes().0)))
}

fn list_options(options: &DataOptions) -> ListOptions {
    let mut how = List::options();
    how = given(how, &options.root, |how, root| how.root(root));
    how = given(how, &options.header, |how, header| how.header(header));
    how = given(how, &options.image_column, |how, column| how.path_column(column));
    how = given(how, &options.label_column, |how, column| how.label_column(column));
    given(how, &options.label_separator, |how, separator| how.label_separator(separator))
}

fn tar(options: &DataOptions, path: &Path) -> Result<Opened> {
    let how = given(Shards::options(), &fields(options), |how, fields| how.fields(fields));
    let shards = how.find(path, options.split.as_deref())?;
    let shards = shards.max_field_bytes(options.max_field_bytes().0);
    let shards = shards.max_file_bytes(options.max_file_bytes().0);
    let (report, keypoints) = (shards.report(), shards.skeleton().map(count));
    Ok(Opened::packed(Kind::Tar, shards, report, keypoints))
}

fn lmdb(options: &DataOptions, path: &Path) -> Result<Opened> {
    let how = given(Lmdb::options(), &options.database, |how, name| how.database(name));
    Ok(Opened::of(Kind::Lmdb, how.open(path)?.max_file_bytes(options.max_file_bytes().0)))
}

#[cfg(feature = "tfrecord")]
fn tfrecord(options: &DataOptions, path: &Path) -> Result<Opened> {
    let mut how = super::TfRecord::options();
    how = given(how, &options.split, |how, split| how.split(split));
    how = given(how, &options.image_column, |how, feature| how.image_feature(feature));
    how = given(how, &options.label_column, |how, feature| how.label_feature(feature));
    how = how.text_feature(options.class_column()).file_feature(options.name_column());
    how = given(how, &fields(options), |how, fields| how.fields(fields));
    let records = how.open(path)?.max_field_bytes(options.max_field_bytes().0);
    let records = records.max_file_bytes(options.max_file_bytes().0);
    let (report, keypoints) = (records.report(), records.skeleton().map(count));
    Ok(Opened::packed(Kind::TfRecord, records, report, keypoints))
}

#[cfg(feature = "parquet")]
fn parquet(options: &DataOptions, path: &Path) -> Result<Opened> {
    let mut how = super::Parquet::options()
        .cache_bytes(options.parquet_cache().0)
        .fields(fields(options).unwrap_or_default());
    how = given(how, &options.split, |how, split| how.split(split));
    how = given(how, &options.image_column, |how, column| how.image_column(column));
    how = given(how, &options.label_column, |how, column| how.label_column(column));
    let parquet = how.open(path)?.max_field_bytes(options.max_field_bytes().0);
    Ok(Opened::of(Kind::Parquet, parquet.max_file_bytes(options.max_file_bytes().0)))
}

fn yolo(options: &DataOptions, path: &Path) -> Result<Opened> {
    let yolo = yolo_options(options).max_file_bytes(options.max_file_bytes().0).open(path)?;
    let (report, keypoints) = (yolo.report().clone(), yolo.skeleton().map(count));
    Ok(Opened::labelled(Kind::Yolo, yolo, report, keypoints))
}

fn yolo_options(options: &DataOptions) -> YoloOptions {
    let mut how = Yolo::options().on_bad_label(options.on_bad_label()).bad_listed(options.bad_listed());
    how = given(how, &options.split, |how, split| how.split(split));
    how = given(how, &options.root, |how, root| how.root(root));
    given(how, &options.label_cache, |how, file| how.cache(file))
}

fn coco(options: &DataOptions, path: &Path) -> Result<Opened> {
    let own = path.parent().unwrap_or(Path::new(""));
    let images = options.image_dir.as_deref().unwrap_or(own);
    let coco = coco_options(options).max_file_bytes(options.max_file_bytes().0).open(path, images)?;
    let (report, keypoints) = (coco.report().clone(), coco.skeleton().map(count));
    let stated_sizes = (0..coco.len()).map(|index| coco.image_size(index).unwrap_or_default()).collect();
    Ok(Opened { stated_sizes, ..Opened::labelled(Kind::Coco, coco, report, keypoints) })
}

fn coco_options(options: &DataOptions) -> CocoOptions {
    let how = Coco::options().on_bad_label(options.on_bad_label()).bad_listed(options.bad_listed());
    given(how, &options.label_cache, |how, file| how.cache(file))
}

fn idx(options: &DataOptions, path: &Path) -> Result<Opened> {
    let idx = given(Idx::options(), &options.split, |how, split| how.split(split)).open(path)?;
    Ok(Opened::of(Kind::Idx, idx.max_file_bytes(options.max_file_bytes().0)))
}

fn cifar(options: &DataOptions, path: &Path) -> Result<Opened> {
    let how = given(Cifar::options(), &options.split, |how, split| how.split(split));
    let how = given(how, &options.label_column, |how, labels| how.labels(labels));
    Ok(Opened::of(Kind::Cifar, how.open(path)?.max_file_bytes(options.max_file_bytes().0)))
}

fn count(skeleton: &Skeleton) -> usize {
    skeleton.count
}

#[cfg(not(all(feature = "parquet", feature = "remote", feature = "tfrecord")))]
fn not_built_in(kind: Kind, path: &Path, remedy: &str) -> Error {
    let feature = kind.word();
    Error::Unavailable {
        what: path.display().to_string(),
        why: format!("this was built without the feature `{feature}`"),
        remedy: format!("build it with `--features {feature}`, or {remedy}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn at(path: impl Into<PathBuf>) -> DataOptions {
        DataOptions { path: Some(path.into()), ..DataOptions::default() }
    }

    #[test]
    fn a_data_set_is_opened_as_what_it_looks_like() {
        let photos = concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos");
        assert_eq!(Kind::of(Path::new(photos)), Kind::Folder);
        let opened = open(&at(photos)).unwrap();
        assert_eq!(opened.source.len(), Folder::open(photos).unwrap().len());
        assert!(opened.notes.is_empty() && opened.kind == Kind::Folder && opened.labels.is_none());
        let flat = open(&DataOptions { flat: Some(true), ..at(photos) }).unwrap();
        assert!(flat.source.classes().is_empty() && flat.source.len() == opened.source.len());
    }

    #[test]
    fn what_cannot_be_opened_is_refused_by_name() {
        let refusal = |options: DataOptions| open(&options).err().unwrap().to_string();
        let kind = Some(Kind::Folder);
        let text = refusal(DataOptions { split: Some("val".into()), kind, ..at("photos") });
        assert!(
            text.contains("split is for data of the kind yolo or tar") && text.contains("leave it out"),
            "{text}"
        );
        assert!(text.contains("photos is read as `folder`"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let path = std::ffi::OsStr::from_bytes(b"\xFFphotos");
            let text = refusal(DataOptions { split: Some("val".into()), kind, ..at(path) });
            assert!(text.contains("split is for data of the kind yolo or tar"), "{text}");
        }
        assert!(refusal(DataOptions { kind: Some(Kind::List), ..at("no-such.txt") }).contains("no-such.txt"));
        assert!(refusal(DataOptions::default()).contains("no data are named"));
        #[cfg(not(feature = "remote"))]
        assert!(refusal(at("s3://bucket/a")).contains("feature `remote`"));
    }
}
