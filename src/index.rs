//! Decode indexes of a whole data set: kept in memory within a budget, and in a sidecar file from run to run.
//!
//! An index says where the rows of one JPEG begin, and parts of them (see [`crate::jpeg::Index`]), so that little is
//! decoded beside a crop. It only saves time: each is checked against the file's content before it is used, and pixels are
//! the same with it and without.

mod sidecar;
mod store;

pub use sidecar::{DataSet, load, save};
pub use store::{IndexStats, IndexStore};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Bytes that indexes may take unless something else is asked for: 256 MiB, which 110,000 to 220,000 photographs of
/// ImageNet's size fill (about 1.2 KB each with 4:2:0, 2.3 with 4:4:4), or 3,000 camera originals (90 KB each).
pub const DEFAULT_BUDGET: usize = 256 << 20;

/// Where decode indexes are kept; as text `off`, `memory`, or the path of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum IndexMode {
    /// Nowhere: every decode begins at the file's top.
    Off,
    /// In memory, until the loader is dropped.
    #[default]
    Memory,
    /// In memory, and between runs in this file, which need not exist yet.
    File(PathBuf),
}

impl TryFrom<String> for IndexMode {
    type Error = String;

    /// A bare word is refused, since a misspelt `off` must not become a file.
    fn try_from(word: String) -> std::result::Result<Self, String> {
        match word.as_str() {
            "off" => Ok(IndexMode::Off),
            "memory" => Ok(IndexMode::Memory),
            _ if word.contains(['/', '\\', '.']) => Ok(IndexMode::File(word.into())),
            _ => {
                Err(format!("`{word}` is neither a word that is known nor a path with a folder or an ending"))
            }
        }
    }
}

impl From<IndexMode> for String {
    fn from(mode: IndexMode) -> Self {
        match mode {
            IndexMode::Off => "off".into(),
            IndexMode::Memory => "memory".into(),
            IndexMode::File(path) => match path.to_string_lossy().into_owned() {
                bare if !bare.contains(['/', '\\', '.']) => format!("./{bare}"),
                path => path,
            },
        }
    }
}
