//! The settings of shards, as a caller sets them and a manifest records them.

use super::{Chroma, Format};
use crate::coefficients::Profile;
use crate::error::{Error, Result};
use crate::policy::Damaged;
use serde::{Deserialize, Serialize};

/// Two zero blocks end a tar file.
const TAR_TRAILER: &[u8] = &[0; 1024];

/// The settings of shards: the same settings and the same source make the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The format of shards.
    pub format: Format,
    /// Maximum size of a shard in bytes, exceeded only by a single larger record.
    pub shard_bytes: u64,
    /// Maximum number of records in a shard.
    pub shard_records: Option<usize>,
    /// Maximum length of the shorter edge, in pixels.
    pub resize: Option<u32>,
    /// Quality of all images as JPEG; without it only resized ones are re-encoded.
    pub quality: Option<u8>,
    /// Chroma subsampling of re-encoded images.
    pub chroma: Chroma,
    /// What files of coefficients are made for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub profile: Profile,
    /// What becomes of damaged JPEGs that are decoded. Manifests of earlier builds do not say; it was the default.
    #[serde(default)]
    pub damaged: Damaged,
}

fn is_default(profile: &Profile) -> bool {
    *profile == Profile::default()
}

impl Settings {
    pub(super) fn check(&self) -> Result<()> {
        let wrong = match self {
            Self { shard_bytes: ..4096, .. } => "shards of fewer than 4096 bytes hold nothing: give more",
            Self { shard_records: Some(0), .. } => "shards of 0 records hold nothing: give at least 1",
            Self { resize: Some(0), .. } => "a shorter edge of 0 pixels is no image: give at least 1",
            Self { quality: Some(0 | 101..), .. } => "the quality of a JPEG is 1 to 100",
            Self { profile: Profile::Fast, format: Format::Tar | Format::TfRecord, .. } => {
                "the profile is of files of coefficients: set the format `coefficients`, or leave the profile out"
            }
            _ => return Ok(()),
        };
        Err(Error::config(wrong))
    }

    /// The bytes at the end of each shard.
    pub(super) fn trailer(&self) -> &'static [u8] {
        match self.format {
            Format::Tar | Format::Coefficients => TAR_TRAILER,
            Format::TfRecord => &[],
        }
    }

    pub(super) fn ending(&self) -> &'static str {
        match self.format {
            Format::Tar | Format::Coefficients => "tar",
            Format::TfRecord => "tfrecord",
        }
    }
}
