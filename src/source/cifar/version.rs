//! The two data sets of CIFAR: how their files are called, and how images lie in them.

use crate::error::{Result, bail};
use crate::source::paths::name_of;
use std::fmt;
use std::path::{Path, PathBuf};

/// Pixels of an image.
pub(super) const PIXELS: usize = 32 * 32;

/// Which of the data sets it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// CIFAR-10: a class for each image.
    Ten,
    /// CIFAR-100: a coarse and a fine class for each.
    Hundred,
}

/// Which label of an image is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels {
    /// Where it stands in an image's record.
    pub(super) at: usize,
    /// How many classes there are.
    pub(super) classes: u8,
    /// The file of their names.
    pub(super) names: &'static str,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::Ten => "CIFAR-10",
            Version::Hundred => "CIFAR-100",
        })
    }
}

impl Version {
    /// The data set of these files, of which there is at least one: by their names, or, for a single file that is called
    /// otherwise, by its size.
    pub(super) fn of(paths: &[PathBuf]) -> Result<Self> {
        let of_ten = paths.iter().filter(|path| is_of_ten(&name_of(path))).count();
        let named = paths.iter().filter(|path| is_binary(&name_of(path))).count();
        match paths {
            _ if of_ten == paths.len() => Ok(Version::Ten),
            _ if of_ten == 0 && named == paths.len() => Ok(Version::Hundred),
            [path] => Self::by_size(path),
            _ => bail!(
                "{} and the files beside it are not all of one data set of CIFAR, by their names: name one file",
                paths[0].display()
            ),
        }
    }

    fn by_size(path: &Path) -> Result<Self> {
        let bytes = path.metadata().map_or(0, |about| about.len());
        let fits = |version: &Version| bytes > 0 && bytes.is_multiple_of(version.record_bytes());
        match [Version::Ten, Version::Hundred].iter().filter(|version| fits(version)).collect::<Vec<_>>()[..]
        {
            [version] => Ok(*version),
            _ => bail!(
                "{}: neither its name nor its {bytes} bytes say whether it is of CIFAR-10 or of CIFAR-100: call it \
                 data_batch_1.bin or train.bin, as the data sets have it",
                path.display()
            ),
        }
    }

    /// The labels before the levels of an image.
    pub(super) const fn label_bytes(self) -> usize {
        match self {
            Version::Ten => 1,
            Version::Hundred => 2,
        }
    }

    /// Bytes of an image with its labels: then come red, green and blue.
    pub(super) const fn record_bytes(self) -> u64 {
        (self.label_bytes() + 3 * PIXELS) as u64
    }

    /// The labels that are wanted.
    ///
    /// # Errors
    /// A word that the data set has no labels for.
    pub(super) fn labels(self, wanted: Option<&str>) -> Result<Labels> {
        match (self, wanted) {
            (Version::Ten, None) => Ok(Labels { at: 0, classes: 10, names: "batches.meta.txt" }),
            (Version::Hundred, None | Some("fine")) => {
                Ok(Labels { at: 1, classes: 100, names: "fine_label_names.txt" })
            }
            (Version::Hundred, Some("coarse")) => {
                Ok(Labels { at: 0, classes: 20, names: "coarse_label_names.txt" })
            }
            (Version::Ten, Some(wanted)) => {
                bail!(
                    "CIFAR-10 has one label for each image, and none called `{wanted}`: leave label_column out"
                )
            }
            (Version::Hundred, Some(wanted)) => {
                bail!("CIFAR-100 has no labels `{wanted}`: set label_column to fine or coarse")
            }
        }
    }
}

/// Whether a file's name, in lower case, is one of CIFAR-10's.
pub(super) fn is_of_ten(name: &str) -> bool {
    let number = name.strip_prefix("data_batch_").and_then(|rest| rest.strip_suffix(".bin"));
    name == "test_batch.bin" || number.is_some_and(|number| number.parse::<u8>().is_ok())
}

/// Whether a file's name, in lower case, is one of either data set's.
pub(super) fn is_binary(name: &str) -> bool {
    is_of_ten(name) || name == "train.bin" || name == "test.bin"
}
