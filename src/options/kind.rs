//! The kinds of data sets, by their words.

use super::fields;
use serde::{Deserialize, Serialize};

/// The kinds of data sets that are read from a path or a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// Images, with or without a directory for each class.
    Folder,
    /// A file that lists images.
    List,
    /// Tar files.
    Tar,
    /// TFRecord files (the feature `tfrecord`).
    TfRecord,
    /// An LMDB environment.
    Lmdb,
    /// Parquet files (the feature `parquet`).
    Parquet,
    /// A YOLO data set.
    Yolo,
    /// COCO annotations.
    Coco,
    /// Idx files: MNIST and its kin.
    Idx,
    /// The files of CIFAR-10 or CIFAR-100.
    Cifar,
    /// A URL (the feature `remote`).
    Remote,
}

impl Kind {
    /// The word for it, as it is written and read.
    pub fn word(self) -> &'static str {
        fields::of::<Self>()[self as usize]
    }

    /// What data of the kind are, for messages.
    pub const fn description(self) -> &'static str {
        match self {
            Kind::Folder => "a folder",
            Kind::List => "a list",
            Kind::Tar => "tar files",
            Kind::TfRecord => "TFRecord files",
            Kind::Lmdb => "an LMDB environment",
            Kind::Parquet => "Parquet files",
            Kind::Yolo => "a YOLO data set",
            Kind::Coco => "a COCO data set",
            Kind::Idx => "idx files",
            Kind::Cifar => "CIFAR's files",
            Kind::Remote => "a remote data set",
        }
    }

    /// Whether each image is a file of its own at a local path.
    pub const fn names_files(self) -> bool {
        match self {
            Kind::Folder | Kind::List | Kind::Yolo | Kind::Coco => true,
            Kind::Tar
            | Kind::TfRecord
            | Kind::Lmdb
            | Kind::Parquet
            | Kind::Idx
            | Kind::Cifar
            | Kind::Remote => false,
        }
    }

    /// Whether its labels say what is seen in an image, and where.
    pub const fn has_objects(self) -> bool {
        match self {
            Kind::Yolo | Kind::Coco => true,
            Kind::Folder
            | Kind::List
            | Kind::Tar
            | Kind::TfRecord
            | Kind::Lmdb
            | Kind::Parquet
            | Kind::Idx
            | Kind::Cifar
            | Kind::Remote => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_by_its_word() {
        for word in crate::options::fields::of::<Kind>() {
            let kind: Kind = serde_json::from_value((*word).into()).unwrap();
            assert_eq!(kind.word(), *word);
        }
    }
}
