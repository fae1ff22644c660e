//! Reads images and labels from idx files, the format of MNIST and of data sets that are made like it.

mod array;

use super::paths::{Wanted, head_of, names_any};
use super::rasters::{Part, Rasters};
use super::{Destination, Source};
use crate::error::{Error, Result, bail, ensure};
use crate::geometry::Size;
use array::{Array, begins_as_one};
use std::path::{Path, PathBuf};

/// Grey images of one size in an idx file, with their classes in another one: MNIST, Fashion-MNIST, KMNIST, EMNIST.
///
/// The images are in a file such as `train-images-idx3-ubyte`, the classes in `train-labels-idx1-ubyte` beside it; either may
/// be packed by gzip, with the ending `.gz`. A file that is packed is unpacked into memory when it is opened, at most 2 GiB;
/// images of other ones are read where they lie. Each is handed out as a PNM, which costs no decoding.
///
/// The classes are numbers without names, since the files have none. EMNIST stores its images with rows and columns exchanged:
/// they are handed out as they are stored, as by torchvision.
#[derive(Clone, Debug)]
pub struct Idx {
    rasters: Rasters,
}

/// How idx files are opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdxOptions {
    split: Option<String>,
}

impl Idx {
    /// The images of the file at `path`, or of a folder that has one such file, in itself or in its folder `raw`, where
    /// torchvision keeps them.
    ///
    /// # Errors
    /// Those of [`IdxOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Options to open idx files with.
    pub fn options() -> IdxOptions {
        IdxOptions::default()
    }

    setters! {
        /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes in rasters.max_file_bytes: u64;
    }

    /// Whether `path` looks like idx files: a file that begins as one, or a folder of files that are called so.
    pub fn is_at(path: &Path) -> bool {
        names_any(&place_of(path), is_images) || begins_as_one(&head_of(path, 4096))
    }
}

impl IdxOptions {
    /// Which images of a folder: `train` or `test`, by the names of its files. `t10k` stands for `test`.
    pub fn split(self, split: impl Into<String>) -> Self {
        Self { split: Some(split.into()) }
    }

    /// Opens idx files as [`Idx::open`] says.
    ///
    /// # Errors
    /// A folder without images, or with several files of them that the split leaves; a file that cannot be read, is no idx file
    /// of unsigned bytes, is cut short or longer than it says; images without a file of labels, or with another number of them.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Idx> {
        let path = self.images_at(path.as_ref())?;
        let images = Array::<3>::open(&path)?;
        let [count, height, width] = images.shape;
        ensure!(
            images.shape.iter().all(|&edge| edge > 0),
            "{}: it holds {count} images of {width}x{height} pixels: name a file that has some",
            path.display()
        );
        let beside = labels_of(&path)?;
        let labels = Array::<1>::open(&beside)?;
        let [labelled] = labels.shape;
        ensure!(
            labelled == count,
            "{} holds {labelled} labels and {} {count} images: copy both files again",
            beside.display(),
            path.display()
        );
        let mut classes = vec![0; labelled as usize];
        let read = labels.content.read_at(labels.start, &mut classes);
        read.map_err(|error| Error::io(&beside, error, "copy the file again"))?;
        let Array { content, version, start: first, .. } = images;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stride = u64::from(width) * u64::from(height);
        let mut rasters = Rasters::of(Size::new(width, height), 1);
        rasters.push(Part { path, name, content, version, first, stride }, &classes);
        Ok(Idx { rasters })
    }

    /// The one file of images at `path`.
    fn images_at(&self, path: &Path) -> Result<PathBuf> {
        let wanted = Wanted {
            what: "idx files of images (train-images-idx3-ubyte, .gz or not)",
            is_one: is_images,
            split: self.split.as_deref(),
        };
        let place = place_of(path);
        let mut paths = wanted.find(&place)?;
        let all = paths.clone();
        // torchvision leaves packed files beside the unpacked ones.
        paths.retain(|path| {
            path.extension().is_none_or(|end| end != "gz" || !all.contains(&path.with_extension("")))
        });
        match <[PathBuf; 1]>::try_from(paths) {
            Ok([path]) => Ok(path),
            Err(several) => {
                let name =
                    |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                bail!(
                    "{} holds the images of {} data sets ({}): name one of the files",
                    place.display(),
                    several.len(),
                    several.iter().map(name).collect::<Vec<_>>().join(", ")
                )
            }
        }
    }
}

impl Source for Idx {
    pass_on!([.rasters] len key version label classes);

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.read_into(index, bytes).inspect_err(|_| bytes.clear())
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.rasters.read(index, to, |content, offset, levels| content.read_at(offset, levels))
    }
}

/// The folder that the files lie in, or the path itself.
fn place_of(path: &Path) -> PathBuf {
    let raw = path.join("raw");
    // Asked in this order, since a folder of a million images takes long to list.
    let is_above = raw.is_dir() && names_any(&raw, is_images) && !names_any(path, is_images);
    if is_above { raw } else { path.to_owned() }
}

/// Whether a file's name, in lower case, is one of images.
fn is_images(name: &str) -> bool {
    let is_whole = name.ends_with("ubyte") || name.ends_with("ubyte.gz");
    is_whole && name.contains("images") && name.contains("idx3")
}

/// The file of the labels beside the images.
fn labels_of(images: &Path) -> Result<PathBuf> {
    let name = images.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.trim_end_matches(".gz");
    let other = plain.replace("images", "labels").replace("idx3", "idx1");
    ensure!(
        other != plain,
        "{}: the file of its labels is found by its name, in which `images` becomes `labels` and `idx3` becomes `idx1`: call \
         both so",
        images.display()
    );
    let packed = format!("{other}.gz");
    // Where both are there, the one that is packed as the images are.
    let names = if plain == name { [&other, &packed] } else { [&packed, &other] };
    let found = names.map(|name| images.with_file_name(name)).into_iter().find(|path| path.exists());
    found.ok_or_else(|| {
        let place = images.display();
        Error::config(format!("{place}: its labels are not there: put {other} or {packed} beside it"))
    })
}
