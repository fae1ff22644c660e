//! A YOLO data set: images, and beside each a text file with one object on each line.

mod data_yaml;
mod find;
mod line;
mod reading;

use super::OnBadLabel;
use super::Source;
use super::files::Files;
use super::labels::cache::{self, Stamping};
use super::labels::report::{BAD_LISTED, LabelReport};
use super::labels::table::Table;
use super::tree::{Disk, Entry, Tree};
use crate::error::{Error, Result, bail, ensure};
use crate::label::{Objects, Skeleton, Unit};
use data_yaml::DataSet;
#[cfg(feature = "remote")]
pub(super) use find::label_folder;
use find::label_path;
use line::Shape;
use reading::{MAX_LABEL_BYTES, Read, Reading};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a data.yaml is called in a folder.
pub(super) const DATA_YAML: [&str; 2] = ["data.yaml", "data.yml"];
const LABELS_REMEDY: &str = "make it a text file that this user may read";

/// Images with boxes, polygons or keypoints, as YOLO trainers store them.
///
/// Opened from a `data.yaml`, from the folder that holds one, or from a folder with `images/` and `labels/` in it. The
/// labels of `.../images/a/b.jpg` are `.../labels/a/b.txt`: the last `images` of the path becomes `labels`. An image
/// without that file is background. `docs/labels.md` has the format of a line, and what becomes of each kind of bad
/// label.
///
/// Opening reads all label files. In memory an object costs 32 bytes, a point of a polygon 8 and a keypoint 12. Labels
/// are [`Label::Objects`](crate::label::Label::Objects) in parts of the upright image's size.
///
/// ```no_run
/// use feedline::source::{OnBadLabel, Yolo};
///
/// let train = Yolo::open("coco8/data.yaml")?;
/// let val = Yolo::options().split("val").on_bad_label(OnBadLabel::SkipObject).open("coco8/data.yaml")?;
/// println!("{} objects, {} bad labels", val.report().objects, val.report().bad_labels);
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Yolo {
    files: Files,
    labels: YoloLabels,
}

/// What was read of all label files, and of a data.yaml.
#[derive(Clone, Debug)]
pub(super) struct YoloLabels {
    pub(super) table: Table,
    pub(super) classes: Vec<String>,
    pub(super) report: LabelReport,
}

/// How a YOLO data set is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct YoloOptions {
    pub(super) split: Option<String>,
    pub(super) root: Option<PathBuf>,
    on_bad_label: OnBadLabel,
    bad_listed: Option<usize>,
    cache: Option<PathBuf>,
    max_file_bytes: Option<u64>,
}

impl Yolo {
    /// The training images of the data set at `path`, all labels sound.
    ///
    /// # Errors
    /// Those of [`YoloOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Options to open a data set with.
    pub fn options() -> YoloOptions {
        YoloOptions::default()
    }

    /// Whether `path` looks like a YOLO data set: a YAML file, or a folder with a data.yaml or with `images/` and
    /// `labels/` in it.
    pub fn is_at(path: &Path) -> bool {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let is_yaml = path.is_file() && (ending == "yaml" || ending == "yml");
        is_yaml || matches!(data_yaml_in(&Disk, path), Ok(Some(_))) || has_both_folders(path)
    }

    /// The objects of one label file, which need belong to no data set: boxes and polygons, without keypoints.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be read, [`Error::Config`] with file and line where a label cannot be right.
    pub fn labels_of(file: impl AsRef<Path>) -> Result<Objects> {
        let file = file.as_ref();
        let mut reading = Reading::new(Shape::default(), false, 1);
        Disk.read_each(
            &mut [file.to_owned()].into_iter(),
            MAX_LABEL_BYTES,
            LABELS_REMEDY,
            &mut |_, text| reading.image(0, text, &|| file.display().to_string()),
        )?;
        if reading.found == 0 {
            let missing = std::io::ErrorKind::NotFound.into();
            return Err(Error::io(file, missing, "check the path"));
        }
        match reading.read.report.bad.first() {
            Some(bad) => Err(Error::config(bad.to_string())),
            None => Ok(Objects { unit: Unit::Normalized, list: reading.objects, skeleton: None }),
        }
    }

    /// What opening found in the labels.
    pub fn report(&self) -> &LabelReport {
        &self.labels.report
    }

    /// What the keypoints of the objects are; `None` where objects have none.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.labels.table.skeleton.as_deref()
    }
}

impl YoloOptions {
    setters! {
        /// Which images: `train` unless set, `val` or `test`. In a folder without a data.yaml the folder of this name below
        /// `images/`, or all images unless set.
        split: some into String;

        /// The folder that the paths of a data.yaml are relative to, instead of its `path`.
        root: some into PathBuf;

        /// What becomes of bad labels; they are an error unless set.
        on_bad_label: OnBadLabel;

        /// The number of bad labels that the report lists, at least the three that an error quotes; 20 unless set.
        bad_listed: some usize;

        /// Keeps the labels in this file, so that the next opening reads no label file. It is made anew when a label file
        /// has changed (by its time or size), come or gone, or when the options differ. Without it nothing is written.
        cache: some into PathBuf;

        /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes: some u64;
    }

    /// Opens the data set at `path`.
    ///
    /// # Errors
    /// A data.yaml that cannot be understood, folders or label files that cannot be read, no image, no label file at
    /// all, a cache that cannot be written, and, unless [`YoloOptions::on_bad_label`] says otherwise, bad labels: how
    /// many, and file and line of the first.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Yolo> {
        let (root, images, labels) = self.read(&Disk, path.as_ref())?;
        Ok(Yolo { files: Files::at(&root, self.max_file_bytes, images)?, labels })
    }

    /// Reads the labels of the data set at `path` in `tree`: the folder that keys are relative to, and the images, come back
    /// with them.
    ///
    /// # Errors
    /// Those of [`YoloOptions::open`].
    pub(super) fn read(&self, tree: &dyn Tree, path: &Path) -> Result<(PathBuf, Vec<PathBuf>, YoloLabels)> {
        let set = self.data_set(tree, path)?;
        let mut images = Vec::new();
        for entry in &set.entries {
            images.extend(find::images(tree, &set.root, entry)?);
        }
        ensure!(!images.is_empty(), "{} names no folder of images", tree.shown(path));
        let Some(cache) = &self.cache else {
            let read = self.read_labels(tree, &images, &set)?;
            return finish(set, images, read);
        };
        let stamp = self.stamp(tree, &images, &set)?;
        let file = |number: usize| tree.shown(&label_path(&images[number]));
        match cache::load::<(Vec<usize>, LabelReport)>(cache, &stamp, file) {
            Ok(((kept, mut report), table)) if fits(&kept, images.len(), &table) => {
                report.cache = Some(format!("{} gave the labels", cache.display()));
                finish(set, images, Read { table, kept, report })
            }
            outcome => {
                let why =
                    outcome.err().unwrap_or_else(|| "was ignored and written anew: it is damaged".into());
                let mut read = self.read_labels(tree, &images, &set)?;
                cache::save(cache, &stamp, &(&read.kept, &read.report), &read.table)?;
                read.report.cache = Some(format!("{} {why}", cache.display()));
                finish(set, images, read)
            }
        }
    }

    fn data_set(&self, tree: &dyn Tree, path: &Path) -> Result<DataSet> {
        let split = self.split.as_deref();
        let found = tree.look(path)?;
        let file = match found {
            Some(Entry::File) => Some(path.to_owned()),
            _ => data_yaml_in(tree, path)?,
        };
        if let Some(file) = file {
            return data_yaml::read(tree, &file, split.unwrap_or("train"), self.root.as_deref());
        }
        let images = path.join("images");
        if tree.look(&images)? != Some(Entry::Folder) {
            let cause = match found.is_some() {
                true => "holds neither a data.yaml nor a folder named images",
                false => "is not there",
            };
            let remedy = "name a data.yaml, or a folder with images/ and labels/ in it";
            bail!("{} {cause}: {remedy}", tree.shown(path));
        }
        let entry = split.map_or_else(|| images.clone(), |split| images.join(split));
        Ok(DataSet { root: path.to_owned(), entries: vec![entry], ..DataSet::default() })
    }

    fn read_labels(&self, tree: &dyn Tree, images: &[PathBuf], set: &DataSet) -> Result<Read> {
        let mut reading = Reading::new(
            set.shape,
            self.on_bad_label == OnBadLabel::SkipImage,
            self.bad_listed.unwrap_or(BAD_LISTED),
        );
        let mut files = images.iter().map(|image| label_path(image));
        tree.read_each(&mut files, MAX_LABEL_BYTES, LABELS_REMEDY, &mut |index, text| {
            reading.image(index, text, &|| tree.shown(&label_path(&images[index])))
        })?;
        let Reading { found, mut read, .. } = reading;
        ensure!(
            found != 0,
            "none of {} images has a label file (the first would be {}): put the labels there, or open the images \
                 without labels (Folder::flat)",
            images.len(),
            tree.shown(&label_path(&images[0]))
        );
        read.report.refuse_bad(self.on_bad_label)?;
        read.table.shrink();
        let (report, table) = (&mut read.report, &read.table);
        (report.images, report.objects) = (table.len() as u64, table.objects());
        (report.backgrounds, report.skipped_images) =
            (table.backgrounds(), (images.len() - table.len()) as u64);
        Ok(read)
    }

    /// All that the labels depend on.
    fn stamp(&self, tree: &dyn Tree, images: &[PathBuf], set: &DataSet) -> Result<cache::Stamp> {
        let mut stamping = Stamping::new("yolo");
        stamping.add(
            format!("{:?} {:?} {}", set.shape, self.on_bad_label, self.bad_listed.unwrap_or(BAD_LISTED))
                .as_bytes(),
        );
        let files = || images.iter().map(|image| label_path(image));
        for (file, stamp) in files().zip(tree.stamps(&mut files())?) {
            stamping.add_file(file.as_os_str().as_encoded_bytes(), stamp);
        }
        Ok(stamping.finish())
    }
}

/// The labels, and the images that they are for.
fn finish(set: DataSet, images: Vec<PathBuf>, read: Read) -> Result<(PathBuf, Vec<PathBuf>, YoloLabels)> {
    let Read { mut table, kept, report } = read;
    (table.unit, table.skeleton) = (Unit::Normalized, set.skeleton.map(Arc::new));
    ensure!(!kept.is_empty(), "every image has a bad label, so none is left: mend the labels");
    let images = match kept.len() == images.len() {
        true => images,
        false => kept.iter().map(|&image| images[image].clone()).collect(),
    };
    Ok((set.root, images, YoloLabels { table, classes: set.classes, report }))
}

impl Source for Yolo {
    pass_on!([.files] len read key path);
    pass_on!([.labels.table] label);

    fn classes(&self) -> &[String] {
        &self.labels.classes
    }
}

/// Whether the images that a cache names are there, in order, and have labels.
fn fits(kept: &[usize], images: usize, table: &Table) -> bool {
    kept.is_sorted_by(|a, b| a < b)
        && kept.last().is_none_or(|&last| last < images)
        && kept.len() == table.len()
}

/// A data.yaml directly in `folder`.
fn data_yaml_in(tree: &dyn Tree, folder: &Path) -> Result<Option<PathBuf>> {
    for name in DATA_YAML {
        let file = folder.join(name);
        if tree.look(&file)? == Some(Entry::File) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn has_both_folders(folder: &Path) -> bool {
    ["images", "labels"].iter().all(|name| folder.join(name).is_dir())
}
