//! Decode indexes of a whole data set: kept in memory within a budget, and in a sidecar file from run to run.
//!
//! An index says where the rows of one JPEG begin (see [`crate::jpeg::Index`]), so that a crop is decoded from its
//! own first row. It only saves time: each is checked against the file's content before it is used, and pixels are
//! the same with it and without.

pub(crate) mod place;
mod sidecar;
mod store;

pub use sidecar::{DataSet, load, save};
pub use store::{IndexStats, IndexStore};

use std::path::PathBuf;

/// Bytes that indexes may take unless something else is asked for: 256 MiB, which half a million photographs of
/// ImageNet's size fill (about 500 bytes each).
pub const DEFAULT_BUDGET: usize = 256 << 20;

/// Where decode indexes are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// Nowhere: every decode begins at the file's top.
    Off,
    /// In memory, until the loader is dropped.
    #[default]
    Memory,
    /// In memory, and between runs in this file, which need not exist yet.
    File(PathBuf),
}
