//! Limits of the decoder.

use crate::policy::Damaged;

/// Bounds on the cost of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum pixels of the stored image, whatever the region; checked before anything is allocated. The default is
    /// what Pillow takes: twice its `MAX_IMAGE_PIXELS`.
    pub max_pixels: u64,
    /// Maximum scans. Each may cover the whole image, so this bounds the time that a file can take.
    pub max_scans: u32,
    /// What becomes of a damaged file.
    pub damaged: Damaged,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pixels: 178_956_970, max_scans: 256, damaged: Damaged::default() }
    }
}
