//! What a data set is, told by looking at it.

use super::{Lmdb, Shards, Yolo};
use crate::options::Kind;
use std::path::Path;

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
}

fn is_url(path: &Path) -> bool {
    let schemes = ["s3://", "gs://", "az://", "https://", "http://"];
    path.to_str().is_some_and(|text| schemes.iter().any(|scheme| text.starts_with(scheme)))
}
