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
use super::labels::cache::{self, Stamping};
use super::labels::report::{BAD_LISTED, LabelReport};
use super::labels::table::Table;
use crate::error::{Error, Result};
use crate::label::{Skeleton, Unit};
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::io::BufReader;
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
    table: Table,
    about: About,
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
        &self.about.report
    }

    /// What the keypoints of the objects are; `None` where objects have none.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.table.skeleton.as_deref()
    }

    /// The category id of each class, as evaluation needs it.
    pub fn category_ids(&self) -> &[i64] {
        &self.about.categories
    }

    /// The id of an image, as evaluation needs it.
    pub fn image_id(&self, index: usize) -> Option<i64> {
        self.about.images.get(index).copied()
    }

    /// Width and height of an image according to the file, where it has them.
    pub fn image_size(&self, index: usize) -> Option<[u32; 2]> {
        self.about.sizes.get(index).copied().filter(|size| !size.contains(&0))
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
        let (annotations, images) = (annotations.as_ref(), images.as_ref());
        let Some(cache) = &self.cache else {
            let (about, table) = self.read_labels(annotations)?;
            return self.finish(images, about, table);
        };
        let mut stamping = Stamping::new("coco");
        stamping.add(format!("{:?} {}", self.on_bad_label, self.bad_listed.unwrap_or(BAD_LISTED)).as_bytes());
        stamping.add_file(annotations);
        let stamp = stamping.finish();
        let (mut about, mut table, told) =
            match cache::load(cache, &stamp, |_| annotations.display().to_string()) {
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
        table.unit = Unit::Pixels;
        table.skeleton = about.skeleton.clone().map(|(count, flip)| Arc::new(Skeleton { count, flip }));
        self.finish(images, about, table)
    }

    fn read_labels(&self, annotations: &Path) -> Result<(About, Table)> {
        let remedy = "name COCO annotations (instances_*.json) that can be read";
        let file = regular_file::open(annotations).map_err(|error| Error::io(annotations, error, remedy))?;
        let coco = json::read(BufReader::with_capacity(1 << 18, file)).map_err(|error| {
            Error::config(format!(
                "{}: {error}; mend the JSON, or name COCO annotations",
                annotations.display()
            ))
        })?;
        gather::gather(annotations, coco, self.on_bad_label, self.bad_listed.unwrap_or(BAD_LISTED))
    }

    fn finish(&self, folder: &Path, mut about: About, table: Table) -> Result<Coco> {
        let names = std::mem::take(&mut about.files);
        if names.is_empty() {
            return Err(Error::config("every image has a bad label, so none is left: mend the labels"));
        }
        let mut some = names.iter().take(16);
        if !some.any(|name| folder.join(name).exists()) {
            return Err(Error::config(format!(
                "{} is not there, nor are the next images: name the folder that `file_name` is relative to",
                folder.join(&names[0]).display()
            )));
        }
        let files = Files::at(folder, self.max_file_bytes, names.iter().map(|name| folder.join(name)))?;
        Ok(Coco { files, table, about })
    }
}

impl Source for Coco {
    pass_on!([.files] len read key path);
    pass_on!([.table] label);

    fn classes(&self) -> &[String] {
        &self.about.classes
    }
}

/// Whether the images of a cache and their labels belong together.
fn fits(about: &About, table: &Table) -> bool {
    [about.images.len(), about.sizes.len(), about.files.len()] == [table.len(); 3]
        && about.categories.len() == about.classes.len()
}
