//! A COCO data set: images, and one JSON file with all that is labelled in them.

mod annotation;
mod gather;
mod json;
mod outline;
mod rle;
mod segmentation;
#[cfg(test)]
mod tests;

use super::OnBadLabel;
use super::Source;
use super::files::Files;
use super::labels::cache::{self, FileStamp, Stamping, stamp_of};
use super::labels::report::{BAD_LISTED, LabelReport};
use super::labels::table::Table;
use crate::error::{Error, Result};
use crate::label::{Skeleton, Unit};
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Images with boxes, outlines, keypoints and crowds, as COCO's `instances_*.json` and `person_keypoints_*.json` have
/// them.
///
/// Images are in the order of their ids, as in torchvision's `CocoDetection`; an image without annotations is
/// background. Classes are the categories in the order of their ids, counted from 0: [`Coco::category_ids`] leads back.
/// The outlines of run-length masks become polygons along their pixels, exactly. Keypoints whose names differ by `left`
/// and `right` are exchanged in a mirror image. `docs/labels.md` lists what happens to each kind of bad label.
///
/// Opening reads the file as a stream. In memory an object costs 32 bytes, a point of a polygon 8 and a keypoint 12; while
/// opening twice as much. Labels are [`Label::Objects`](crate::label::Label::Objects) in pixels of the upright image.
///
/// ```no_run
/// use feedline::source::Coco;
///
/// let val = Coco::open("annotations/instances_val2017.json", "val2017")?;
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coco {
    files: Files,
    labels: CocoLabels,
}

/// What annotations say of their images.
#[derive(Clone, Debug)]
pub(super) struct CocoLabels {
    pub(super) table: Table,
    about: About,
}

/// A file of annotations, on a disk or in a store.
pub(super) trait Annotations {
    /// The file, as people write it.
    fn shown(&self) -> String;

    /// Its name, and what says whether it has changed.
    fn stamp(&self) -> (Vec<u8>, FileStamp);

    /// Its content.
    fn open(&self) -> Result<Box<dyn Read + '_>>;
}

impl Annotations for &Path {
    fn shown(&self) -> String {
        self.display().to_string()
    }

    fn stamp(&self) -> (Vec<u8>, FileStamp) {
        (self.as_os_str().as_encoded_bytes().to_vec(), stamp_of(self))
    }

    fn open(&self) -> Result<Box<dyn Read + '_>> {
        let remedy = "name COCO annotations (instances_*.json) that can be read";
        let file = regular_file::open(self).map_err(|error| Error::io(*self, error, remedy))?;
        Ok(Box::new(file))
    }
}

/// How many of the first images are looked for.
pub(super) const LOOKED_FOR: usize = 16;

/// The error where none of the first images is there, of which `first` is the first.
pub(super) fn not_there(first: &str) -> Error {
    Error::config(format!(
        "{first} is not there, nor are the next images: name the folder that `file_name` is relative to"
    ))
}

/// What is known besides the objects.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct About {
    /// Ids, sizes (zero where the file has none) and files of the images. Files are empty once the source is open.
    images: Vec<i64>,
    sizes: Vec<[u32; 2]>,
    files: Vec<String>,
    /// The id of each class.
    categories: Vec<i64>,
    classes: Vec<String>,
    /// Number of keypoints, and their order in a mirror image.
    skeleton: Option<(usize, Vec<usize>)>,
    report: LabelReport,
}

/// How a COCO data set is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CocoOptions {
    on_bad_label: OnBadLabel,
    bad_listed: Option<usize>,
    cache: Option<PathBuf>,
    max_file_bytes: Option<u64>,
}

impl Coco {
    /// The data set of an annotation file, whose images lie in the folder `images`, all labels sound.
    ///
    /// # Errors
    /// Those of [`CocoOptions::open`].
    pub fn open(annotations: impl AsRef<Path>, images: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(annotations, images)
    }

    /// Options to open a data set with.
    pub fn options() -> CocoOptions {
        CocoOptions::default()
    }

    /// What opening found in the labels.
    pub fn report(&self) -> &LabelReport {
        self.labels.report()
    }

    /// What the keypoints of the objects are; `None` where objects have none.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.labels.table.skeleton.as_deref()
    }

    /// The category id of each class, as evaluation needs it.
    pub fn category_ids(&self) -> &[i64] {
        self.labels.category_ids()
    }

    /// The id of an image, as evaluation needs it.
    pub fn image_id(&self, index: usize) -> Option<i64> {
        self.labels.image_id(index)
    }

    /// Width and height of an image according to the file, where it has them.
    pub fn image_size(&self, index: usize) -> Option<[u32; 2]> {
        self.labels.image_size(index)
    }
}

impl CocoLabels {
    pub(super) fn report(&self) -> &LabelReport {
        &self.about.report
    }

    pub(super) fn category_ids(&self) -> &[i64] {
        &self.about.categories
    }

    pub(super) fn image_id(&self, index: usize) -> Option<i64> {
        self.about.images.get(index).copied()
    }

    pub(super) fn image_size(&self, index: usize) -> Option<[u32; 2]> {
        self.about.sizes.get(index).copied().filter(|size| !size.contains(&0))
    }

    pub(super) fn classes(&self) -> &[String] {
        &self.about.classes
    }
}

impl CocoOptions {
    setters! {
        /// What becomes of bad labels; they are an error unless set.
        on_bad_label: OnBadLabel;

        /// The number of bad labels that the report lists, at least the three that an error quotes; 20 unless set.
        bad_listed: some usize;

        /// Keeps the labels in this file, so that the next opening does not read the JSON. It is made anew when the JSON has
        /// changed (by its time or size), or when the options differ. Without it nothing is written.
        cache: some into PathBuf;

        /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes: some u64;
    }

    /// Opens the data set of an annotation file, whose images lie in the folder `images`.
    ///
    /// # Errors
    /// A file that cannot be read or is no COCO JSON (with line and column), ids that are there twice, categories with
    /// different keypoints, a folder without the images, a cache that cannot be written, and, unless
    /// [`CocoOptions::on_bad_label`] says otherwise, bad labels: how many, and the ids of the first.
    pub fn open(self, annotations: impl AsRef<Path>, images: impl AsRef<Path>) -> Result<Coco> {
        let folder = images.as_ref();
        let (names, labels) = self.read(&annotations.as_ref())?;
        let mut some = names.iter().take(LOOKED_FOR);
        if !some.any(|name| folder.join(name).exists()) {
            return Err(not_there(&folder.join(&names[0]).display().to_string()));
        }
        let files = Files::at(folder, self.max_file_bytes, names.iter().map(|name| folder.join(name)))?;
        Ok(Coco { files, labels })
    }

    /// Reads the annotations, or takes what the cache keeps of them; the names of the images come back with the labels.
    ///
    /// # Errors
    /// Those of [`CocoOptions::open`].
    pub(super) fn read(&self, annotations: &dyn Annotations) -> Result<(Vec<String>, CocoLabels)> {
        let (mut about, mut table) = self.read_or_load(annotations)?;
        let names = std::mem::take(&mut about.files);
        if names.is_empty() {
            return Err(Error::config("every image has a bad label, so none is left: mend the labels"));
        }
        table.unit = Unit::Pixels;
        table.skeleton = about.skeleton.clone().map(|(count, flip)| Arc::new(Skeleton { count, flip }));
        Ok((names, CocoLabels { table, about }))
    }

    fn read_or_load(&self, annotations: &dyn Annotations) -> Result<(About, Table)> {
        let Some(cache) = &self.cache else { return self.read_labels(annotations) };
        let mut stamping = Stamping::new("coco");
        stamping.add(format!("{:?} {}", self.on_bad_label, self.bad_listed.unwrap_or(BAD_LISTED)).as_bytes());
        let (name, stamp) = annotations.stamp();
        stamping.add_file(&name, stamp);
        let stamp = stamping.finish();
        let (mut about, table, told) = match cache::load(cache, &stamp, |_| annotations.shown()) {
            Ok((about, table)) if fits(&about, &table) => (about, table, "gave the labels".to_owned()),
            outcome => {
                let why =
                    outcome.err().unwrap_or_else(|| "was ignored and written anew: it is damaged".into());
                let (about, table) = self.read_labels(annotations)?;
                cache::save(cache, &stamp, &about, &table)?;
                (about, table, why)
            }
        };
        about.report.cache = Some(format!("{} {told}", cache.display()));
        Ok((about, table))
    }

    fn read_labels(&self, annotations: &dyn Annotations) -> Result<(About, Table)> {
        let shown = annotations.shown();
        let input = BufReader::with_capacity(1 << 18, annotations.open()?);
        let coco = json::read(input).map_err(|error| {
            let remedy = if error.is_io() { "" } else { "; mend the JSON, or name COCO annotations" };
            Error::config(format!("{shown}: {error}{remedy}"))
        })?;
        gather::gather(&shown, coco, self.on_bad_label, self.bad_listed.unwrap_or(BAD_LISTED))
    }
}

impl Source for Coco {
    pass_on!([.files] len read key path);
    pass_on!([.labels.table] label);

    fn classes(&self) -> &[String] {
        self.labels.classes()
    }
}

/// Whether the images of a cache and their labels belong together.
fn fits(about: &About, table: &Table) -> bool {
    [about.images.len(), about.sizes.len(), about.files.len()] == [table.len(); 3]
        && about.categories.len() == about.classes.len()
}
