//! What a data set is, told by looking at it.

use super::{Coco, Folder, List, Lmdb, Shards, Source, Yolo};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
    /// A URL (the feature `remote`).
    Remote,
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
            true => Kind::List,
            false => Kind::Folder,
        }
    }

    /// Whether a data set of this kind may hold several splits, of which one is chosen.
    pub fn has_splits(self) -> bool {
        matches!(self, Kind::Yolo | Kind::Tar | Kind::TfRecord | Kind::Parquet)
    }

    /// Opens the data set at `path` as one of this kind, with the defaults of the source's options; the images of COCO
    /// annotations lie next to them. `split` is for a kind that [has splits](Kind::has_splits).
    ///
    /// # Errors
    /// Those of the source; a kind whose feature is not built in; a split where there are none.
    pub fn open(self, path: &Path, split: Option<&str>) -> Result<Box<dyn Source>> {
        if split.is_some() && !self.has_splits() {
            return Err(Error::config(format!(
                "{}: data of the kind {} have no splits: leave the split out",
                path.display(),
                self.word()
            )));
        }
        Ok(match self {
            Kind::Folder => Box::new(Folder::open_any(path)?),
            Kind::List => Box::new(List::open(path)?),
            Kind::Tar => Box::new(Shards::find(path, split)?),
            #[cfg(feature = "tfrecord")]
            Kind::TfRecord => {
                let options = super::TfRecord::options();
                Box::new(split.into_iter().fold(options, |options, split| options.split(split)).open(path)?)
            }
            Kind::Lmdb => Box::new(Lmdb::open(path)?),
            #[cfg(feature = "parquet")]
            Kind::Parquet => {
                let options = super::Parquet::options();
                Box::new(split.into_iter().fold(options, |options, split| options.split(split)).open(path)?)
            }
            Kind::Yolo => {
                let options = Yolo::options();
                Box::new(split.into_iter().fold(options, |options, split| options.split(split)).open(path)?)
            }
            Kind::Coco => Box::new(Coco::options().open(path, path.parent().unwrap_or(Path::new("")))?),
            #[cfg(not(feature = "tfrecord"))]
            Kind::TfRecord => return Err(self.not_built_in(path)),
            #[cfg(not(feature = "parquet"))]
            Kind::Parquet => return Err(self.not_built_in(path)),
            #[cfg(feature = "remote")]
            Kind::Remote => Box::new(super::Remote::open(&path.to_string_lossy())?),
            #[cfg(not(feature = "remote"))]
            Kind::Remote => return Err(self.not_built_in(path)),
        })
    }

    /// The word for it, as it is written and read.
    fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    #[cfg(not(all(feature = "parquet", feature = "remote", feature = "tfrecord")))]
    fn not_built_in(self, path: &Path) -> Error {
        let kind = self.word();
        let remedy = if self == Kind::Remote { "copy the data to a disk" } else { "convert the data" };
        Error::config(format!(
            "{}: the kind {kind} is not built in: {remedy}, or build feedline with the feature `{kind}`",
            path.display()
        ))
    }
}

fn is_url(path: &Path) -> bool {
    let schemes = ["s3://", "gs://", "az://", "https://", "http://"];
    path.to_str().is_some_and(|text| schemes.iter().any(|scheme| text.starts_with(scheme)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_set_is_opened_as_what_it_looks_like() {
        let photos = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos"));
        assert_eq!(Kind::of(photos), Kind::Folder);
        let opened = Kind::Folder.open(photos, None).unwrap();
        assert_eq!(opened.len(), Folder::open(photos).unwrap().len());
    }

    #[test]
    fn what_cannot_be_opened_is_refused_by_name() {
        let refusal =
            |kind: Kind, path: &str, split| kind.open(Path::new(path), split).err().unwrap().to_string();
        let text = refusal(Kind::Folder, "photos", Some("val"));
        assert!(
            text.contains("photos") && text.contains("folder") && text.contains("leave the split out"),
            "{text}"
        );
        assert!(refusal(Kind::List, "no-such.txt", None).contains("no-such.txt"));
        #[cfg(not(feature = "remote"))]
        assert!(refusal(Kind::Remote, "s3://bucket/a", None).contains("feature `remote`"));
    }
}
