//! Reads CIFAR-10 and CIFAR-100 from the files of their binary version.

mod version;

use super::file_version::FileVersion;
use super::paths::{Wanted, head_of, names_any, short_names};
use super::rasters::{Content, Part, Rasters};
use super::{Destination, Source};
use crate::error::{Error, Result, bail, ensure};
use crate::geometry::Size;
use crate::regular_file;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use version::{Labels, PIXELS, Version, is_binary, is_of_ten};

/// Rows, and columns, of an image.
const EDGE: u32 = 32;
/// The longest file of names of classes that is read.
const MAX_NAMES_BYTES: u64 = 1 << 16;

/// The images of CIFAR-10 or CIFAR-100, with their classes: `data_batch_1.bin` and the like, or `train.bin` and `test.bin`.
///
/// The names of the classes are those of `batches.meta.txt`, `fine_label_names.txt` or `coarse_label_names.txt` beside the
/// images, where these are there. Opening reads the files once, for the classes; images are then read where they lie. Each is
/// handed out as a PNM, which costs no decoding.
///
/// The Python version of these data sets is refused: it is pickled, and reading a pickle runs what it says.
#[derive(Clone, Debug)]
pub struct Cifar {
    rasters: Rasters,
}

/// How CIFAR's files are opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CifarOptions {
    split: Option<String>,
    labels: Option<String>,
}

impl Cifar {
    /// The images of the file at `path`, of a folder with such files, or of those that a pattern matches.
    ///
    /// # Errors
    /// Those of [`CifarOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Options to open CIFAR's files with.
    pub fn options() -> CifarOptions {
        CifarOptions::default()
    }

    setters! {
        /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes in rasters.max_file_bytes: u64;
    }

    /// Whether `path` looks like CIFAR's files: by their names, and those that others may have by their size. The Python version
    /// is recognised as well, so that it is refused by name.
    pub fn is_at(path: &Path) -> bool {
        let is_hundred = |path: &Path| {
            let bytes = path.metadata().map_or(0, |about| about.len());
            bytes > 0 && bytes.is_multiple_of(Version::Hundred.record_bytes())
        };
        match path.is_dir() {
            true => {
                let hundred = ["train.bin", "test.bin"].map(|name| path.join(name));
                names_any(path, is_of_ten) || hundred.iter().any(|path| is_hundred(path)) || is_pickled(path)
            }
            false => {
                names_any(path, is_of_ten)
                    || names_any(path, is_binary) && is_hundred(path)
                    || is_pickled(path)
            }
        }
    }
}

impl CifarOptions {
    setters! {
        /// Which images of a folder: `train` or `test`, by the names of its files.
        split: some into String;

        /// The labels of CIFAR-100: `fine`, which is so unless set, or `coarse`.
        labels: some into String;
    }

    /// Opens CIFAR's files as [`Cifar::open`] says.
    ///
    /// # Errors
    /// No such files, or files of both splits where none is chosen; the Python version; files of both data sets; a file that
    /// cannot be read, or that no whole number of images fills; a class that the data set does not have; a file with another
    /// number of names.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Cifar> {
        let path = path.as_ref();
        ensure!(
            !is_pickled(path),
            "{} is the Python version of CIFAR, which is pickled, and reading a pickle runs what it says: take the binary version \
             (cifar-10-binary.tar.gz, or cifar-100-binary.tar.gz)",
            path.display()
        );
        let what = "files of CIFAR's binary version (data_batch_1.bin, test_batch.bin, train.bin, test.bin)";
        let wanted = Wanted { what, is_one: is_binary, split: self.split.as_deref() };
        let paths = wanted.find(path)?;
        let version = Version::of(&paths)?;
        let labels = version.labels(self.labels.as_deref())?;
        let mut rasters = Rasters::of(Size::new(EDGE, EDGE), 3);
        for (path, name) in paths.iter().zip(short_names(&paths)) {
            let (part, classes) = part(path, name, version, labels)?;
            rasters.push(part, &classes);
        }
        rasters.names = names(&paths[0].with_file_name(labels.names), labels)?;
        Ok(Cifar { rasters })
    }
}

impl Source for Cifar {
    pass_on!([.rasters] len key version label classes);

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.read_into(index, bytes).inspect_err(|_| bytes.clear())
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.rasters.read(index, to, |content, offset, levels| {
            let mut planes = [0; 3 * PIXELS];
            content.read_at(offset, &mut planes)?;
            let (red, rest) = planes.split_at(PIXELS);
            let (green, blue) = rest.split_at(PIXELS);
            let pixels = levels.as_chunks_mut::<3>().0.iter_mut();
            for (((pixel, &red), &green), &blue) in pixels.zip(red).zip(green).zip(blue) {
                *pixel = [red, green, blue];
            }
            Ok(())
        })
    }
}

/// A file of images, whose keys begin with `name`, and their classes.
fn part(path: &Path, name: String, version: Version, labels: Labels) -> Result<(Part, Vec<u8>)> {
    let of_file = |error| Error::io(path, error, "copy the file again");
    let (mut file, bytes) = regular_file::open_sized(path).map_err(of_file)?;
    let noted = FileVersion::of(&file).map_err(of_file)?;
    // On some systems that moved the place to read at.
    file.rewind().map_err(of_file)?;
    let stride = version.record_bytes();
    ensure!(
        bytes > 0 && bytes.is_multiple_of(stride),
        "{}: it has {bytes} bytes, and images of {version} take {stride} each: copy it again",
        path.display()
    );
    let (mut classes, mut record) = (Vec::with_capacity((bytes / stride) as usize), vec![0; stride as usize]);
    let mut reader = io::BufReader::with_capacity(1 << 18, &mut file);
    for number in 0..bytes / stride {
        reader.read_exact(&mut record).map_err(of_file)?;
        let class = record[labels.at];
        if class >= labels.classes {
            let classes = labels.classes;
            bail!(
                "{}: image {number} has the class {class}, and {version} has {classes}: copy the file again, or set kind if it is \
                 no file of {version}",
                path.display()
            );
        }
        classes.push(class);
    }
    let (first, content) = (version.label_bytes() as u64, Content::File(Arc::new(file)));
    Ok((Part { path: path.to_owned(), name, content, version: noted, first, stride }, classes))
}

/// The names of the classes, one a line; none where there is no such file.
fn names(path: &Path, labels: Labels) -> Result<Vec<String>> {
    let mut text = String::new();
    let read = regular_file::open(path).and_then(|file| file.take(MAX_NAMES_BYTES).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(path, error, "copy the file again, or take it away")),
        Ok(_) => {}
    }
    let names: Vec<String> =
        text.lines().map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect();
    ensure!(
        names.len() == usize::from(labels.classes),
        "{}: it names {} classes, and there are {}: copy it again, or take it away",
        path.display(),
        names.len(),
        labels.classes
    );
    Ok(names)
}

/// Whether it is the Python version: a folder of it, or one of its files.
fn is_pickled(path: &Path) -> bool {
    let pickled = |path: &Path| matches!(head_of(path, 2)[..], [0x80, 2..=5]);
    let is_called =
        |names: &[&str]| path.file_name().is_some_and(|name| names.iter().any(|other| name == *other));
    match path.is_dir() {
        true => ["batches.meta", "meta"].iter().any(|name| pickled(&path.join(name))),
        false => {
            let names = [
                "batches.meta",
                "meta",
                "train",
                "test",
                "test_batch",
                "data_batch_1",
                "data_batch_2",
                "data_batch_3",
                "data_batch_4",
                "data_batch_5",
            ];
            is_called(&names) && pickled(path)
        }
    }
}
